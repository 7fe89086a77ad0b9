"""What happens to each work: placed, decided by the outcome table, rendered, compared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.diagnostics import Diagnostics
from compiler.model import Stack
from compiler.placement import Placement, Row
from compiler.planning.changes import Desired, Preview, removal_change, work_change
from compiler.planning.outcomes import Action, Decision, Policy
from compiler.planning.plan import WorkChange
from compiler.planning.records import Lifecycle
from compiler.planning.states import ObservedRun, RunState
from compiler.planning.table import Wanted, decide_work
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Job, PreviewRefused
from compiler.targets.registry import merge_keys_of, pending_fields_of, target_of
from compiler.workflow import compile as compiling
from compiler.workflow import places
from compiler.workflow.alternatives import following, start_within
from compiler.workflow.arguments import PlanOptions
from compiler.workflow.desired import desired_of, lifecycle_of
from compiler.workflow.joining import joined, joining_to
from compiler.workflow.left_alone import not_asked, require_directories, stays
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World
from compiler.workflow.prepare import Prepared
from compiler.workflow.volumes import mounting, not_made, volumes_at


class WorkPlanner:
    """One plan in the making: turns works into changes, one after the other.

    `declared` are the places whose tasks belong to the set, None where all of them do (they
    come from the set's inputs); work from elsewhere is ad hoc. Warnings about work that stays
    as it is are not collected: they were said when it was made.
    """

    def __init__(
        self,
        stack: Stack,
        options: PlanOptions,
        world: World,
        diagnostics: Diagnostics,
        *,
        declared: Sequence[str] | None,
        loaded: Loaded,
    ) -> None:
        self.stack = stack
        self.options = options
        self.world = world
        self.diagnostics = diagnostics
        self.declared = declared
        # By the address of a change the row that it was rendered for, and all its artifacts.
        self.rendered: dict[str, tuple[Row, tuple[Artifact, ...]]] = {}
        # By the same the rows of its alternatives.
        self.following: dict[str, tuple[Row, ...]] = {}
        self.works = loaded.works
        self.joins, self.only = joining_to(options.group, options.only, world)
        self.volumes_at = volumes_at(loaded, world)
        if options.every_target:
            require_directories(stack.targets.values())

    def plan_work(self, prepared: Prepared) -> Iterable[WorkChange]:
        """Usually one change; two when pending work moves, one a target for --every-target."""
        if self.joins is not None:
            prepared = joined(prepared, self.joins)
        at, last = self.world.last_run(prepared.work.name)
        placement = compiling.place_work(
            prepared,
            self.stack,
            self.diagnostics,
            free=self.world.free,
            recorded=None if self.options.move else at,
            only=self.only,
            volumes_at=self.volumes_at,
            mounted_by=mounting(prepared.work.name, self.works) if prepared.work.volume else (),
        )
        if placement.chosen is None:
            return
        if prepared.work.volume is not None:
            rows = compiling.possible_rows(placement) if self.options.every_target else ()
            here = {placement.chosen.target.key, *(row.target.key for row in rows)}
            self.volumes_at[prepared.work.name] = frozenset(here)
        if self.options.every_target:
            yield from self._plan_everywhere(prepared, placement)
            return
        silent = self._silent_for(prepared, placement, last)
        if silent:
            yield not_asked(prepared, placement, self.stack, silent)
        elif last is not None and at is not None and at != placement.chosen.target.key:
            yield from self._move(prepared, placement, at, last)
        else:
            change = self._decided(prepared, placement, placement.chosen, last)
            yield self._with_alternatives(change, prepared, placement, last)

    def _with_alternatives(
        self,
        change: WorkChange,
        prepared: Prepared,
        placement: Placement,
        last: ObservedRun | None,
    ) -> WorkChange:
        """A first run, and where to go on from its target. What ran before has its place, which
        holds."""
        is_new = change.action is Action.CREATE and (last is None or self.options.move)
        if not is_new or self.joins is not None or prepared.work.volume is not None:
            return change

        def make(row: Row, run: int, said: Diagnostics) -> tuple[Job, Desired]:
            return self._desired(prepared, placement, row, run, said)

        found = following(change, prepared, placement, self.world, make)
        if not found.changes:
            return change
        assert placement.chosen is not None
        self.following[change.address] = found.rows
        job = compiling.make_job(prepared, self.stack, placement.chosen, change.run)
        return replace(change, alternatives=found.changes, start_within=start_within(job))

    def policy(self) -> Policy:
        """The flags as the outcome table knows them."""
        return Policy(
            rerun=self.options.rerun,
            replace_running=self.options.replace_running,
            delete_volumes=self.options.delete_volumes,
        )

    def _plan_everywhere(self, prepared: Prepared, placement: Placement) -> Iterable[WorkChange]:
        self.diagnostics.extend(compiling.left_out(prepared, placement))
        for row in compiling.possible_rows(placement):
            if row.target.key in self.world.silent:
                reasons = {row.target.key: self.world.silent[row.target.key]}
                yield not_asked(prepared, placement, self.stack, reasons)
                continue
            last = self.world.observations[row.target.key].last_run(prepared.work.name)
            # The candidate table says where work is placed; here nothing is chosen.
            yield replace(self._decided(prepared, placement, row, last), placement=())

    def _decided(
        self, prepared: Prepared, placement: Placement, row: Row, last: ObservedRun | None
    ) -> WorkChange:
        """The table's cell for this work on this target, rendered."""
        policy = replace(
            self.policy(),
            on_files_change=prepared.on_files_change or self.stack.on_files_change,
            keep_runs=self.stack.gitops is not None,
        )
        highest = self.world.highest_run(prepared.work.name)
        if self.options.every_target:
            highest = self.world.observations[row.target.key].highest_run(prepared.work.name)
        wanted = self._wanted(prepared, row)
        decision = decide_work(last, wanted, highest, policy)
        was_elsewhere = last is not None and last.record.target != row.target.key
        if decision.action is Action.UPDATE and was_elsewhere:
            # Of a service that is gone there is nothing here to be changed in place.
            following = self.world.highest_run(prepared.work.name) + 1
            decision = Decision(Action.CREATE, decision.reason, following, frozenset((None,)))
            last = None
        if decision.action is Action.REPLACE and last and last.state is RunState.PENDING:
            fields = self._pending_fields(prepared, row, last)
            if fields is not None:
                decision = decide_work(last, wanted, highest, replace(policy, can_update=True))
                return replace(
                    self._rendered(prepared, placement, row, last, decision), fields=fields
                )
        return self._rendered(prepared, placement, row, last, decision)

    def _wanted(self, prepared: Prepared, row: Row) -> Wanted:
        volume = prepared.work.volume
        target = target_of(row.target.kind)
        return Wanted(
            prepared.spec_digest,
            prepared.files_digest,
            prepared.spec,
            lifecycle_of(prepared),
            frozenset() if volume is None else target.volume_updates(volume, row.target),
        )

    def _pending_fields(
        self, prepared: Prepared, row: Row, last: ObservedRun
    ) -> dict[str, str] | None:
        """What the platform would change in place, if it can at all."""
        ask = getattr(self.world.deployers.get(row.target.key), "pending_fields", None)
        if ask is None and not last.fields:
            return None
        job, artifacts = self._artifacts(prepared, row, last.record.run, Diagnostics())
        if ask is not None:
            return ask(last, artifacts)
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
        job, desired = self._desired(prepared, placement, row, decision.run, said)
        artifacts = desired.artifacts
        desired = replace(desired, preview=self._preview_of(prepared, job, said))
        said.extend(not_made(prepared, self.volumes_at))
        change = work_change(desired, last, decision, merge_keys_of(row.target))
        self.rendered[change.address] = (row, artifacts)
        if change.action.changes or said.has_errors:
            self.diagnostics.extend(said)
        return change

    def _preview_of(
        self, prepared: Prepared, job: Job, said: Diagnostics
    ) -> Callable[[tuple[Artifact, ...]], Preview]:
        """Asks a deployer that can tell what it would get; its refusals are errors of the plan."""
        ask = getattr(self.world.deployers.get(job.target.key), "preview", None)
        locate = getattr(target_of(job.target.kind), "locate", None)

        def preview(artifacts: tuple[Artifact, ...]) -> Preview:
            if ask is None or not artifacts:
                return Preview()
            try:
                return ask(artifacts)
            except PreviewRefused as error:
                by_path = {artifact.path: artifact for artifact in artifacts}
                for item, (path, field) in zip(error.diagnostics, error.places, strict=True):
                    span = locate(job, by_path[path], field) if field and locate else None
                    said.add(replace(item, span=span or prepared.origin.span()))
                return Preview()

        return preview

    def _desired(
        self, prepared: Prepared, placement: Placement, row: Row, run: int, said: Diagnostics
    ) -> tuple[Job, Desired]:
        job, artifacts = self._artifacts(prepared, row, run, said)
        desired = desired_of(
            job,
            prepared,
            placement,
            artifacts,
            said,
            ad_hoc=self._is_ad_hoc(prepared),
            without_values=self.options.read_only,
        )
        return job, desired

    def _artifacts(
        self, prepared: Prepared, row: Row, run: int, said: Diagnostics
    ) -> tuple[Job, tuple[Artifact, ...]]:
        job = compiling.make_job(prepared, self.stack, row, run, self.joins)
        return job, compiling.render_job(job, said)

    def _is_ad_hoc(self, prepared: Prepared) -> bool:
        """Work from outside the set's inputs is never pruned, nor what joins a group."""
        if self.joins is not None:
            return True
        if self.declared is None:
            return False
        given = prepared.origin.document.source.path
        path = Path(os.path.abspath(given))  # noqa: PTH100 (links are kept as written)
        inside = any(path.is_relative_to(place) for place in self.declared)
        return places.is_special(given) or not inside

    def _move(
        self, prepared: Prepared, placement: Placement, at: str, last: ObservedRun
    ) -> Iterable[WorkChange]:
        """The recorded target is not the chosen one: exactly one live run must remain."""
        here = frozenset((last.state,))
        row = placement.chosen
        assert row is not None
        is_there = last.state.is_live or last.state is RunState.WRITTEN
        if is_there and not self.world.may_change(at):
            yield stays(last, at)
            return
        is_volume = last.record.lifecycle is Lifecycle.VOLUME
        if is_there and is_volume and not self.options.delete_volumes:
            reason = f"moves from {at} without what it holds; needs --delete-volumes"
            yield removal_change(last, Decision(Action.REFUSED, reason, last.record.run, here))
            return
        if last.state is RunState.RUNNING and not (is_volume or self.options.replace_running):
            reason = (
                f"moves from {at}, but run {last.record.run} is running there; "
                "needs --replace-running"
            )
            refused = Decision(Action.REFUSED, reason, last.record.run, here)
            yield removal_change(last, refused)
            return
        if not is_there:  # it ended: the table decides, and what it starts, it starts here
            yield self._decided(prepared, placement, row, last)
            return
        reason = f"moves from {at} to {row.target.key}"
        yield removal_change(last, Decision(Action.DELETE, reason, last.record.run, here))
        following = self.world.highest_run(prepared.work.name) + 1
        arriving = Decision(Action.CREATE, reason, following, frozenset((None,)))
        yield self._rendered(prepared, placement, row, None, arriving)

    def _silent_for(
        self, prepared: Prepared, placement: Placement, last: ObservedRun | None
    ) -> dict[str, str]:
        """Targets of which nothing is known and that could hold this work, or are where it
        would go."""
        silent = self.world.silent
        if not silent:
            return {}
        if last is not None and placement.chosen and placement.chosen.target.key not in silent:
            return {}
        rows = placement.rows
        if self.options.only:
            # --target says where it may go, and nothing of where it is.
            rows = compiling.place_work(prepared, self.stack, Diagnostics()).rows
        possible = {row.target.key for row in rows if row.is_possible}
        return {key: reason for key, reason in silent.items() if key in possible}
