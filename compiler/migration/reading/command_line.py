"""Command lines: `sbatch -N4 job.sh a b`, `sbatch --wrap`, salloc and srun."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.diagnostics import WrongUsage
from compiler.migration.reading.getopt import Found, Options
from compiler.migration.reading.header import Given
from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.options import canonical, option_table, step_table
from compiler.migration.reading.values import normal

_WRAPPED = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n{}\n"
_COMMANDS = ("sbatch", "salloc", "srun")
_OWN = frozenset(
    {
        *("pty", "label", "unbuffered", "mpi", "kill-on-bad-exit", "overlap", "exact", "jobid"),
        *(
            "bell",
            "no-bell",
            "no-shell",
            "kill-command",
            "immediate",
            "interactive",
            "slurmd-debug",
        ),
        *("disable-status", "quit-on-interrupt", "preserve-env", "no-allocate", "threads", "wait"),
        *("cpu-bind", "cpu_bind", "accel-bind", "msg-timeout", "epilog", "prolog", "bcast"),
        *("task-epilog", "task-prolog", "relative", "multi-prog", "het-group", "pack-group"),
        *("send-libs", "compress", "whole", "debugger-test", "bcast-exclude", "external-launcher"),
        *("resv-ports", "wait-for-children", "x11", "oom-kill-step", "stepmgr", "container-id"),
    }
)
"""What salloc and srun know and a batch job does not."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`script` is a path, or `text` the script itself, called `name`, with its `arguments`."""

    options: tuple[Given, ...]
    script: str | None
    text: str | None
    name: str
    arguments: tuple[str, ...]


def read_command(words: Sequence[str], version: str | None = None) -> CommandLine:
    """Read it as the command does. Raise WrongUsage for what it would refuse."""
    command = words[0].rpartition("/")[2] if words else ""
    if command not in _COMMANDS:
        shown = " ".join(words) or "nothing"
        raise WrongUsage(f"behind -- stands a line of sbatch, salloc or srun, not `{shown}`")
    rest = list(words[1:])
    if ":" in rest:
        raise WrongUsage(
            "a `:` makes a heterogeneous job, which cannot be read from a command line"
        )
    table = option_table(version) if command == "sbatch" else step_table(command)
    options = Options(rest, table)
    try:
        found = list(options)
        given = tuple(_given(item) for item in found if _counts(item, command))
    except Refused as error:
        raise WrongUsage(f"{command}: {error}") from None
    left = tuple(rest[options.rest :])
    if command == "sbatch":
        return _sbatch(given, found, left)
    return _interactive(command, rest, options.rest, found, given, left)


def _counts(item: Found, command: str) -> bool:
    return command == "sbatch" or item.option.name not in _OWN


def _given(item: Found) -> Given:
    name = canonical(item.option.name)
    shown = "" if name in ("mail-type", "wrap") else normal(name, item.value, None)
    return Given(name, item.value, shown, item.spelling, 0, 0, "command")


def _sbatch(given: tuple[Given, ...], found: Sequence[Found], left: tuple[str, ...]) -> CommandLine:
    wrap = next((item.value for item in reversed(found) if item.option.name == "wrap"), None)
    given = tuple(item for item in given if item.name != "wrap")
    if wrap is not None:
        if left:
            raise WrongUsage("sbatch: a script does not go together with --wrap")
        return CommandLine(given, None, _WRAPPED.format(wrap), "wrap", ())
    if not left:
        raise WrongUsage("sbatch: no script is named")
    return CommandLine(given, left[0], None, left[0], left[1:])


def _interactive(
    command: str,
    words: Sequence[str],
    at: int,
    found: Sequence[Found],
    given: tuple[Given, ...],
    left: tuple[str, ...],
) -> CommandLine:
    """What salloc or srun starts, as a batch script that does the same.

    salloc runs its command once, where it is called; srun runs it as a step.
    """
    if not left:
        raise WrongUsage(f"{command}: no command is named, and a shell cannot be migrated")
    program = " ".join(map(shlex.quote, left))
    name = left[0].rpartition("/")[2] or command
    if command == "srun":
        own: list[str] = []
        for item in found:
            if item.option.name in _OWN and item.option.name not in ("pty", "interactive"):
                own += words[item.word : item.value_word + 1]
        flags = " ".join(map(shlex.quote, own))
        program = f"srun {flags} {program}" if flags else f"srun {program}"
    return CommandLine(given, None, f"#!/bin/bash\n{program}\n", name, ())
