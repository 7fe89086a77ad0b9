"""Which line of a template a rendered line was made by, by what both have in common.

A line of a template is its literal text with anything in place of its expressions; of all lines
that fit, the one with the most literal text made it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from compiler.resources import data_folder

_TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}")
# Literal characters that tell a line from others: of one that is only that, and of one around
# something else.
_FEWEST, _FEWEST_AROUND = 4, 9


@dataclass(frozen=True, slots=True)
class TemplateLine:
    """A line of `templates/<path>`; `pattern` fits what it renders to, `literal` counts the
    characters that are always there."""

    path: str
    number: int
    pattern: re.Pattern[str]
    literal: int

    @property
    def location(self) -> str:
        return f"templates/{self.path}:{self.number}"


def template_lines(text: str, folders: Sequence[str]) -> list[TemplateLine | None]:
    """For each line of a rendered text the line of a template in `folders` that made it.

    Where several fit equally well it is the one of the template that fits most of the text.
    """
    fitting = [_fitting(line.strip(), tuple(folders)) for line in text.splitlines()]
    votes = Counter(path for found in fitting for path in {item.path for item in found})
    return [
        max(found, key=lambda item: votes[item.path], default=None) if found else None
        for found in fitting
    ]


@lru_cache(maxsize=8192)
def _fitting(text: str, folders: tuple[str, ...]) -> tuple[TemplateLine, ...]:
    """The lines with the most literal text of all that fit."""
    if not text:
        return ()
    found = [line for line in _lines(folders) if line.pattern.fullmatch(text)]
    most = max((line.literal for line in found), default=0)
    return tuple(line for line in found if line.literal == most)


@cache
def _lines(folders: tuple[str, ...]) -> tuple[TemplateLine, ...]:
    top = data_folder("templates")
    found = []
    for folder in folders:
        for path in sorted((top / folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(top).as_posix()
                found += _of_text(name, path.read_text(encoding="utf-8"))
    return tuple(found)


def _of_text(name: str, text: str) -> list[TemplateLine]:
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        parts = _TAG.split(line.strip())
        literal = sum(len(part.strip()) for part in parts)
        if literal >= (_FEWEST if len(parts) == 1 else _FEWEST_AROUND):
            pattern = re.compile(".*".join(re.escape(part) for part in parts))
            lines.append(TemplateLine(name, number, pattern, literal))
    return lines
