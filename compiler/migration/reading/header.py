"""A script's header: the options of each component, what is ignored, and why it is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler.migration.reading import checks, lines
from compiler.migration.reading.foreign import Manager, translated
from compiler.migration.reading.getopt import Options, Unknown
from compiler.migration.reading.lines import Directive, Lines
from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.options import EARLY, INHERITED, OptionTable, canonical
from compiler.migration.reading.values import apply, normal
from compiler.targets.slurm.directives import BLANKS, Unreadable, scan

LIMIT = 4 << 20
"""Bytes of a script that slurmctld takes by default."""


@dataclass(frozen=True, slots=True)
class Given:
    """One option as it stands somewhere.

    `normal` is the value as sbatch prints it, `spelling` the option as written (`-N`,
    `--out`); `column` counts from 1. `magic` is the line's first word, `command` for the
    command line, whose `line` is 0. `original` is the option of another workload manager.
    """

    name: str
    value: str | None
    normal: str
    spelling: str
    line: int
    column: int
    magic: str
    original: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why sbatch does not take the script; `line` is None where it is the script as a whole."""

    message: str
    line: int | None
    option: str | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """A job, or one part of a heterogeneous one.

    `given` is everything that was read for it, in the order of application; `settings` what
    holds in the end, by option, what earlier components hand on included; `changes` says
    what sbatch changes by itself, and `early` lists options that do nothing in a script.
    """

    given: tuple[Given, ...]
    settings: Mapping[str, str]
    changes: Mapping[str, str] = field(default_factory=dict)
    early: tuple[Given, ...] = ()

    def last(self, name: str) -> Given | None:
        """The line that decides about an option, None where it was not given for this part."""
        for given in reversed(self.given):
            if given.name == name:
                return given
        return None


@dataclass(frozen=True, slots=True)
class Header:
    """`shebang` without `#!`, None where there is none; `components` up to a refusal."""

    shebang: str | None
    lines: Lines
    components: tuple[Component, ...]
    refusal: Refusal | None
    old_magic: int | None
    foreign: Manager | None


def read(text: str, table: OptionTable, command: Sequence[Given] = ()) -> Header:
    """What sbatch understands of `text` (bytes that are no UTF-8 as surrogate escapes).

    `command` are the options of the command line, which come last and so win.
    """
    found = lines.split(text)
    shebang = text.partition("\n")[0][2:].strip(BLANKS) if text.startswith("#!") else None
    foreign = None
    components: list[Component] = []
    refusal = _unfit(text)
    if refusal is None:
        try:
            settings: dict[str, str] = {}
            for index in range(found.components):
                component, foreign = _component(text, found, index, table, command, settings)
                components.append(component)
                settings = _handed_on(component.settings)
        except _Stop as stop:
            refusal = stop.refusal
    old = next((d.line for d in found.directives if d.magic == lines.OLD_MAGIC), None)
    return Header(shebang, found, tuple(components), refusal, old, foreign)


def _handed_on(settings: Mapping[str, str]) -> dict[str, str]:
    """What the next component starts with."""
    found = {name: value for name, value in settings.items() if name in INHERITED}
    if found.get("export", "ALL").upper() != "ALL" and "get-user-env" in found:
        found["get-user-env"] = "0"  # as sbatch leaves it behind
    return found


