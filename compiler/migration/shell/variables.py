"""Variables of a script whose content is known: those that are set once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.migration.shell.body import Body
from compiler.migration.shell.words import Word

_ALONE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


@dataclass(frozen=True, slots=True)
class Variables:
    """`literals` hold a text in which nothing is expanded; `texts` what stands in the script,
    without the quotes around it, expansions and all."""

    literals: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def value(self, word: Word) -> str | None:
        """The word's value, also that of a variable with a literal; None where it is unknown."""
        if word.literal is not None:
            return word.literal
        name = variable(word.text.strip('"'))
        return self.literals.get(name) if name else None

    def split(self, word: Word) -> list[str] | None:
        """The words that an unquoted variable stands for, as they stand in the script."""
        name = variable(word.text)
        text = self.texts.get(name) if name else None
        if text is None or any(mark in text for mark in "'\"`") or "$(" in text:
            return None
        return text.replace("\\\n", " ").split()


def variable(text: str) -> str | None:
    """The name of a variable that is all of the text."""
    match = _ALONE.fullmatch(text)
    return (match[1] or match[2]) if match else None


def variables_of(body: Body) -> Variables:
    literals: dict[str, str | None] = {}
    texts: dict[str, str | None] = {}
    for assignment in body.assignments:
        if assignment.value is None and assignment.name in texts:
            continue  # exported after it was set
        again = assignment.name in texts
        value = assignment.value
        literals[assignment.name] = None if again or value is None else value.literal
        texts[assignment.name] = None if again or value is None else _inside(value.text)
    return Variables(
        {name: text for name, text in literals.items() if text is not None},
        {name: text for name, text in texts.items() if text is not None},
    )


def _inside(text: str) -> str:
    for quote in "\"'":
        if len(text) > 1 and text[0] == text[-1] == quote and quote not in text[1:-1]:
            return text[1:-1]
    return text
