"""`triplane run`: one more run now, beside what the set declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compiler.diagnostics import Diagnostics, TargetUnreachable, WrongUsage
from compiler.model import Overrides, Stack, TargetKind
from compiler.planning.changes import work_change
from compiler.planning.outcomes import Action, Decision, Policy
from compiler.planning.plan import Plan, WorkChange
from compiler.targets.registry import merge_keys_of
from compiler.workflow import compile as compiling
from compiler.workflow import places
from compiler.workflow.arguments import require_targets
from compiler.workflow.desired import desired_of
from compiler.workflow.joining import joined, joining, joining_to
from compiler.workflow.observe import look
from compiler.workflow.planner import Planned
from compiler.workflow.policing import Placed, judged
from compiler.workflow.prepare import prepare, with_variables
from compiler.workflow.prices import priced
from compiler.workflow.rendering import load_tasks
from compiler.workflow.set_changes import plan_projects
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
    works: list[WorkChange] = []
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
        first = world.highest_run(work.name) + 1
        is_array = num_jobs > 1 and spec.kind is TargetKind.SLURM and _may_be_array(work)
        for rank in range(1 if is_array else num_jobs):
            one = prepared
            if num_jobs > 1 and not is_array:
                numbered = {"SKYPILOT_JOB_RANK": str(rank), "SKYPILOT_NUM_JOBS": str(num_jobs)}
                one = with_variables(prepared, numbered)
            job = compiling.make_job(one, stack, placement.chosen, first + rank, joins)
            job = replace(job, num_jobs=num_jobs if is_array else 1)
            artifacts = compiling.render_job(job, diagnostics)
            desired = desired_of(job, prepared, placement, artifacts, diagnostics, extra=True)
            decision = Decision(
                Action.CREATE, "asked for by `triplane run`", first + rank, frozenset((None,))
            )
            change = work_change(desired, None, decision, merge_keys_of(spec))
            change = priced(change, one, placement.chosen, artifacts)
            if change.cost is not None:
                change = replace(change, cost=change.cost.times(job.num_jobs))
            placed.append(Placed(change, one, placement.chosen, job.num_jobs))
            works.append(change)
    works.extend(plan_projects(stack, world, works, Policy(), diagnostics))
    overridden = judged(placed, stack, diagnostics)
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


def _may_be_array(work: Work) -> bool:
    """A task alone; a script that is kept says itself whether it is an array."""
    return work.task is not None and work.task.native_script is None
