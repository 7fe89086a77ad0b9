"""Planning: what an apply would do, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler import __version__
from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack
from compiler.planning.plan import Plan, WorkChange
from compiler.workflow import compile as compiling
from compiler.workflow.arguments import PlanOptions, plan_arguments
from compiler.workflow.inputs import input_digests
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World, look
from compiler.workflow.rendering import load_tasks
from compiler.workflow.work_planner import WorkPlanner


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, what was seen when it was made, and the warnings of the compilation."""

    plan: Plan
    world: World
    loaded: Loaded
    diagnostics: tuple[Diagnostic, ...] = field(default=())


def plan(
    paths: Sequence[str],
    stack: Stack,
    *,
    options: PlanOptions | None = None,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Planned:
    """Plan the works at `paths`, or the whole set (and only then deletions) without paths.

    Raise InvalidInput for wrong input. A target that is away makes the plan incomplete.
    """
    options = options or PlanOptions()
    diagnostics = Diagnostics()
    loaded = load_tasks(paths, stack, diagnostics, overrides=overrides, environ=environ)
    prepared = [
        compiling.prepare(work, stack, diagnostics)
        for work in loaded.works
        if not options.names or work.name in options.names
    ]
    diagnostics.raise_if_errors()
    world = look(
        stack,
        only=options.only,
        offline=options.offline,
        with_capacity=True,
        parallel=options.parallel,
    )
    planner = WorkPlanner(stack, options, world, diagnostics, from_paths=bool(paths))
    works: list[WorkChange] = []
    for item in prepared:
        works.extend(planner.plan_work(item))
    whole_set = not paths and not options.names
    if whole_set:
        works.extend(planner.plan_removals({work.name for work in loaded.works}))
        recorded = any(not run.record.ad_hoc for _, run in world.runs())
        if not loaded.works and recorded and not options.allow_empty:
            diagnostics.add(
                codes.EMPTY_SET.at(
                    stack.origin.span("set"), f"set `{stack.set_name}` has no task left"
                )
            )
    works.extend(planner.plan_projects(works))
    diagnostics.raise_if_errors()
    stack_source = stack.origin.document.source
    result = Plan(
        set=stack.set_name,
        stack=stack_source.path,
        scope="set" if whole_set else "paths",
        inputs=input_digests(loaded.inputs, prepared, stack),
        arguments=plan_arguments(paths, options, overrides),
        noted={"triplane": __version__},
        works=tuple(sorted(works, key=lambda change: (change.work, change.target))),
        targets=world.targets,
    )
    return Planned(result, world, loaded, tuple(diagnostics.sorted()))
