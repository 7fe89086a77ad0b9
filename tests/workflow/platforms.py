"""Platforms in memory, for what several targets have to agree on: they accept, refuse, are full,
away, or kill the apply at any point. What they remember outlives the deployers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

from compiler.diagnostics import LockHeld, PlanOutdated, TargetUnreachable, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.targets.interface import Capacity

TARGETS = {
    "alpha": {"kind": "slurm", "deployer": "ssh", "host": "alpha", "workdir": "/shared"},
    "beta": {"kind": "slurm", "deployer": "ssh", "host": "beta", "workdir": "/shared"},
    "eks": {"kind": "kubernetes", "deployer": "server-side-apply", "context": "eks"},
    "us-east-1": {"kind": "aws", "deployer": "pulumi", "files": {"bucket": "s3://b"}},
}


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


@dataclass
class Platform:
    """One target: its records, what runs, and how it behaves."""

    key: str
    refuses: str = ""
    keeps_no_trace: bool = False  # of what it refused
    starts: bool = False  # what it accepted
    away: bool = False
    free: dict[str, int] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    submitted: list[str] = field(default_factory=list)
    locked_by: str | None = None


@dataclass
class Platforms:
    """All of them; `step` is called at every point at which a kill can fall."""

    by_key: dict[str, Platform]
    step: Callable[[str], None] = lambda point: None

    def live(self) -> list[str]:
        return sorted(f"{key}/{run}" for key, item in self.by_key.items() for run in item.live)


class Deployer:
    """The contract of `compiler.targets.interface.Deployer`, in memory."""

    def __init__(self, platforms: Platforms, key: str) -> None:
        self.platforms = platforms
        self.platform = platforms.by_key[key]

    def _ask(self) -> Platform:
        if self.platform.away:
            raise TargetUnreachable(self.platform.key, "connection refused")
        return self.platform

    def close(self) -> None:
        """Nothing is held."""

    def observe(self, with_artifacts: bool = True) -> Observation:
        platform = self._ask()
        return Observation(
            platform.key,
            tuple(
                ObservedRun(record, self._state(record))
                for _, record in sorted(
                    platform.records.items(), key=lambda item: (item[1].work, item[1].run)
                )
            ),
        )

    def _state(self, record: Record) -> RunState:
        if record.run_key in self.platform.live:
            return RunState.RUNNING if self.platform.starts else RunState.PENDING
        if record.stage is Stage.INTENT:
            return RunState.PENDING
        return RunState.CANCELLED

    def capacity(self) -> Capacity:
        return Capacity(self._ask().free)

    def lock(self, holder: str) -> None:
        platform = self._ask()
        if platform.locked_by is not None:
            raise LockHeld(f"{platform.key} is locked by {platform.locked_by}")
        platform.locked_by = holder

    def unlock(self) -> None:
        self._ask().locked_by = None

    def create_all(self, steps, progress):
        """New works at once, as the deployer of Slurm has it."""
        for step in steps:
            try:
                yield step, self.execute(step, progress)
            except WorkFailed as error:
                yield step, error

    def execute(self, step, progress) -> Record:
        platform = self._ask()
        key = step.record.run_key
        if step.action == "delete":
            self.platforms.step(f"{platform.key}: before {key} is ended")
            there = platform.records.get(key, step.record)
            if step.previous is not None and self._state(there) is not step.previous.state:
                raise PlanOutdated([f"{key} is {self._state(there)}"])
            begun = dataclasses.replace(there, stage=Stage.INTENT, plan=step.record.plan)
            platform.records[key] = begun
            self.platforms.step(f"{platform.key}: before {key} is cancelled")
            platform.live.discard(key)
            self.platforms.step(f"{platform.key}: after {key} is cancelled")
            platform.records[key] = dataclasses.replace(
                begun, stage=Stage.ENDED, outcome=str(RunState.CANCELLED)
            )
            self.platforms.step(f"{platform.key}: before {key} is removed")
            ended = dataclasses.replace(platform.records[key], outcome=REMOVED)
            platform.records[key] = ended
            self.platforms.step(f"{platform.key}: after {key} is ended")
            return ended
        self.platforms.step(f"{platform.key}: before the intent of {key}")
        there = platform.records.get(key)
        if there is not None and there.plan != step.record.plan:
            raise PlanOutdated([f"run {step.record.run} is taken"])
        platform.records[key] = dataclasses.replace(step.record, stage=Stage.INTENT)
        self.platforms.step(f"{platform.key}: after the intent of {key}")
        if platform.refuses and platform.keeps_no_trace:
            del platform.records[key]
        if platform.refuses:
            raise WorkFailed(f"{platform.key}: {platform.refuses}")
        if key not in platform.live:
            platform.live.add(key)
            platform.submitted.append(key)
        self.platforms.step(f"{platform.key}: after {key} was submitted")
        created = dataclasses.replace(step.record, stage=Stage.CREATED, identity=f"id-{key}")
        platform.records[key] = created
        self.platforms.step(f"{platform.key}: after the record of {key}")
        return created


def runs(platforms: Platforms) -> list[str]:
    """The live runs of works, as `<target>/<work>.<run>`."""
    return [item for item in platforms.live() if "/_" not in item]
