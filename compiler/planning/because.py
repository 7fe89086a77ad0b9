"""A reason for a change: what of the user's text it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Because:
    """A field of the task that changed, and where it is written now (`file:line:column`)."""

    field: str
    location: str | None
