"""Looking at a set on AWS: every run, what has ended since, and what has drifted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.plan import ObjectChange
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.targets.aws.deployer import volume_state as volumes
from compiler.targets.aws.deployer.nodes import nodes_of
from compiler.targets.aws.deployer.project import PROJECT_KEY, relative
from compiler.targets.aws.deployer.records import Program, StoredRecord
from compiler.targets.aws.deployer.site import Site
from compiler.targets.aws.deployer.states import Facts, Node, Verdict, classify, is_cancelling
from compiler.targets.pulumi.changes import object_change
from compiler.targets.pulumi.steps import ResourceStep


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: what is stored, the record as it should be now, and the verdict."""

    stored: StoredRecord
    record: Record
    verdict: Verdict
    nodes: Sequence[Node] = ()

    @property
    def is_project(self) -> bool:
        return self.record.run_key == PROJECT_KEY

    @property
    def is_wanted(self) -> bool:
        """Whether the engine shall keep what it made for the run, or still knows the volume: one
        that is gone is in the programs of what mounts it, and made anew by its own step alone."""
        if self.record.lifecycle is Lifecycle.VOLUME:
            return self.verdict.submitted and self.record.outcome != REMOVED
        is_live = self.verdict.state.is_live and not self.is_project
        return is_live and not is_cancelling(self.record)


def observation(site: Site, *, artifacts: bool) -> Observation:
    """What the workflow is told; what has ended is written down on the way.

    With `artifacts` also the stored texts, and the engine is asked what has drifted.
    """
    seen = look(site)
    settle(site, seen)
    programs = site.store.programs() if artifacts else {}
    drifted = _drifted(site, seen, programs) if artifacts else {}
    return Observation(site.target, tuple(_observed(item, programs, drifted) for item in seen))


def look(site: Site, only: str | None = None) -> list[Seen]:
    """All runs in the order (work, run), or the one with the run key `only`."""
    if only is None:
        stored = site.store.all()
    else:
        found = site.store.find(only)
        stored = [found] if found else []
    is_open = {
        item.record.run_key
        for item in stored
        if item.record.stage is not Stage.ENDED and item.record.run_key != PROJECT_KEY
    }
    # EC2 is asked before the outcomes are read: a node writes its outcome before it goes.
    nodes = nodes_of(site.account, site.owner) if is_open else {}
    with_program = site.store.program_keys() if is_open else set()
    return [_seen(site, item, is_open, nodes, with_program) for item in stored]


def settle(site: Site, seen: Iterable[Seen]) -> None:
    """Write down what has ended. Whoever may only read goes on without."""
    for item in seen:
        if not item.verdict.submitted or item.record == item.stored.record:
            continue
        try:
            site.store.write(item.stored, item.record)
        except PlanOutdated:
            continue  # somebody else was faster
        except WorkFailed as error:
            if "AccessDenied" not in str(error):
                raise
            return


def live_programs(seen: Iterable[Seen], programs: Mapping[str, Program]) -> dict[str, Program]:
    """The programs of runs that are wanted, by job name: of those that have not ended, nor are
    being cancelled."""
    return {
        item.record.name: programs[item.record.run_key]
        for item in seen
        if item.is_wanted and item.record.run_key in programs
    }


def _seen(
    site: Site,
    stored: StoredRecord,
    is_open: set[str],
    nodes: Mapping[str, list[Node]] | None,
    with_program: set[str],
) -> Seen:
    record = stored.record
    key = record.run_key
    if key == PROJECT_KEY:
        return Seen(stored, record, Verdict(RunState.WRITTEN))
    if key not in is_open:
        return Seen(stored, record, classify(record, Facts()))
    if record.lifecycle is Lifecycle.VOLUME:
        verdict = volumes.verdict(site.account, record, has_program=key in with_program)
        return Seen(stored, _as_it_should_be(record, verdict), verdict)
    prefix = site.store.run_prefix(record)
    own = None if nodes is None else nodes.get(key, [])
    if own is not None and record.identity is not None:
        ids = record.identity.split(",")
        own = [node for node in own if node.id in ids]
    outcome = site.store.bucket.find(f"{prefix}outcome.json")
    facts = Facts(
        outcome=outcome.text if outcome else None,
        beats=_beats(site, prefix),
        nodes=own,
        has_program=key in with_program,
        age=stored.age,
    )
    verdict = classify(record, facts)
    return Seen(stored, _as_it_should_be(record, verdict), verdict, own or ())


def _beats(site: Site, prefix: str) -> list[int]:
    """Ranks that were heard of."""
    names = (key.rpartition("/")[2] for key in site.store.bucket.keys(f"{prefix}state/"))
    return [int(name.partition(".")[0]) for name in names if name.endswith(".alive")]


def _as_it_should_be(record: Record, verdict: Verdict) -> Record:
    if record.stage is Stage.ENDED:
        return record
    if not verdict.submitted:
        # Nothing but its number is taken; the plan that took it may go on with it.
        return dataclasses.replace(record, outcome=REMOVED)
    if record.stage is Stage.INTENT and record.identity is not None:
        return record  # it is being removed: whoever began that comes back for it
    if verdict.final:
        return dataclasses.replace(
            record, stage=Stage.ENDED, outcome=str(verdict.state), exit_code=verdict.exit_code
        )
    return record


def _drifted(
    site: Site, seen: Sequence[Seen], programs: Mapping[str, Program]
) -> dict[str, tuple[ObjectChange, ...]]:
    """By job name, what the engine would change about live runs although nobody asked."""
    project = programs.get(PROJECT_KEY)
    live = live_programs(seen, programs)
    if project is None or not live:
        return {}
    with site.engine(project.files, live) as engine:
        steps = engine.preview(refresh=True).steps
        owners = {engine.urn_of(*item.urn_in(name)): name for name, item in live.items()}
    found: dict[str, list[ResourceStep]] = {}
    for step in steps:
        owner = owners.get(step.urn) or owners.get(step.parent)
        if owner is not None and not step.is_component:
            found.setdefault(owner, []).append(step)
    return {
        name: tuple(object_change(f"aws/{site.target}", step) for step in steps)
        for name, steps in found.items()
    }


def _observed(
    item: Seen,
    programs: Mapping[str, Program],
    drifted: Mapping[str, tuple[ObjectChange, ...]],
) -> ObservedRun:
    record, verdict = item.record, item.verdict
    program = programs.get(record.run_key)
    texts = {}
    if program is not None:
        texts = {
            path: program.files[relative(path)]
            for path in record.files
            if relative(path) in program.files
        }
    return ObservedRun(
        record=record,
        state=verdict.state,
        detail=verdict.detail,
        exit_code=verdict.exit_code,
        artifacts=texts,
        drifted=drifted.get(record.name, ()) if verdict.state.is_live else (),
    )
