"""Paths of keys and indices, and how they are written for people."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
"""Keys of maps (text) and indices of lists (counting from 0) that lead to a value."""

_plain_key = re.compile(r"[\w-]+\Z")


def dotted(path: Path) -> str:
    """The path as people write it: `resources.any_of[0].cpus`, `file_mounts["/data"]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _plain_key.match(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
