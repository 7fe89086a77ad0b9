"""What can have become of a run, in terms that hold on every platform."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compiler.planning.records import Record

if TYPE_CHECKING:
    from compiler.planning.plan import ObjectChange

# The outcome of a record whose files were retired: it only keeps the run's number taken.
REMOVED = "removed"


class RunState(enum.StrEnum):
    """PENDING covers queued, held, suspended and requeued; WRITTEN is the directory's only one.

    VANISHED: it was there and the platform no longer knows what became of it, but something
    shows that it did start. UNKNOWN: record and accounting are both lost.
    """

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed out"
    VANISHED = "vanished"
    UNKNOWN = "unknown"
    WRITTEN = "written"

    @property
    def is_live(self) -> bool:
        return self in (RunState.PENDING, RunState.RUNNING)

    @property
    def is_unsuccessful(self) -> bool:
        return self in (
            RunState.FAILED,
            RunState.CANCELLED,
            RunState.TIMED_OUT,
            RunState.VANISHED,
        )


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A recorded run and what its platform says of it now.

    `detail` is the platform's own word (a waiting reason, a state's name); `waiting_seconds`
    the age in the queue that a replacement would lose; `artifacts` the live texts by path
    (what runs, or lies in the directory), as far as the platform still has them; `fields`
    the live values that the platform can change on a pending run; `heals` says that what was
    changed by hand on the live objects can be put back while the run goes on; `drifted` are
    the changes that would do so, where the platform itself finds them out.
    """

    record: Record
    state: RunState
    detail: str = ""
    exit_code: int | None = None
    waiting_seconds: int | None = None
    artifacts: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    heals: bool = False
    drifted: tuple[ObjectChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """Everything of one set on one target. `runs` in the order (work, run)."""

    target: str
    runs: tuple[ObservedRun, ...]
    _by_work: Mapping[str, list[ObservedRun]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_work: dict[str, list[ObservedRun]] = {}
        for run in self.runs:
            by_work.setdefault(run.record.work, []).append(run)
        object.__setattr__(self, "_by_work", by_work)

    def last_run(self, work: str) -> ObservedRun | None:
        """The latest declared run of a work (numbered runs of `triplane run` do not count)."""
        declared = [
            run
            for run in self.of_work(work)
            if not run.record.extra and run.record.outcome != REMOVED
        ]
        return declared[-1] if declared else None

    def of_work(self, work: str) -> list[ObservedRun]:
        return list(self._by_work.get(work, ()))

    def highest_run(self, work: str) -> int:
        """The highest number ever given out for this work, 0 if none."""
        return max((run.record.run for run in self.of_work(work)), default=0)