class _Stop(Exception):
    """sbatch ends here."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


def _unfit(text: str) -> Refusal | None:
    """What is wrong with the script as a whole, before sbatch looks at any directive."""
    if not text.strip(f"{BLANKS}\n"):
        return Refusal("the script is empty", None)
    if not text.startswith("#!"):
        why = "the first line is no `#!`"
        if text.startswith("\ufeff"):
            why += ": a byte order mark stands before it"
        return Refusal(why, 1)
    if "\0" in text:
        return Refusal("a NUL byte", text[: text.index("\0")].count("\n") + 1)
    if "\r\n" in text:
        line = text[: text.index("\r\n")].count("\n") + 1
        return Refusal("DOS line breaks, the first at the end of this line", line)
    return None


def _component(
    text: str,
    found: Lines,
    index: int,
    table: OptionTable,
    command: Sequence[Given],
    inherited: Mapping[str, str],
) -> tuple[Component, Manager | None]:
    reader = _Reader(dict(inherited))
    own = [item for item in found.directives if item.component == index]
    reader.header(own, table)
    manager = None
    if "ignore-pbs" not in reader.settings:
        other = lines.foreign(text)
        if other is not None:
            manager = other[0]
            reader.foreign(manager, other[1])
    for given in command:
        reader.take(given)
    try:
        settings, changes = checks.settle(reader.settings)
    except Refused as error:
        message = str(error)
        option = re.search(r"--([a-z-]+)", message)
        last = next((g for g in reversed(reader.given) if option and g.name == option[1]), None)
        raise _Stop(
            Refusal(message, last.line if last else None, last.name if last else None)
        ) from None
    return Component(tuple(reader.given), settings, changes, tuple(reader.early)), manager


class _Reader:
    """Applies options in sbatch's order and keeps where each came from."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.settings = settings
        self.given: list[Given] = []
        self.early: list[Given] = []

    def header(self, directives: Sequence[Directive], table: OptionTable) -> None:
        words, places = _words(directives)
        options = Options(words, table)
        try:
            for found in options:
                directive, column = places[found.word]
                name = canonical(found.option.name)
                if name in EARLY:
                    self.early.append(
                        _given(name, found.value, "", found.spelling, directive, column)
                    )
                    continue
                self._apply(name, found.value, found.spelling, directive, column)
            if options.rest < len(words):
                word = words[options.rest]
                raise Unknown(f"`{word}` is no option", options.rest, word)
        except Unknown as error:
            at = min(error.word, len(places) - 1)
            raise _Stop(Refusal(str(error), places[at][0].line, error.option)) from None

    def foreign(self, manager: Manager, directives: Sequence[Directive]) -> None:
        words, places = _words(directives)
        try:
            for found, (name, value) in translated(manager, words, self.settings):
                directive, column = places[found.word]
                value_text = "" if found.value is None else f" {found.value}"
                original = f"{found.spelling}{value_text}"
                self._apply(name, value, f"--{name}", directive, column, original)
        except Unknown as error:
            at = min(error.word, len(places) - 1)
            message = f"{error} of {manager.name}"
            raise _Stop(Refusal(message, places[at][0].line, error.option)) from None
        except Refused as error:
            raise _Stop(Refusal(str(error), directives[0].line)) from None

    def take(self, given: Given) -> None:
        """An option whose value has been read already, or `early`."""
        if given.name in EARLY:
            self.early.append(given)
            return
        shown = normal(given.name, given.value, self.settings.get(given.name))
        apply(self.settings, given.name, shown)
        self.given.append(given)

    def _apply(
        self,
        name: str,
        value: str | None,
        spelling: str,
        directive: Directive,
        column: int,
        original: str | None = None,
    ) -> None:
        try:
            shown = normal(name, value, self.settings.get(name))
        except Refused as error:
            raise _Stop(Refusal(str(error), directive.line, name)) from None
        apply(self.settings, name, shown)
        self.given.append(_given(name, value, shown, spelling, directive, column, original))


def _given(
    name: str,
    value: str | None,
    shown: str,
    spelling: str,
    directive: Directive,
    column: int,
    original: str | None = None,
) -> Given:
    return Given(name, value, shown, spelling, directive.line, column, directive.magic, original)


def _words(directives: Sequence[Directive]) -> tuple[list[str], list[tuple[Directive, int]]]:
    """All words one behind the other, as sbatch takes them, and the place of each."""
    words: list[str] = []
    places: list[tuple[Directive, int]] = []
    for directive in directives:
        try:
            found = scan(directive.text)
        except Unreadable as error:
            raise _Stop(Refusal(str(error), directive.line)) from None
        for word in found:
            words.append(word.text)
            places.append((directive, directive.offset + word.start + 1))
    return words, places
