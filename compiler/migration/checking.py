"""Comparing what sbatch understands of a script and of what was made of it."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from compiler.migration.gpus import accelerator
from compiler.migration.request import Request, request_of
from compiler.targets.slurm.options import table


class Verdict(enum.StrEnum):
    """STRONGER: the task asks for more, WEAKER: for less; DIFFERENT: neither can be said."""

    EQUAL = "equal"
    STRONGER = "stronger"
    WEAKER = "weaker"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One field: the script's value and the task's, None where it is not said."""

    field: str
    script: str | None
    task: str | None
    verdict: Verdict
    note: str = ""


_NUMBERS = ("nodes", "tasks", "cpus of a task", "memory (MiB)", "gpus", "minutes")
_COVERED = frozenset(
    {
        *("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "mem", "mem-per-cpu"),
        *("mem-per-gpu", "gres", "gpus", "gpus-per-node", "gpus-per-task", "time", "job-name"),
    }
)
_OF_THE_LAUNCHER = {
    "output": "in the run folder",
    "error": "in the run folder",
    "open-mode": "a run adds to its output",
    "wait-all-nodes": "ranks start when all nodes are there",
    "no-requeue": "a run is not put back into the queue by Slurm",
    "chdir": "the script changes its folder itself",
    "export": "everything is exported",
    "input": "a rank reads nothing",
}
"""What follows from the launcher, where the script is not kept; said as such."""


def compare(
    script: Mapping[str, str], task: Mapping[str, str], *, kept: bool, name: str
) -> tuple[Comparison, ...]:
    """Every field that either of them says, the numbers first. `name` is the script's job name."""
    return (*_numbers(request_of(script), request_of(task)), *_others(script, task, kept, name))


def _numbers(script: Request, task: Request) -> Iterator[Comparison]:
    rows = (
        ("nodes", script.node_count, task.node_count),
        ("tasks", script.task_count, task.task_count),
        ("cpus of a task", script.cpus_per_task or 1, task.cpus_per_task or 1),
        ("memory (MiB)", _memory(script), _memory(task)),
        ("gpus", _gpus(script), _gpus(task)),
        ("minutes", script.minutes, task.minutes),
    )
    for field, theirs, ours in rows:
        yield Comparison(field, _text(theirs), _text(ours), _ordered(theirs, ours))
    kinds = [_kind(request) for request in (script, task)]
    if any(kinds):
        verdict = Verdict.EQUAL
        if kinds[0] != kinds[1]:
            verdict = Verdict.STRONGER if kinds[0] is None else Verdict.DIFFERENT
        yield Comparison("gpu type", kinds[0], kinds[1], verdict)
    if script.other_gres or task.other_gres:
        verdict = Verdict.EQUAL if script.other_gres == task.other_gres else Verdict.DIFFERENT
        names = [",".join(request.other_gres) or None for request in (script, task)]
        yield Comparison("other gres", names[0], names[1], verdict)


def _memory(request: Request) -> int | None:
    return request.node_memory if request.node_memory is not None else request.memory_mib


def _gpus(request: Request) -> int | None:
    if not request.gpus:
        return None
    node = request.node_gpus
    return node[1] if node else sum(demand.count for demand in request.gpus)


def _kind(request: Request) -> str | None:
    kinds = {demand.kind for demand in request.gpus}
    if len(kinds) != 1:
        return None
    kind = next(iter(kinds))
    return kind and (accelerator(kind) or kind)


def _ordered(theirs: int | None, ours: int | None) -> Verdict:
    if theirs == ours:
        return Verdict.EQUAL
    if theirs is None or ours is None:
        return Verdict.STRONGER if theirs is None else Verdict.WEAKER
    return Verdict.STRONGER if ours > theirs else Verdict.WEAKER


def _others(
    script: Mapping[str, str], task: Mapping[str, str], kept: bool, name: str
) -> Iterator[Comparison]:
    for option in sorted({*script, *task} - _COVERED):
        known = table().get(option)
        if known is not None and known.role == "client":
            continue
        theirs, ours = script.get(option), task.get(option)
        if theirs is not None and option in ("output", "error") and kept:
            theirs = theirs.replace("%x", name)
        if theirs == ours:
            yield Comparison(option, theirs, ours, Verdict.EQUAL)
            continue
        note = "" if kept else _OF_THE_LAUNCHER.get(option, "")
        if kept and option == "chdir" and ours is not None and _leads_to(theirs, ours):
            note = "from the folder in which sbatch was called"
        yield Comparison(option, theirs, ours, Verdict.DIFFERENT, note)


def _leads_to(theirs: str | None, ours: str) -> bool:
    """Whether a script's folder is `ours`, seen from the folder in which sbatch is called."""
    wanted = PurePosixPath(theirs or ".").parts
    return not wanted or PurePosixPath(ours).parts[-len(wanted) :] == wanted


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)


def worst(rows: tuple[Comparison, ...]) -> Verdict:
    """The verdict on the whole: EQUAL only where every row is, or is the launcher's doing."""
    found = {row.verdict for row in rows if not row.note}
    for verdict in (Verdict.WEAKER, Verdict.DIFFERENT, Verdict.STRONGER):
        if verdict in found:
            return verdict
    return Verdict.EQUAL
