"""What happens to each work: placed, decided by the outcome table, rendered, compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.diagnostics import Diagnostics, WrongUsage
from compiler.model import Deployer, Stack, TargetSpec
from compiler.placement import Placement, Row
from compiler.planning.changes import removal_change, work_change
from compiler.planning.outcomes import Action, Decision, Policy, decide, decide_removal
from compiler.planning.plan import WorkChange
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Job
from compiler.targets.registry import merge_keys_of, pending_fields_of
from compiler.workflow import compile as compiling
from compiler.workflow.arguments import PlanOptions
from compiler.workflow.compile import Prepared
from compiler.workflow.desired import PROJECT, desired_of, placement_row, project_of
from compiler.workflow.observe import World


class WorkPlanner:
    """One plan in the making: turns works into changes, one after the other.

    `from_paths` says that the works come from paths on the command line, not from the set's
    inputs. Warnings about work that stays as it is are not collected: they were said when it
    was made.
    """

    def __init__(
        self,
        stack: Stack,
        options: PlanOptions,
        world: World,
        diagnostics: Diagnostics,
        *,
        from_paths: bool,
    ) -> None:
        self.stack = stack
        self.options = options
        self.world = world
        self.diagnostics = diagnostics
        self.from_paths = from_paths
        if options.every_target:
            _require_directories(stack.targets.values())

    def plan_work(self, prepared: Prepared) -> Iterable[WorkChange]:
        """Usually one change; two when pending work moves, one a target for --every-target."""
        at, last = self.world.last_run(prepared.work.name)
        placement = compiling.place_work(
            prepared,
            self.stack,
            self.diagnostics,
            free=self.world.free,
            recorded=None if self.options.move else at,
            only=self.options.only,
        )
        if placement.chosen is None:
            return
        if self.options.every_target:
            yield from self._plan_everywhere(prepared, placement)
            return
        silent = self._silent_for(placement, last)
        if silent:
            yield self._not_asked(prepared, placement, silent)
        elif last is not None and at is not None and at != placement.chosen.target.key:
            yield from self._move(prepared, placement, at, last)
        else:
            yield self._decided(prepared, placement, placement.chosen, last)

    def plan_removals(self, wanted: set[str]) -> Iterable[WorkChange]:
        """Works of the set that the input no longer has, on targets that were asked."""
        for key, run in self.world.runs():
            record = run.record
            if record.work in wanted | {PROJECT} or record.ad_hoc or record.extra:
                continue
            latest = self.world.observations[key].last_run(record.work)
            is_written = run.state is RunState.WRITTEN
            if record.outcome == REMOVED or (run is not latest and not is_written):
                continue
            if not record.files and not run.state.is_live:
                continue  # its objects are gone already
            yield removal_change(run, decide_removal(run, self._flags()))

    def plan_projects(self, changes: Sequence[WorkChange]) -> Iterable[WorkChange]:
        """Files that belong to a target as a whole: there as long as any work is."""
        for key, observation in self.world.observations.items():
            spec = self.stack.targets[key]
            artifacts = compiling.render_project(self.stack, spec, self.diagnostics)
            if not artifacts:
                continue
            last = observation.last_run(PROJECT)
            leaving = {
                item.work for item in changes if item.action is Action.DELETE and item.target == key
            }
            staying = {item.work for item in changes if item.target == key} - leaving
            staying |= {
                run.record.work for run in observation.runs if run.record.outcome != REMOVED
            } - (leaving | {PROJECT})
            if staying:
                desired = project_of(self.stack, spec, artifacts)
                record = desired.record
                decision = decide(last, record.spec_digest, record.files_digest, 0, self._flags())
                yield work_change(desired, last, decision, merge_keys_of(spec))
            elif last is not None:
                yield removal_change(last, decide_removal(last, self._flags()))

    def _plan_everywhere(self, prepared: Prepared, placement: Placement) -> Iterable[WorkChange]:
        for row in compiling.possible_rows(placement):
            last = self.world.observations[row.target.key].last_run(prepared.work.name)
            # The candidate table says where work is placed; here nothing is chosen.
            yield replace(self._decided(prepared, placement, row, last), placement=())
        if not last.fields:
            return None

    def _decided(
        self, prepared: Prepared, placement: Placement, row: Row, last: ObservedRun | None
    ) -> WorkChange:
        """The table's cell for this work on this target, rendered."""
        policy = replace(
            self._flags(),
            on_files_change=prepared.task.on_files_change or self.stack.on_files_change,
            keep_runs=self.stack.gitops is not None,
        )
        highest = self.world.highest_run(prepared.work.name)
        if self.options.every_target:
            highest = self.world.observations[row.target.key].highest_run(prepared.work.name)
        digests = (prepared.spec_digest, prepared.files_digest)
        decision = decide(last, *digests, highest, policy)
        if decision.action is Action.REPLACE and last and last.state is RunState.PENDING:
            fields = self._pending_fields(prepared, row, last)
            if fields is not None:
                decision = decide(last, *digests, highest, replace(policy, can_update=True))
                return replace(
                    self._rendered(prepared, placement, row, last, decision), fields=fields
                )
        return self._rendered(prepared, placement, row, last, decision)

    def _pending_fields(
        self, prepared: Prepared, row: Row, last: ObservedRun
    ) -> dict[str, str] | None:
        """What the platform would change in place, if it can at all."""
        job, artifacts = self._artifacts(prepared, row, last.record.run, Diagnostics())
        live = [last.artifacts.get(artifact.path) for artifact in artifacts]
        if (
            len(artifacts) != 1
            or live[0] is None
            or prepared.files_digest != (last.record.files_digest)
        ):
            return None
        return pending_fields_of(job.target, live[0], artifacts[0].text)

    def _rendered(
        self,
        prepared: Prepared,
        placement: Placement,
        row: Row,
        last: ObservedRun | None,
        decision: Decision,
    ) -> WorkChange:
        said = Diagnostics()
        job, artifacts = self._artifacts(prepared, row, decision.run, said)
        desired = desired_of(
            job, prepared, placement, artifacts, said, ad_hoc=self._is_ad_hoc(prepared)
        )
        change = work_change(desired, last, decision, merge_keys_of(row.target))
        if change.action.changes or said.has_errors:
            self.diagnostics.extend(said)
        return change

    def _artifacts(
        self, prepared: Prepared, row: Row, run: int, said: Diagnostics
    ) -> tuple[Job, tuple[Artifact, ...]]:
        job = compiling.make_job(prepared, self.stack, row.target, row.resources, run)
        return job, compiling.render_job(job, said)

    def _flags(self) -> Policy:
        return Policy(rerun=self.options.rerun, replace_running=self.options.replace_running)

    def _is_ad_hoc(self, prepared: Prepared) -> bool:
        """Work from outside the set's inputs is never pruned."""
        if not self.from_paths:
            return False
        path = os.path.abspath(prepared.task.origin.document.source.path)  # noqa: PTH100
        return not any(
            Path(path).is_relative_to(os.path.abspath(place))  # noqa: PTH100
            for place in self.stack.inputs
        )

    def _move(
        self, prepared: Prepared, placement: Placement, at: str, last: ObservedRun
    ) -> Iterable[WorkChange]:
        """The recorded target is not the chosen one: exactly one live run must remain."""
        here = frozenset((last.state,))
        row = placement.chosen
        assert row is not None
        if last.state is RunState.RUNNING and not self.options.replace_running:
            reason = (
                f"moves from {at}, but run {last.record.run} is running there; "
                "needs --replace-running"
            )
            refused = Decision(Action.REFUSED, reason, last.record.run, here)
            yield removal_change(last, refused)
            return
        is_there = last.state.is_live or last.state is RunState.WRITTEN
        if not is_there:  # it ended: the table decides, and what it starts, it starts here
            yield self._decided(prepared, placement, row, last)
            return
        reason = f"moves from {at} to {row.target.key}"
        yield removal_change(last, Decision(Action.DELETE, reason, last.record.run, here))
        following = self.world.highest_run(prepared.work.name) + 1
        arriving = Decision(Action.CREATE, reason, following, frozenset((None,)))
        yield self._rendered(prepared, placement, row, None, arriving)

    def _silent_for(self, placement: Placement, last: ObservedRun | None) -> dict[str, str]:
        """Targets that were not asked and could hold this work, or are where it would go."""
        silent = self.world.silent
        if last is not None and placement.chosen and placement.chosen.target.key not in silent:
            return {}
        possible = {row.target.key for row in placement.rows if row.is_possible}
        return {key: reason for key, reason in silent.items() if key in possible}

    def _not_asked(
        self, prepared: Prepared, placement: Placement, silent: Mapping[str, str]
    ) -> WorkChange:
        key = next(row.target.key for row in placement.rows if row.target.key in silent)
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


def _require_directories(targets: Iterable[TargetSpec]) -> None:
    others = [spec.key for spec in targets if spec.deployer is not Deployer.DIRECTORY]
    if others:
        raise WrongUsage(
            "--every-target plans only where all targets use `deployer: directory`; "
            f"{', '.join(others)} would each run the work"
        )
