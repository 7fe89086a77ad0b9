"""Planning: what an apply would do, and why."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler import __version__
from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack
from compiler.placement import Placement, Row
from compiler.planning.changes import removal_change, work_change
from compiler.planning.outcomes import Action, Decision, Policy, decide, decide_removal
from compiler.planning.plan import Plan, WorkChange
from compiler.planning.states import ObservedRun, RunState
from compiler.targets.registry import merge_keys_of
from compiler.workflow import compile as compiling
from compiler.workflow.arguments import PlanOptions, plan_arguments
from compiler.workflow.desired import PROJECT, desired_of, placement_row, project_of
from compiler.workflow.inputs import input_digests
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World, look
from compiler.workflow.rendering import load_tasks


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
    planner = _Planner(stack, options, world, diagnostics, bool(paths))
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


class _Planner:
    """One plan in the making."""

    def __init__(
        self,
        stack: Stack,
        options: PlanOptions,
        world: World,
        diagnostics: Diagnostics,
        ad_hoc: bool,
    ) -> None:
        self.stack = stack
        self.options = options
        self.world = world
        self.diagnostics = diagnostics
        self.inputs_only = ad_hoc

    def plan_work(self, prepared: compiling.Prepared) -> Iterable[WorkChange]:
        """Usually one change; two when pending work moves to another target."""
        name = prepared.work.name
        at, last = self.world.last_run(name)
        placement = compiling.place_work(
            prepared,
            self.stack,
            self.diagnostics,
            free=self.world.free,
            recorded=None if self.options.move else at,
            only=self.options.only,
        )
        chosen = placement.chosen
        if chosen is None:
            return
        silent = self._silent_for(placement, last)
        if silent:
            yield self._not_asked(prepared, placement, silent)
            return
        key = chosen.target.key
        if at is not None and key != at and last is not None:
            yield from self._move(prepared, placement, at, last)
            return
        decision = decide(
            last,
            prepared.spec_digest,
            prepared.files_digest,
            self.world.highest_run(name),
            self._policy(prepared, chosen, last),
        )
        yield self._change(prepared, placement, last, decision)

    def plan_removals(self, wanted: set[str]) -> Iterable[WorkChange]:
        """Works of the set that the input no longer has, on targets that were asked."""
        for _, run in self.world.runs():
            record = run.record
            if record.work in wanted | {PROJECT} or record.ad_hoc or record.extra:
                continue
            latest = self.world.observations[record.target].last_run(record.work)
            ended = not run.state.is_live and run.state is not RunState.WRITTEN
            if ended and not record.files:
                continue  # its objects are gone already
            if run is not latest and run.state is not RunState.WRITTEN and run.state.is_live:
                continue
            yield removal_change(run, decide_removal(run, self._policy_flags()))

    def plan_projects(self, changes: Sequence[WorkChange]) -> Iterable[WorkChange]:
        """Files that belong to a target as a whole: there as long as any work is."""
        for key, observation in self.world.observations.items():
            spec = self.stack.targets[key]
            artifacts = compiling.render_project(self.stack, spec, self.diagnostics)
            if not artifacts:
                continue
            last = observation.last_run(PROJECT)
            leaving = {item.work for item in changes if item.action is Action.DELETE}
            staying = {item.work for item in changes if item.target == key} - leaving
            staying |= {run.record.work for run in observation.runs} - leaving - {PROJECT}
            if not staying:
                if last is not None:
                    yield removal_change(last, decide_removal(last, self._policy_flags()))
                continue
            desired = project_of(self.stack, spec, artifacts)
            decision = decide(
                last,
                desired.record.spec_digest,
                desired.record.files_digest,
                0,
                self._policy_flags(),
            )
            yield work_change(desired, last, decision, merge_keys_of(spec))

    def _policy_flags(self) -> Policy:
        return Policy(rerun=self.options.rerun, replace_running=self.options.replace_running)

    def _policy(
        self, prepared: compiling.Prepared, chosen: Row, last: ObservedRun | None
    ) -> Policy:
        return replace(
            self._policy_flags(),
            on_files_change=prepared.task.on_files_change or self.stack.on_files_change,
            keep_runs=self.stack.gitops is not None,
            can_update=False,
        )

    def _change(
        self,
        prepared: compiling.Prepared,
        placement: Placement,
        last: ObservedRun | None,
        decision: Decision,
    ) -> WorkChange:
        chosen = placement.chosen
        job = compiling.make_job(
            prepared, self.stack, chosen.target, chosen.resources, decision.run
        )
        artifacts = compiling.render_job(job, self.diagnostics)
        desired = desired_of(
            job, prepared, placement, artifacts, self.diagnostics, ad_hoc=self._is_ad_hoc(prepared)
        )
        return work_change(desired, last, decision, merge_keys_of(chosen.target))

    def _is_ad_hoc(self, prepared: compiling.Prepared) -> bool:
        """Work from outside the set's inputs is never pruned."""
        if not self.inputs_only:
            return False
        path = os.path.abspath(prepared.task.origin.document.source.path)  # noqa: PTH100
        return not any(
            Path(path).is_relative_to(os.path.abspath(place))  # noqa: PTH100
            for place in self.stack.inputs
        )

    def _move(
        self, prepared: compiling.Prepared, placement: Placement, at: str, last: ObservedRun
    ) -> Iterable[WorkChange]:
        """The recorded target is not the chosen one: exactly one live run must remain."""
        name = prepared.work.name
        number = self.world.highest_run(name) + 1
        if last.state is RunState.RUNNING and not self.options.replace_running:
            reason = f"moves from {at}, but run {last.record.run} is running there"
            here = frozenset((last.state,))
            decision = Decision(
                Action.REFUSED, f"{reason}; needs --replace-running", last.record.run, here
            )
            yield replace(removal_change(last, decision), objects=(), record=None)
            return
        same = last.record.spec_digest == prepared.spec_digest
        if same and not last.state.is_live and last.state is not RunState.WRITTEN:
            yield self._change(prepared, placement, last, self._ended_elsewhere(prepared, last))
            return
        chosen = placement.chosen
        reason = f"moves from {at} to {chosen.target.key}"
        here = frozenset((last.state,))
        if last.state.is_live or last.state is RunState.WRITTEN:
            leaving = Decision(Action.DELETE, reason, last.record.run, here)
            yield removal_change(last, leaving)
        arriving = Decision(Action.CREATE, reason, number, frozenset((None,)))
        yield self._change(prepared, placement, None, arriving)

    def _ended_elsewhere(self, prepared: compiling.Prepared, last: ObservedRun) -> Decision:
        return decide(
            last,
            prepared.spec_digest,
            prepared.files_digest,
            self.world.highest_run(prepared.work.name),
            self._policy_flags(),
        )

    def _silent_for(self, placement: Placement, last: ObservedRun | None) -> dict[str, str]:
        """Targets that were not asked and could decide what to do about this work."""
        silent = self.world.silent
        if last is not None and last.record.target not in silent:
            return {}
        rows = {row.target.key for row in placement.rows if row.is_possible}
        return {key: reason for key, reason in silent.items() if key in rows}

    def _not_asked(
        self, prepared: compiling.Prepared, placement: Placement, silent: Mapping[str, str]
    ) -> WorkChange:
        key = next((row.target.key for row in placement.rows if row.target.key in silent), "")
        said = "; ".join(f"{target}: {why}" for target, why in silent.items())
        return WorkChange(
            work=prepared.work.name,
            target=key,
            kind=str(self.stack.targets[key].kind),
            action=Action.UNKNOWN,
            reason=f"cannot be planned while a target that may hold it is silent ({said})",
            run=0,
            rows=(),
            placement=tuple(placement_row(row, placement) for row in placement.rows),
        )
