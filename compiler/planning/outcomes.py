"""The outcome table: what an apply does about work, given what became of its last run.

One row per state of the last run, one column per digest (same or new). This module is the
table and nothing else; it knows no platform.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from compiler.planning.records import Stage
from compiler.planning.states import ObservedRun, RunState


class Action(enum.StrEnum):
    """What happens to an object or a work. The last five change nothing."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    NOOP = "no-op"
    DONE = "done"
    SHOWN = "shown"  # ended without success; again only with --rerun or another digest
    REFUSED = "refused"
    UNKNOWN = "unknown"

    @property
    def changes(self) -> bool:
        return self in (Action.CREATE, Action.UPDATE, Action.REPLACE, Action.DELETE)


@dataclass(frozen=True, slots=True)
class Policy:
    """The flags that move cells of the table.

    `can_update` says whether the platform can change this pending run in place;
    `keep_runs` is the GitOps form: another digest is another run, files of earlier ones stay.
    `delete_volumes` lets volumes go, with what they hold.
    """

    rerun: bool = False
    replace_running: bool = False
    on_files_change: str = "ignore"
    can_update: bool = False
    keep_runs: bool = False
    delete_volumes: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, why, as which run, and in which states of the last run that stays right.

    `run` is the number that the artifacts are rendered for. `rows` are the states in which
    the same decision would be taken: a saved plan applies while the live state is in one.
    """

    action: Action
    reason: str
    run: int
    rows: frozenset[RunState | None]
    note: str = ""


_UNSUCCESSFUL = frozenset(
    (RunState.FAILED, RunState.CANCELLED, RunState.TIMED_OUT, RunState.VANISHED)
)
_ENDED = _UNSUCCESSFUL | {RunState.SUCCEEDED}


def decide(
    last: ObservedRun | None,
    spec_digest: str,
    files_digest: str,
    highest_run: int,
    policy: Policy,
) -> Decision:
    """The cell of the table for this work."""
    following = highest_run + 1
    if last is None:
        return Decision(Action.CREATE, "no run is recorded", following, frozenset((None,)))
    record, state = last.record, last.state
    # Of a run whose record is lost the platform keeps the beginning of its digest at most.
    files_differ = record.files_digest not in ("", files_digest)
    new_spec = not spec_digest.startswith(record.spec_digest)
    new = new_spec or (files_differ and policy.on_files_change == "run")
    note = ""
    if files_differ and not new:
        note = "its files changed; that alone starts nothing (on_files_change: ignore)"
    what = "the task changed" if new_spec else "its files changed (on_files_change: run)"
    detail = f" ({last.detail})" if last.detail else ""
    here = frozenset((state,))

    if state is RunState.UNKNOWN:
        if policy.rerun:
            return Decision(Action.CREATE, "asked for by --rerun", following, here)
        reason = f"what became of run {record.run} is not known{detail}; needs --rerun"
        return Decision(Action.UNKNOWN, reason, record.run, here, note)

    if state is RunState.WRITTEN:
        if record.stage is Stage.INTENT:
            reason = f"the apply that wrote run {record.run} did not finish"
            return Decision(Action.UPDATE, reason, record.run, here)
        if not new:
            return Decision(Action.NOOP, "written, same digest", record.run, here, note)
        if policy.keep_runs:
            return Decision(Action.CREATE, f"{what}: one run more", following, here)
        return Decision(Action.UPDATE, what, record.run, here)

    if state is RunState.PENDING:
        if not new:
            live = here | {RunState.RUNNING} | _ENDED  # it may well start before the apply
            return Decision(Action.NOOP, f"pending{detail}", record.run, live, note)
        if policy.can_update:
            return Decision(Action.UPDATE, f"{what}; still pending{detail}", record.run, here)
        lost = ""
        if last.waiting_seconds:
            lost = f"; loses {_age(last.waiting_seconds)} of age in the queue"
        return Decision(Action.REPLACE, f"{what}; still pending{detail}{lost}", following, here)

    if state is RunState.RUNNING:
        if not new:
            return Decision(Action.NOOP, f"running{detail}", record.run, here | _ENDED, note)
        if policy.replace_running:
            reason = f"{what}; the running one is ended (--replace-running)"
            return Decision(Action.REPLACE, reason, following, here)
        reason = f"{what}, but run {record.run} is running; needs --replace-running"
        return Decision(Action.REFUSED, reason, record.run, here)

    if new:
        return Decision(Action.CREATE, f"{what}; run {record.run} {state}", following, _ENDED)
    if state is RunState.SUCCEEDED:
        return Decision(Action.DONE, f"run {record.run} succeeded", record.run, here, note)
    if policy.rerun:
        reason = f"run {record.run} {_ended(last)}; asked for by --rerun"
        return Decision(Action.CREATE, reason, following, _UNSUCCESSFUL)
    reason = f"run {record.run} {_ended(last)}; again only with --rerun"
    return Decision(Action.SHOWN, reason, record.run, _UNSUCCESSFUL, note)


def decide_removal(last: ObservedRun, policy: Policy) -> Decision:
    """What becomes of work that is no longer in the set."""
    run = last.record.run
    here = frozenset((last.state,))
    if last.state is RunState.RUNNING and not policy.replace_running:
        reason = f"no longer in the set, but run {run} is running; needs --replace-running"
        return Decision(Action.REFUSED, reason, run, here)
    if last.state in _ENDED:
        reason = f"no longer in the set; run {run} {_ended(last)}, its record stays"
        return Decision(Action.DELETE, reason, run, _ENDED)
    if last.state is RunState.UNKNOWN:
        reason = f"no longer in the set; what became of run {run} is not known"
        return Decision(Action.UNKNOWN, reason, run, here)
    what = {
        RunState.PENDING: "its pending run is cancelled",
        RunState.RUNNING: "its running run is ended (--replace-running)",
        RunState.WRITTEN: "its files are removed",
    }[last.state]
    return Decision(Action.DELETE, f"no longer in the set; {what}", run, here)


def _ended(last: ObservedRun) -> str:
    if last.state is RunState.FAILED and last.exit_code is not None:
        return f"failed with exit code {last.exit_code}"
    return str(last.state)


def _age(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    minutes = rest // 60
    if hours:
        return f"{hours}h{minutes:02d}m"
    return f"{minutes}m" if minutes else f"{seconds}s"
