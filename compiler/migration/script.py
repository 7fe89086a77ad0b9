"""A script taken apart: header, interpreter, body, demands. The input of every decision."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from compiler.migration.reading.header import Given, Header, read
from compiler.migration.reading.options import OptionTable
from compiler.migration.request import Request, request_of
from compiler.migration.settings import Settings
from compiler.migration.shell.body import Body
from compiler.migration.shell.inventory import Fact, facts
from compiler.migration.shell.parsing import parse
from compiler.migration.shell.secrets import Secret, find
from compiler.migration.shell.variables import Variables, variables_of

_PROGRAMS = (".py", ".pl", ".rb", ".jl", ".R", ".r", ".js", ".go", ".c", ".cpp", ".java")
_SETTABLE = frozenset("aefhnuvxCBP")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|<[A-Za-z_ ]+>|@[A-Z_]+@|%\([a-z_]+\)s|\{[a-z_]+\}")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`name` without its path; `options` that bash can set itself (`-e`); `login`: started as
    one; `other`: anything that a script's own bash cannot repeat."""

    name: str
    options: str = ""
    login: bool = False
    other: str = ""

    @property
    def is_bash(self) -> bool:
        return self.name == "bash"


@dataclass(frozen=True)
class Script:
    """`path` as shown, `text` with bytes that are no UTF-8 as surrogate escapes.

    `inherited` are options that stand in an earlier part of a heterogeneous job.
    """

    path: str
    text: str
    header: Header
    interpreter: Interpreter
    body: Body
    settings: Settings
    inherited: tuple[Given, ...] = ()

    @property
    def component(self):
        return self.header.components[0]

    @property
    def options(self) -> Mapping[str, str]:
        """What holds for the first (or only) part of the job."""
        return self.header.components[0].settings if self.header.components else {}

    @cached_property
    def request(self) -> Request:
        return request_of(self.options)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        return facts(self.body)

    @cached_property
    def secrets(self) -> tuple[Secret, ...]:
        return find(self.text, self.body)

    @cached_property
    def variables(self) -> Variables:
        return variables_of(self.body)

    @cached_property
    def is_text(self) -> bool:
        """Whether a YAML file can hold the script."""
        try:
            self.text.encode()
        except UnicodeEncodeError:
            return False
        return True

    @property
    def job_name(self) -> str:
        """What sbatch calls the job."""
        return self.options.get("job-name") or self.path.rpartition("/")[2]

    @property
    def first_command(self) -> int | None:
        return self.header.lines.first_command

    @property
    def is_generator(self) -> bool:
        """Whether its only directives are those that it writes into others."""
        if self.header.shebang is None and self.path.endswith(_PROGRAMS):
            return not self.settings.command
        own = any(item.magic == "#SBATCH" for item in self.header.lines.directives)
        written = [item for item in self.header.lines.ignored if self.body.in_heredoc(item.line)]
        return bool(written) and not own and not self.settings.command

    @property
    def is_template(self) -> bool:
        """Whether its directives have places to be filled in."""
        return any(
            _PLACEHOLDER.search(item.text)
            for item in self.header.lines.directives
            if item.magic == "#SBATCH"
        )


def take_apart(data: bytes, path: str, settings: Settings, table: OptionTable) -> Script:
    """Read and parse a script; wrong ones too."""
    text = data.decode("utf-8", "surrogateescape")
    header = read(text, table, settings.command)
    return Script(path, text, header, interpreter_of(header.shebang), parse(text), settings)


def interpreter_of(shebang: str | None) -> Interpreter:
    """`/usr/bin/env bash`, `/bin/bash -le`, `/usr/bin/tcsh -f`."""
    if not shebang:
        return Interpreter("")
    try:
        words = shlex.split(shebang)
    except ValueError:
        words = shebang.split()
    if not words:
        return Interpreter("")
    name = words[0].rpartition("/")[2]
    rest = words[1:]
    if name == "env" and rest:
        while rest and rest[0].startswith("-"):
            rest = rest[1:]
        name, rest = (rest[0].rpartition("/")[2], rest[1:]) if rest else ("env", [])
    options, other = "", []
    login = False
    for word in rest:
        letters = word[1:]
        if word in ("--login", "-login"):
            login = True
        elif word.startswith("-") and not word.startswith("--"):
            login = login or "l" in letters
            letters = letters.replace("l", "")
            if set(letters) <= _SETTABLE:
                options += letters
            else:
                other.append(word)
        else:
            other.append(word)
    return Interpreter(name, options, login, " ".join(other))
