"""Commands that start processes: Slurm's own, MPI's, those of training frameworks, containers."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.migration.reading.getopt import Options
from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.options import canonical, step_table
from compiler.migration.shell.body import Body, Command
from compiler.migration.shell.variables import Variables

_MPI = frozenset(
    {"mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prun", "ibrun", "aprun", "jsrun"}
)
_TRAINING = frozenset(
    {"torchrun", "accelerate", "deepspeed", "horovodrun", "colossalai", "composer"}
)
_CONTAINERS = frozenset(
    {"singularity", "apptainer", "shifter", "docker", "podman", "podman-hpc", "nvidia-docker"}
    | {"ch-run", "enroot", "sarus", "udocker"}
)
_REMOTE = frozenset({"ssh", "pdsh", "clush", "parallel-ssh", "pbsdsh"})
_FLEETS = frozenset(
    {"parallel", "ray", "dask", "dask-worker", "nextflow", "snakemake", "spark-submit"}
)
_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torch.distributed.launch",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}


class Kind(enum.StrEnum):
    """STEP: srun; REMOTE: another node by its name; FLEET: a scheduler of its own."""

    STEP = "step"
    MPI = "mpi"
    TRAINING = "training"
    CONTAINER = "container"
    REMOTE = "remote"
    FLEET = "fleet"


@dataclass(frozen=True, slots=True)
class Launch:
    """One call of a launcher; `flags` are its own options as written."""

    kind: Kind
    name: str
    flags: tuple[str, ...]
    command: Command


@dataclass(frozen=True, slots=True)
class Step:
    """A call of srun, its options read as srun does: name -> value (None: a flag).

    `program` is the index in the command's words where the program starts; None where the
    options cannot be read (they stand in a variable, above all).
    """

    command: Command
    options: dict[str, str | None]
    program: int | None
    colon: bool = False


def launches(body: Body) -> Iterator[Launch]:
    """Every launcher that is called, in the order of the text."""
    for command in body.commands:
        name = command.name
        kind = _kind(name)
        if kind is None and name.startswith("python"):
            found = _module(command)
            if found is not None:
                yield Launch(Kind.TRAINING, found, _flags(command, 3), command)
            continue
        if kind is None:
            continue
        if name == "accelerate" and [word.literal for word in command.words[1:2]] != ["launch"]:
            continue
        if kind is Kind.STEP:
            end = step(command).program or len(command.words)
            flags = tuple(word.text for word in command.words[1:end])
            yield Launch(kind, name, flags, command)
            yield from _inner(command)
            continue
        yield Launch(kind, name, _flags(command, 1), command)


def _kind(name: str) -> Kind | None:
    if name == "srun":
        return Kind.STEP
    for names, kind in (
        (_MPI, Kind.MPI),
        (_TRAINING, Kind.TRAINING),
        (_CONTAINERS, Kind.CONTAINER),
        (_REMOTE, Kind.REMOTE),
        (_FLEETS, Kind.FLEET),
    ):
        if name in names:
            return kind
    return None


def _inner(command: Command) -> Iterator[Launch]:
    """What srun starts, where that is a launcher itself."""
    read = step(command)
    if read.program is None or read.program >= len(command.words):
        return
    inner = Command(
        command.words[read.program :],
        (),
        command.contexts,
        command.line,
        command.words[read.program].start,
        command.end,
    )
    kind = _kind(inner.name)
    if kind in (Kind.TRAINING, Kind.CONTAINER):
        yield Launch(kind, inner.name, _flags(inner, 1), inner)
    elif inner.name.startswith("python") and (found := _module(inner)) is not None:
        yield Launch(Kind.TRAINING, found, _flags(inner, 3), inner)


def _module(command: Command) -> str | None:
    words = [word.literal for word in command.words[1:3]]
    return _MODULES.get(words[1] or "") if words[:1] == ["-m"] and len(words) == 2 else None


def _flags(command: Command, start: int) -> tuple[str, ...]:
    flags: list[str] = []
    for word in command.words[start:]:
        if not word.text.startswith("-"):
            if flags:
                break
            continue
        flags.append(word.text)
    return tuple(flags)


def step(command: Command, variables: Variables | None = None) -> Step:
    """Read a call of srun; options in a variable of the script are read where it is known."""
    variables = variables or Variables()
    words, origins = [], []
    for index, word in enumerate(command.arguments, start=1):
        inner = variables.split(word) if word.literal is None else None
        if inner is not None and all(text.startswith("-") for text in inner[:1]):
            words += inner
            origins += [index] * len(inner)
            continue
        words.append(word.literal if word.literal is not None else word.text)
        origins.append(index)
    colon = any(word.literal == ":" for word in command.arguments)
    options = Options(words, step_table("srun"))
    found: dict[str, str | None] = {}
    try:
        for item in options:
            found[canonical(item.option.name)] = item.value
    except Refused:
        return Step(command, found, None, colon)
    if options.rest >= len(words):
        return Step(command, found, len(command.words), colon)
    program = origins[options.rest]
    first = command.words[program]
    if options.rest and origins[options.rest - 1] == program:
        return Step(command, found, None, colon)  # options and program in one variable
    if first.literal is None and first.text.startswith(("$", '"$')):
        held = variables.value(first) or ""
        if not held.strip() or held.lstrip().startswith("-"):
            # Flags in a variable: what stands there is known only when the script runs.
            return Step(command, found, None, colon)
    return Step(command, found, program, colon)
