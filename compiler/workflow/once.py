"""`triplane run`: one more run now, beside what the set declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.diagnostics import Diagnostics, TargetUnreachable, WrongUsage
from compiler.model import Overrides, Stack, TargetKind
from compiler.placement import Placement, Row
from compiler.planning.changes import Desired, work_change
from compiler.planning.outcomes import Action, Decision, Policy
from compiler.planning.plan import Plan
from compiler.targets.interface import Job, JoinedGroup
from compiler.targets.registry import merge_keys_of
from compiler.workflow import compile as compiling
from compiler.workflow import places
from compiler.workflow.alternatives import following, start_within
from compiler.workflow.arguments import require_targets
from compiler.workflow.desired import desired_of
from compiler.workflow.joining import joined, joining, joining_to
from compiler.workflow.observe import World, look
from compiler.workflow.planner import Planned
from compiler.workflow.policing import Placed, judged, without_forbidden
from compiler.workflow.prepare import Prepared, prepare, with_variables
from compiler.workflow.prices import priced
from compiler.workflow.rendering import load_tasks
from compiler.workflow.set_changes import with_projects
from compiler.workflow.versions import noted_versions
from compiler.workflow.volumes import not_made, volumes_at
from compiler.workflow.works import Work


def plan_runs(
    paths: Sequence[str],
    stack: Stack,
    *,
    num_jobs: int = 1,
    group: str | None = None,
    only: Sequence[str] = (),
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Planned:
    """A plan that adds `num_jobs` numbered runs of each task at `paths` and touches no other. On
    Slurm they are one run, an array.

    With several, each sees its number in SKYPILOT_JOB_RANK and theirs in SKYPILOT_NUM_JOBS.
    `group` is a running group that they join. Raise WrongUsage for what does not end.
    """
    require_targets(only, stack)
    diagnostics = Diagnostics()
    loaded = load_tasks(paths, stack, diagnostics, overrides=overrides, environ=environ)
    diagnostics.raise_if_errors()
    for work in loaded.works:
        if work.volume is not None or any(task.service is not None for task in work.tasks):
            raise WrongUsage(f"`{work.name}` does not end, so it has no runs: triplane apply")
    if group is not None:
        loaded = joining(loaded, group)
    world = look(stack, only=only, with_capacity=True)
    joins, only = joining_to(group, only, world)
    there = volumes_at(loaded, world)
    placed: list[Placed] = []
    for work in loaded.works:
        prepared = prepare(work, stack, diagnostics, loaded.known_volumes)
        if joins is not None:
            prepared = joined(prepared, joins)
        diagnostics.extend(not_made(prepared, there))
        placement = compiling.place_work(
            prepared, stack, diagnostics, free=world.free, only=only, volumes_at=there
        )
        if placement.chosen is None:
            continue
        spec = placement.chosen.target
        if spec.key in world.silent:
            raise TargetUnreachable(spec.key, world.silent[spec.key])
        is_array = num_jobs > 1 and spec.kind is TargetKind.SLURM and _may_be_array(work)
        if is_array:
            placement = replace(placement, rows=tuple(filter(_takes_arrays, placement.rows)))
        added = _Added(work, stack, placement, world, joins, num_jobs, is_array)
        placed.extend(added.runs(prepared, diagnostics))
    overridden = judged(placed, stack, diagnostics)
    allowed = without_forbidden(placed, stack)
    works = with_projects(stack, world, allowed, Policy(), diagnostics)
    world.close()
    diagnostics.raise_if_errors()
    plan = Plan(
        set=stack.set_name,
        stack=places.shown(stack.origin.document.source.path, stack),
        scope="paths",
        inputs={},
        arguments={"paths": [places.shown(path, stack) for path in paths]},
        noted=dict(noted_versions()),
        works=tuple(works),
        targets=world.targets,
        overridden=overridden,
    )
    return Planned(plan, world, loaded, tuple(diagnostics.sorted()))


@dataclass(frozen=True)
class _Added:
    """The runs that are added of one work, numbered from the highest that there is."""

    work: Work
    stack: Stack
    placement: Placement
    world: World
    joins: JoinedGroup | None
    num_jobs: int
    is_array: bool

    def runs(self, prepared: Prepared, diagnostics: Diagnostics) -> Iterator[Placed]:
        first = self.world.highest_run(self.work.name) + 1
        count = 1 if self.is_array else self.num_jobs
        for rank in range(count):
            one = prepared
            if count > 1:
                numbered = {"SKYPILOT_JOB_RANK": str(rank), "SKYPILOT_NUM_JOBS": str(count)}
                one = with_variables(prepared, numbered)
            yield self._run(prepared, one, first + rank, count, diagnostics)

    def _run(
        self, prepared: Prepared, one: Prepared, run: int, apart: int, diagnostics: Diagnostics
    ) -> Placed:
        """`one` is `prepared` with the variables of this run, which make it no other work."""
        chosen = self.placement.chosen
        assert chosen is not None
        num_jobs = self.num_jobs if self.is_array else 1

        def make(row: Row, number: int, said: Diagnostics) -> tuple[Job, Desired]:
            job = compiling.make_job(one, self.stack, row, number, self.joins)
            job = replace(job, num_jobs=num_jobs)
            artifacts = compiling.render_job(job, said)
            return job, desired_of(job, prepared, self.placement, artifacts, said, extra=True)

        job, desired = make(chosen, run, diagnostics)
        decision = Decision(Action.CREATE, "asked for by `triplane run`", run, frozenset((None,)))
        change = work_change(desired, None, decision, merge_keys_of(chosen.target))
        change = priced(change, one, chosen, desired.artifacts)
        if change.cost is not None:
            change = replace(change, cost=change.cost.times(num_jobs))
        if self.joins is not None:
            return Placed(change, one, chosen, num_jobs)
        found = following(change, one, self.placement, self.world, make, apart)
        limit = start_within(job) if found.changes else None
        change = replace(change, alternatives=found.changes, start_within=limit)
        return Placed(change, one, chosen, num_jobs, found.rows)


def _takes_arrays(row: Row) -> bool:
    return row.target.kind is TargetKind.SLURM


def _may_be_array(work: Work) -> bool:
    """A task alone; a script that is kept says itself whether it is an array."""
    return work.task is not None and work.task.native_script is None
