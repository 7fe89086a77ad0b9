"""One object as plain data, on its way to a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: `file` is its name in the job's folder, `template` below templates/k8s/."""

    file: str
    template: str
    body: dict[str, object]

    @property
    def address(self) -> str:
        """`Job/llama-pretrain-1`."""
        return f"{self.body['kind']}/{self.body['metadata']['name']}"  # type: ignore[index]
