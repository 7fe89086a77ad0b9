"""What each new line of a plan comes from, in words: what the page of a plan shows on demand."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.diagnostics import Diagnostics
from compiler.model import Stack
from compiler.planning.plan import WorkChange
from compiler.planning.provenance import Line
from compiler.workflow.planner import Planned
from compiler.workflow.prepare import prepare
from compiler.workflow.provenance import trace
from compiler.workflow.tracing import Tracer

_MOST_WORKS = 40


def line_sources(
    planned: Planned, stack: Stack, *, environ: Mapping[str, str] | None = None
) -> dict[str, dict[int, str]]:
    """By the path of an artifact and the number of a line (from 1) where the line comes from.

    Objects that are new in the plan have it, of its first forty works with any: a work takes
    about as long as rendering it a hundred times.
    """
    works = {work.name: work for work in planned.loaded.works}
    found: dict[str, dict[int, str]] = {}
    new = [change for change in planned.plan.works if _has_new(change) and change.work in works]
    for change in new[:_MOST_WORKS]:
        work = works[change.work]
        prepared = prepare(work, stack, Diagnostics(), planned.loaded.known_volumes)
        tracer = Tracer(prepared, stack, change.target, change.run, environ or {})
        for path, lines in trace(tracer).items():
            found[path] = {number: in_words(line) for number, line in lines.items()}
    return found


def in_words(line: Line) -> str:
    """`tasks/train.yaml:2:12 (num_nodes); template templates/slurm/job.sbatch.j2:9`"""
    sources = (f"{item.location} ({item.field})" for item in line.sources)
    return "; ".join((*sources, *line.rules))


def _has_new(change: WorkChange) -> bool:
    """Whether there are objects that are shown whole, as nothing is there to compare."""
    return change.action.changes and any(
        item.artifact is not None and not item.fields for item in change.objects
    )
