"""Changes of the set as a whole: work that is no longer wanted, and a target's own files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Deployer, Stack
from compiler.planning.changes import Preview, removal_change, work_change
from compiler.planning.outcomes import Action, Policy, decide, decide_removal
from compiler.planning.plan import WorkChange
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.planning.table import decide_unwanted
from compiler.rendering.artifact import Artifact
from compiler.source.reading import shown_path
from compiler.targets.interface import PreviewRefused
from compiler.targets.registry import merge_keys_of
from compiler.workflow import compile as compiling
from compiler.workflow.desired import PROJECT, project_of
from compiler.workflow.observe import World


def plan_removals(world: World, wanted: set[str], policy: Policy) -> Iterable[WorkChange]:
    """Works of the set that the input no longer has, on targets that were asked."""
    for key, run in world.runs():
        record = run.record
        if record.work in wanted or not is_declared(run) or not world.may_change(key):
            continue
        latest = world.observations[key].last_run(record.work)
        if run is not latest and run.state is not RunState.WRITTEN:
            continue
        if not record.files and not run.state.is_live:
            continue  # its objects are gone already
        yield removal_change(run, decide_unwanted(run, policy))


def with_projects(
    stack: Stack,
    world: World,
    changes: Sequence[WorkChange],
    policy: Policy,
    diagnostics: Diagnostics,
) -> list[WorkChange]:
    """The changes, and those of the files that belong to a target as a whole: there as long as
    any work is, or may come. An alternative that would be the first work on its target has them
    as its `needs`: they are written only if it comes to that."""
    may_come = {item.target for change in changes for item in change.alternatives}
    projects: list[WorkChange] = []
    needs: dict[str, tuple[WorkChange, ...]] = {}
    for key, observation in world.observations.items():
        if not world.may_change(key):
            continue
        artifacts = compiling.render_project(stack, stack.targets[key], diagnostics)
        if not artifacts:
            continue
        last = observation.last_run(PROJECT)
        if staying_works(observation, [item for item in changes if item.target == key]):
            projects.append(_project(stack, world, key, artifacts, policy, diagnostics))
        elif key in may_come:
            own = _project(stack, world, key, artifacts, policy, diagnostics)
            needs[key] = (own,) if own.action.changes else ()
        elif last is not None:
            projects.append(removal_change(last, decide_removal(last, policy)))

    def with_needs(item: WorkChange) -> WorkChange:
        return replace(item, needs=needs.get(item.target, ()))

    works = [
        replace(change, alternatives=tuple(map(with_needs, change.alternatives)))
        for change in changes
    ]
    return [*works, *projects]


def _project(
    stack: Stack,
    world: World,
    key: str,
    artifacts: tuple[Artifact, ...],
    policy: Policy,
    diagnostics: Diagnostics,
) -> WorkChange:
    """What becomes of a target's own files where they are wanted."""
    spec, last = stack.targets[key], world.observations[key].last_run(PROJECT)
    desired = project_of(stack, spec, artifacts)
    desired = replace(desired, preview=_preview_of(world, key, diagnostics))
    record = desired.record
    decision = decide(last, record.spec_digest, record.files_digest, 0, policy)
    return work_change(desired, last, decision, merge_keys_of(spec))


def _preview_of(
    world: World, key: str, diagnostics: Diagnostics
) -> Callable[[tuple[Artifact, ...]], Preview]:
    """Asks a deployer that can tell what other files of the target would change."""
    ask = getattr(world.deployers.get(key), "preview", None)

    def preview(artifacts: tuple[Artifact, ...]) -> Preview:
        if ask is None:
            return Preview()
        try:
            return ask(artifacts)
        except PreviewRefused as error:
            diagnostics.extend(error.diagnostics)
            return Preview()

    return preview


def left_behind(stack: Stack) -> Iterable[Diagnostic]:
    """Files of the set in its output folders that belong to no target of the stack any more."""
    from compiler.targets.directory import recorded_targets

    outs = {key: str(spec.options.get("out") or stack.out) for key, spec in stack.targets.items()}
    written = {
        (outs[key], key)
        for key, spec in stack.targets.items()
        if spec.deployer is Deployer.DIRECTORY
    }
    for out in sorted({stack.out, *outs.values()}):
        for key in recorded_targets(Path(out), stack.set_name):
            if (out, key) not in written:
                yield codes.TARGET_LEFT_BEHIND.at(
                    stack.origin.key_span("targets"),
                    f"set `{stack.set_name}` has files of target `{key}` in `{shown_path(out)}`, "
                    "which the stack does not write to",
                )


def is_declared(run: ObservedRun) -> bool:
    """Whether a run is of work that the set declared, and that is still there."""
    record = run.record
    is_work = not record.work.startswith("_")
    return is_work and not (record.ad_hoc or record.extra or record.outcome == REMOVED)


def staying_works(observation: Observation, changes: Sequence[WorkChange]) -> set[str]:
    """Works that are on a target after `changes`, its own files left out."""
    gone = {(item.work, item.run) for item in changes if item.action is Action.DELETE}
    arriving = {
        item.work for item in changes if item.action.changes and item.action is not Action.DELETE
    }
    there = {
        run.record.work
        for run in observation.runs
        if run.record.outcome != REMOVED and (run.record.work, run.record.run) not in gone
    }
    return (arriving | there) - {PROJECT}
