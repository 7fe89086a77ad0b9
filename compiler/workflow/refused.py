"""Refusals of a platform, placed where the user wrote what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from compiler.diagnostics import Span, TriplaneError
from compiler.model import Stack
from compiler.placement import matching_targets
from compiler.planning.plan import WorkChange
from compiler.targets.interface import Job, StepRefused
from compiler.targets.registry import target_of
from compiler.workflow.works import Work

Locate = Callable[[WorkChange, Sequence[str]], Span | None]
"""Where the first of some fields of a work is written, that is written at all."""


def locator(works: Iterable[Work], stack: Stack) -> Locate:
    """For the works that a plan was made of."""
    by_name = {work.name: work for work in works}

    def locate(change: WorkChange, fields: Sequence[str]) -> Span | None:
        work = by_name.get(change.work)
        spec = stack.targets.get(change.target)
        written_at = getattr(target_of(spec.kind), "written_at", None) if spec else None
        if work is None or spec is None or written_at is None or not work.tasks:
            return None
        task = work.tasks[0]
        for candidate in task.resources.candidates:
            if spec not in matching_targets(candidate.infra, stack):
                continue
            job = Job(stack, spec, task, work.name, candidate, change.run, "", "")
            for field in fields:
                span = written_at(job, field)
                if span is not None:
                    return span
        return task.origin.span()

    return locate


def placed(error: TriplaneError, change: WorkChange, locate: Locate | None) -> TriplaneError:
    """The error with its diagnostics at a place of the input, where it can be told."""
    if locate is None or not isinstance(error, StepRefused):
        return error
    span = locate(change, error.fields)
    found = [item if item.span else replace(item, span=span) for item in error.diagnostics]
    return StepRefused(str(error), found, error.fields)
