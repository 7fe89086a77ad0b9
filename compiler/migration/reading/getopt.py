"""Options out of words, as GNU's getopt_long does it for sbatch.

Names may be abbreviated as long as they are unique; `-N4`, `-N 4`, `--nodes=4` and
`--nodes 4` are the same; letters can be joined; an option takes the next word for its value
whatever that looks like; the first word that is no option ends the options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.options import OptionTable, canonical
from compiler.targets.slurm.options import Option


class Unknown(Refused):
    """No such option; `option` is what was written, `word` its index among the words."""

    def __init__(self, message: str, word: int, option: str) -> None:
        super().__init__(message)
        self.word = word
        self.option = option


@dataclass(frozen=True, slots=True)
class Found:
    """One option: `word` is the index of its word, `value_word` that of its value's."""

    option: Option
    value: str | None
    word: int
    value_word: int
    spelling: str


class Options:
    """Iterate over it for the options; then `rest` is the index of the first other word."""

    def __init__(self, words: Sequence[str], table: OptionTable) -> None:
        self._words = words
        self._table = table
        self.rest = 0

    def __iter__(self) -> Iterator[Found]:
        at = 0
        while at < len(self._words):
            word = self._words[at]
            if word == "--":
                at += 1
                break
            if not word.startswith("-") or word == "-":
                break
            found = list(self._long(at) if word.startswith("--") else self._short(at))
            at = max(item.value_word for item in found) + 1
            self.rest = at
            yield from found
        self.rest = at

    def _long(self, at: int) -> Iterator[Found]:
        name, equals, value = self._words[at][2:].partition("=")
        option = self._named(name, at)
        spelling = f"--{name}"
        if option.argument == "none":
            if equals:
                raise Unknown(f"`--{option.name}` takes no value", at, spelling)
            yield Found(option, None, at, at, spelling)
        elif equals or option.argument == "optional":
            yield Found(option, value if equals else None, at, at, spelling)
        else:
            yield Found(option, self._next(at, option), at, at + 1, spelling)

    def _named(self, name: str, at: int) -> Option:
        options = self._table.matches(name)
        spelling = f"--{name}"
        if not options:
            raise Unknown(f"no option `{spelling}`", at, spelling)
        first = options[0]
        if any(
            canonical(other.name) != canonical(first.name) or other.argument != first.argument
            for other in options[1:]
        ):
            names = ", ".join(f"`--{option.name}`" for option in sorted(options, key=_name))
            raise Unknown(f"`{spelling}` is ambiguous: {names}", at, spelling)
        return first

    def _short(self, at: int) -> Iterator[Found]:
        word = self._words[at]
        position = 1
        while position < len(word):
            letter = word[position]
            position += 1
            option = self._table.short(letter)
            if option is None:
                raise Unknown(f"no option `-{letter}`", at, f"-{letter}")
            rest = word[position:]
            if option.argument == "none":
                yield Found(option, None, at, at, f"-{letter}")
                continue
            if rest or option.argument == "optional":
                yield Found(option, rest or None, at, at, f"-{letter}")
            else:
                yield Found(option, self._next(at, option), at, at + 1, f"-{letter}")
            return

    def _next(self, at: int, option: Option) -> str:
        if at + 1 >= len(self._words):
            raise Unknown(f"`--{option.name}` needs a value", at, f"--{option.name}")
        return self._words[at + 1]


def _name(option: Option) -> str:
    return option.name
