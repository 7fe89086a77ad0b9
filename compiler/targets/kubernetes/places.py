"""Places in a pod: absolute, or below a home that only the image knows."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.model.paths import remote_path


@dataclass(frozen=True, slots=True)
class Place:
    """A source and where it goes: `path` below the home if `in_home`, else absolute."""

    source: str
    path: str
    in_home: bool
    ref: str = ""

    def __str__(self) -> str:
        return f"~/{self.path}" if self.in_home else self.path


def place_of(destination: str, source: str = "", ref: str = "") -> Place:
    """Where a destination of the dialect is: a relative one lies in the working folder."""
    path = remote_path(destination)
    if path == "~" or path.startswith("~/"):
        return Place(source, path[2:] or ".", in_home=True, ref=ref)
    return Place(source, path, in_home=False, ref=ref)
