"""What an apply does about work that does not end: services and volumes.

They are resources more than runs: what changed is changed in place, so they keep the number of
their first run. A service that is gone is put back; a volume that is gone took its data with
it, so that an empty one in its place is never made unasked. Like `outcomes`, this knows no
platform: the rows are the states of what is recorded, the columns the digests.
"""

from __future__ import annotations

from collections.abc import Sequence

from compiler.planning.outcomes import Action, Decision, Policy
from compiler.planning.records import Lifecycle, Stage
from compiler.planning.states import ObservedRun, RunState

_LIVE = frozenset((RunState.PENDING, RunState.RUNNING))
_STOPPED = frozenset((RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED, RunState.TIMED_OUT))
_GONE = frozenset((RunState.VANISHED, RunState.UNKNOWN))


def decide_service(
    last: ObservedRun | None,
    spec_digest: str,
    files_digest: str,
    highest_run: int,
    policy: Policy,
) -> Decision:
    """The cell of the table for a service, which rolls when its task or its files change."""
    if last is None:
        return _first(highest_run)
    record, state = last.record, last.state
    here = frozenset((state,))
    if state is RunState.WRITTEN and record.stage is Stage.INTENT:
        return Decision(Action.UPDATE, "the apply that wrote it did not finish", record.run, here)
    if state in _GONE:
        known = "what became of it is not known" if state is RunState.UNKNOWN else "is gone"
        return Decision(Action.UPDATE, f"{known}{_detail(last)}: put back", record.run, _GONE)
    changed = _changed(last, spec_digest, files_digest)
    rows = here if state is RunState.WRITTEN else _LIVE | _STOPPED
    if changed:
        return Decision(Action.UPDATE, f"{changed}: rolled out in place", record.run, rows)
    if state not in _STOPPED:
        rows = here if state is RunState.WRITTEN else _LIVE
        return Decision(Action.NOOP, f"{state}{_detail(last)}", record.run, rows)
    if policy.rerun:
        return Decision(Action.UPDATE, f"{state}; asked for by --rerun", record.run, _STOPPED)
    reason = f"{state}{_detail(last)}; again only with --rerun"
    return Decision(Action.SHOWN, reason, record.run, _STOPPED)


def decide_volume(
    last: ObservedRun | None,
    spec_digest: str,
    fixed: Sequence[str],
    highest_run: int,
    policy: Policy,
) -> Decision:
    """The cell of the table for a volume.

    `fixed` are those of its changed fields that the platform cannot change while the volume is
    there: they are refused, as the only other way is to lose what it holds.
    """
    if last is None:
        return _first(highest_run)
    record, state = last.record, last.state
    here = frozenset((state,))
    if state is RunState.WRITTEN and record.stage is Stage.INTENT:
        return Decision(Action.UPDATE, "the apply that wrote it did not finish", record.run, here)
    if state in _GONE | _STOPPED:
        what = "what became of it is not known" if state is RunState.UNKNOWN else str(state)
        if policy.rerun:
            reason = f"{what}; made anew and empty (--rerun)"
            return Decision(Action.UPDATE, reason, record.run, here)
        action = Action.UNKNOWN if state is RunState.UNKNOWN else Action.SHOWN
        reason = f"{what}{_detail(last)}; made anew, and empty, only with --rerun"
        return Decision(action, reason, record.run, here)
    rows = here if state is RunState.WRITTEN else _LIVE
    if spec_digest.startswith(record.spec_digest):
        return Decision(Action.NOOP, f"{state}{_detail(last)}", record.run, rows)
    if not fixed:
        return Decision(Action.UPDATE, "the volume changed: in place", record.run, rows)
    named = ", ".join(f"`{field}`" for field in fixed)
    if policy.delete_volumes:
        action = Action.UPDATE if state is RunState.WRITTEN else Action.REPLACE
        reason = f"{named} changed: deleted with what it holds, and made anew (--delete-volumes)"
        return Decision(action, reason, record.run, rows)
    reason = (
        f"{named} changed, which cannot be done in place; --delete-volumes makes it anew, "
        "without what it holds"
    )
    return Decision(Action.REFUSED, reason, record.run, rows)


def decide_turned(
    last: ObservedRun, wanted: Lifecycle, highest_run: int, policy: Policy
) -> Decision:
    """The name was that of another kind of work: a task became a service, say."""
    record, state = last.record, last.state
    here = frozenset((state,))
    reason = f"was {CALLED[record.lifecycle]}, is {CALLED[wanted]} now"
    if record.lifecycle is Lifecycle.VOLUME and not policy.delete_volumes:
        return Decision(Action.REFUSED, f"{reason}; needs --delete-volumes", record.run, here)
    if state is RunState.WRITTEN:
        return Decision(Action.UPDATE, reason, record.run, here)
    if state is RunState.UNKNOWN and not policy.rerun:
        reason += "; what became of the first is not known, needs --rerun"
        return Decision(Action.UNKNOWN, reason, record.run, here)
    if not state.is_live:
        return Decision(Action.CREATE, reason, highest_run + 1, here)
    if state is RunState.RUNNING and not policy.replace_running:
        return Decision(Action.REFUSED, f"{reason}; needs --replace-running", record.run, here)
    return Decision(Action.REPLACE, reason, highest_run + 1, here)


def decide_lasting_removal(last: ObservedRun, policy: Policy) -> Decision:
    """What becomes of a service or a volume that is no longer in the set."""
    run, here = last.record.run, frozenset((last.state,))
    if last.record.lifecycle is Lifecycle.VOLUME and not policy.delete_volumes:
        reason = "no longer in the set; kept with what it holds (--delete-volumes removes it)"
        return Decision(Action.NOOP, reason, run, frozenset(RunState))
    if last.record.lifecycle is Lifecycle.SERVICE:
        if last.state is RunState.RUNNING and not policy.replace_running:
            reason = "no longer in the set, but it is running; needs --replace-running"
            return Decision(Action.REFUSED, reason, run, here)
        if last.state is RunState.UNKNOWN:
            reason = "no longer in the set; what became of it is not known"
            return Decision(Action.UNKNOWN, reason, run, here)
    what = "its files are removed" if last.state is RunState.WRITTEN else "it is removed"
    if last.record.lifecycle is Lifecycle.VOLUME and last.state is not RunState.WRITTEN:
        what = "it is deleted with what it holds (--delete-volumes)"
    return Decision(Action.DELETE, f"no longer in the set; {what}", run, here)


CALLED = {Lifecycle.RUN: "a task", Lifecycle.SERVICE: "a service", Lifecycle.VOLUME: "a volume"}


def _first(highest_run: int) -> Decision:
    return Decision(Action.CREATE, "nothing is recorded", highest_run + 1, frozenset((None,)))


def _changed(last: ObservedRun, spec_digest: str, files_digest: str) -> str:
    """What changed, in words; empty where nothing did."""
    changed = []
    if not spec_digest.startswith(last.record.spec_digest):
        changed.append("the task changed")
    if last.record.files_digest not in ("", files_digest):
        changed.append("its files changed")
    return " and ".join(changed)


def _detail(last: ObservedRun) -> str:
    return f" ({last.detail})" if last.detail else ""
