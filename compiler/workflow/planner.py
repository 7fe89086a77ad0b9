"""Planning: what an apply would do, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compiler.diagnostics import Diagnostic, Diagnostics, WrongUsage
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack
from compiler.planning.outcomes import Action
from compiler.planning.plan import Plan, WorkChange
from compiler.workflow import places, set_changes
from compiler.workflow.arguments import (
    PlanOptions,
    is_selected,
    plan_arguments,
    require_labels,
    require_targets,
    require_works,
    with_values,
)
from compiler.workflow.confinement import files_outside, inputs_outside
from compiler.workflow.field_reasons import with_field_reasons
from compiler.workflow.inputs import input_digests
from compiler.workflow.joining import joining, plan_endings
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World, look
from compiler.workflow.policing import Placed, judged, without_forbidden
from compiler.workflow.prepare import prepare
from compiler.workflow.prices import priced
from compiler.workflow.rendering import load_tasks
from compiler.workflow.versions import noted_versions
from compiler.workflow.volumes import volumes_first
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

    Raise InvalidInput for wrong input, WrongUsage for options that name what is not there. A
    target that is away makes the plan incomplete.
    """
    options = options or PlanOptions()
    overrides = with_values(overrides, environ)
    require_targets(options.only, stack)
    diagnostics = Diagnostics()
    if options.read_only:
        diagnostics.extend(inputs_outside(paths, stack))
        diagnostics.raise_if_errors()
    loaded = load_tasks(
        paths,
        stack,
        diagnostics,
        overrides=overrides,
        environ=environ,
        may_be_empty=options.allow_empty,
    )
    if options.group is not None:
        if not paths:
            raise WrongUsage("--group: name the file of the task that joins")
        loaded = joining(loaded, options.group)
    if not diagnostics.has_errors:
        require_works(options.names, [work.name for work in loaded.works])
        require_labels(options.labels, loaded.works)
    if options.read_only:
        diagnostics.extend(files_outside(loaded.works, stack))
        diagnostics.raise_if_errors()
    prepared = [
        prepare(work, stack, diagnostics, loaded.known_volumes)
        for work in volumes_first(loaded.works)
        if is_selected(work, options.names, options.labels)
    ]
    diagnostics.raise_if_errors()
    world = look(
        stack,
        only=options.only,
        offline=options.offline,
        with_capacity=True,
        parallel=options.parallel,
        read_only=options.read_only,
    )
    planner = WorkPlanner(
        stack,
        options,
        world,
        diagnostics,
        # A name from the command line is no name of the set's, wherever the file lies.
        declared=None if not paths else () if overrides.name else stack.inputs,
        loaded=loaded,
    )
    works: list[WorkChange] = []
    placed: list[Placed] = []
    for item in prepared:
        for change in planner.plan_work(item):
            made = planner.rendered.get(change.address)
            if made is not None and change.action is not Action.DELETE:
                change = priced(change, item, *made)
                change = with_field_reasons(change, item, stack, environ or {}, planner.joins)
                rows = planner.following.get(change.address, ())
                placed.append(Placed(change, item, made[0], alternatives=rows))
            works.append(change)
    whole_set = not (paths or options.names or options.labels or options.only)
    if whole_set:
        wanted = {work.name for work in loaded.works}
        works.extend(set_changes.plan_removals(world, wanted, planner.policy()))
        recorded = any(set_changes.is_declared(run) for _, run in world.runs())
        if not loaded.works and recorded and not options.allow_empty:
            diagnostics.add(
                codes.EMPTY_SET.at(
                    stack.origin.span("set"),
                    f"set `{stack.set_name}` has no task left",
                    hint="say --allow-empty if everything is to go",
                )
            )
    works.extend(plan_endings(world, works))
    diagnostics.extend(set_changes.left_behind(stack))
    overridden = judged(placed, stack, diagnostics)
    allowed = {change.address: change for change in without_forbidden(placed, stack)}
    works = [allowed.get(change.address, change) for change in works]
    works = set_changes.with_projects(stack, world, works, planner.policy(), diagnostics)
    world.close()
    diagnostics.raise_if_errors()
    result = Plan(
        set=stack.set_name,
        stack=places.shown(stack.origin.document.source.path, stack),
        scope="set" if whole_set else "paths",
        inputs=input_digests(loaded.inputs, prepared, stack),
        arguments=plan_arguments(paths, options, overrides, stack),
        noted=dict(noted_versions()),
        works=tuple(sorted(works, key=lambda change: (change.work, change.target))),
        targets=world.targets,
        overridden=overridden,
    )
    return Planned(result, world, loaded, tuple(diagnostics.sorted()))
