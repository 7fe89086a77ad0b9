"""The outcome table of services and volumes, cell by cell."""

from dataclasses import replace

import pytest

from compiler.planning.outcomes import Action, Policy
from compiler.planning.records import Lifecycle, Stage
from compiler.planning.states import RunState
from compiler.planning.table import Wanted, decide_unwanted, decide_work
from tests.unit.test_outcomes import observed

S = RunState
RERUN = Policy(rerun=True)
DELETE = Policy(delete_volumes=True)
PLAIN = Policy()
SPEC = {"run": "1", "size": "2"}


def of(lifecycle, state, *, stage=Stage.CREATED, detail=""):
    seen = observed(state, run=1, detail=detail)
    record = replace(seen.record, lifecycle=lifecycle, stage=stage, spec=SPEC)
    return replace(seen, record=record)


def service(state, digest="a", files="f", policy=PLAIN, **more):
    last = of(Lifecycle.SERVICE, state, **more)
    wanted = Wanted(digest, files, SPEC, Lifecycle.SERVICE)
    return decide_work(last, wanted, 1, policy)


def volume(state, changed=(), updatable=("size",), policy=PLAIN, **more):
    last = of(Lifecycle.VOLUME, state, **more)
    spec = {**SPEC, **dict.fromkeys(changed, "new")}
    digest = "b" if changed else "a"
    wanted = Wanted(digest, "f", spec, Lifecycle.VOLUME, frozenset(updatable))
    return decide_work(last, wanted, 1, policy)


@pytest.mark.parametrize("lifecycle", [Lifecycle.SERVICE, Lifecycle.VOLUME])
def test_nothing_recorded_creates_run_1(lifecycle):
    decision = decide_work(None, Wanted("a", "f", SPEC, lifecycle), 0, Policy())
    assert (decision.action, decision.run, decision.rows) == (Action.CREATE, 1, {None})


SERVICES = [
    # state, digest, files, policy, action, words in the reason
    (S.PENDING, "a", "f", Policy(), Action.NOOP, "pending"),
    (S.PENDING, "b", "f", Policy(), Action.UPDATE, "the task changed: rolled out in place"),
    (S.RUNNING, "a", "f", Policy(), Action.NOOP, "running"),
    (S.RUNNING, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.RUNNING, "a", "g", Policy(), Action.UPDATE, "its files changed"),
    (S.RUNNING, "b", "g", Policy(), Action.UPDATE, "the task changed and its files changed"),
    (S.FAILED, "a", "f", Policy(), Action.SHOWN, "failed; again only with --rerun"),
    (S.FAILED, "a", "f", RERUN, Action.UPDATE, "asked for by --rerun"),
    (S.FAILED, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.CANCELLED, "a", "f", Policy(), Action.SHOWN, "cancelled"),
    (S.CANCELLED, "a", "f", RERUN, Action.UPDATE, "--rerun"),
    (S.CANCELLED, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.TIMED_OUT, "a", "f", Policy(), Action.SHOWN, "timed out"),
    (S.TIMED_OUT, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.SUCCEEDED, "a", "f", Policy(), Action.SHOWN, "succeeded"),
    (S.SUCCEEDED, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.VANISHED, "a", "f", Policy(), Action.UPDATE, "is gone: put back"),
    (S.VANISHED, "b", "f", Policy(), Action.UPDATE, "is gone: put back"),
    (S.UNKNOWN, "a", "f", Policy(), Action.UPDATE, "is not known: put back"),
    (S.UNKNOWN, "b", "f", Policy(), Action.UPDATE, "is not known: put back"),
    (S.WRITTEN, "a", "f", Policy(), Action.NOOP, "written"),
    (S.WRITTEN, "b", "f", Policy(), Action.UPDATE, "the task changed"),
    (S.WRITTEN, "a", "g", Policy(keep_runs=True), Action.UPDATE, "its files changed"),
]


@pytest.mark.parametrize(("state", "digest", "files", "policy", "action", "words"), SERVICES)
def test_service(state, digest, files, policy, action, words):
    decision = service(state, digest, files, policy)
    assert (decision.action, decision.run) == (action, 1)
    assert words in decision.reason
    assert state in decision.rows


def test_a_rolling_update_holds_whatever_becomes_of_the_service_meanwhile():
    assert {S.PENDING, S.RUNNING, S.FAILED, S.CANCELLED} <= service(S.RUNNING, "b").rows
    assert S.WRITTEN not in service(S.RUNNING, "b").rows


VOLUMES = [
    # state, changed fields, policy, action, words in the reason
    (S.PENDING, (), Policy(), Action.NOOP, "pending"),
    (S.PENDING, ("size",), Policy(), Action.UPDATE, "in place"),
    (S.PENDING, ("type",), Policy(), Action.REFUSED, "`type` changed"),
    (S.RUNNING, (), Policy(), Action.NOOP, "running"),
    (S.RUNNING, (), DELETE, Action.NOOP, "running"),
    (S.RUNNING, ("size",), Policy(), Action.UPDATE, "in place"),
    (S.RUNNING, ("size", "type"), Policy(), Action.REFUSED, "--delete-volumes makes it anew"),
    (S.RUNNING, ("type",), DELETE, Action.REPLACE, "deleted with what it holds"),
    (S.RUNNING, ("size",), DELETE, Action.UPDATE, "in place"),
    (S.FAILED, (), Policy(), Action.SHOWN, "made anew, and empty, only with --rerun"),
    (S.FAILED, ("size",), Policy(), Action.SHOWN, "only with --rerun"),
    (S.CANCELLED, (), Policy(), Action.SHOWN, "only with --rerun"),
    (S.TIMED_OUT, (), Policy(), Action.SHOWN, "only with --rerun"),
    (S.SUCCEEDED, (), Policy(), Action.SHOWN, "only with --rerun"),
    (S.VANISHED, (), Policy(), Action.SHOWN, "vanished; made anew, and empty, only with --rerun"),
    (S.VANISHED, ("type",), Policy(), Action.SHOWN, "only with --rerun"),
    (S.VANISHED, (), RERUN, Action.UPDATE, "made anew and empty (--rerun)"),
    (S.UNKNOWN, (), Policy(), Action.UNKNOWN, "is not known"),
    (S.UNKNOWN, (), RERUN, Action.UPDATE, "made anew and empty"),
    (S.WRITTEN, (), Policy(), Action.NOOP, "written"),
    (S.WRITTEN, ("size",), Policy(), Action.UPDATE, "in place"),
    (S.WRITTEN, ("type",), Policy(), Action.REFUSED, "--delete-volumes"),
    (S.WRITTEN, ("type",), DELETE, Action.UPDATE, "made anew (--delete-volumes)"),
]


@pytest.mark.parametrize(("state", "changed", "policy", "action", "words"), VOLUMES)
def test_volume(state, changed, policy, action, words):
    decision = volume(state, changed, policy=policy)
    assert (decision.action, decision.run) == (action, 1)
    assert words in decision.reason
    assert state in decision.rows


def test_the_fields_that_stay_are_named_and_no_others():
    decision = volume(S.RUNNING, ("size", "type", "config.access_mode"))
    assert "`config.access_mode`, `type` changed" in decision.reason
    assert "size" not in decision.reason


@pytest.mark.parametrize("lifecycle", [Lifecycle.SERVICE, Lifecycle.VOLUME])
def test_what_an_apply_left_half_written_is_written_anew(lifecycle):
    last = of(lifecycle, S.WRITTEN, stage=Stage.INTENT)
    decision = decide_work(last, Wanted("a", "f", SPEC, lifecycle), 1, Policy())
    assert (decision.action, decision.run) == (Action.UPDATE, 1)


TURNED = [
    # was, state, is, policy, action, run, words
    ("run", S.RUNNING, "service", Policy(), Action.REFUSED, 1, "needs --replace-running"),
    ("run", S.RUNNING, "service", Policy(replace_running=True), Action.REPLACE, 6, "is a service"),
    ("run", S.PENDING, "service", Policy(), Action.REPLACE, 6, "was a task, is a service now"),
    ("run", S.SUCCEEDED, "service", Policy(), Action.CREATE, 6, "was a task"),
    ("run", S.UNKNOWN, "service", Policy(), Action.UNKNOWN, 1, "needs --rerun"),
    ("run", S.UNKNOWN, "service", RERUN, Action.CREATE, 6, "was a task"),
    ("run", S.WRITTEN, "volume", Policy(), Action.UPDATE, 1, "is a volume now"),
    ("service", S.RUNNING, "run", Policy(), Action.REFUSED, 1, "needs --replace-running"),
    ("service", S.VANISHED, "run", Policy(), Action.CREATE, 6, "was a service"),
    ("volume", S.RUNNING, "run", Policy(replace_running=True), Action.REFUSED, 1, "delete-volumes"),
    ("volume", S.WRITTEN, "service", Policy(), Action.REFUSED, 1, "needs --delete-volumes"),
    ("volume", S.WRITTEN, "service", DELETE, Action.UPDATE, 1, "was a volume"),
]


@pytest.mark.parametrize(("was", "state", "now", "policy", "action", "run", "words"), TURNED)
def test_a_name_that_changes_its_kind(was, state, now, policy, action, run, words):
    wanted = Wanted("b", "f", SPEC, Lifecycle(now))
    decision = decide_work(of(Lifecycle(was), state), wanted, 5, policy)
    assert (decision.action, decision.run) == (action, run)
    assert words in decision.reason
    assert decision.rows == {state}


REMOVALS = [
    ("service", S.RUNNING, Policy(), Action.REFUSED, "needs --replace-running"),
    ("service", S.RUNNING, Policy(replace_running=True), Action.DELETE, "it is removed"),
    ("service", S.PENDING, Policy(), Action.DELETE, "it is removed"),
    ("service", S.UNKNOWN, Policy(), Action.UNKNOWN, "not known"),
    ("service", S.WRITTEN, Policy(), Action.DELETE, "its files are removed"),
    ("volume", S.RUNNING, Policy(replace_running=True), Action.NOOP, "kept with what it holds"),
    ("volume", S.RUNNING, DELETE, Action.DELETE, "deleted with what it holds"),
    ("volume", S.WRITTEN, Policy(), Action.NOOP, "--delete-volumes removes it"),
    ("volume", S.WRITTEN, DELETE, Action.DELETE, "its files are removed"),
    ("volume", S.VANISHED, Policy(), Action.NOOP, "kept"),
    ("run", S.RUNNING, Policy(), Action.REFUSED, "needs --replace-running"),
]


@pytest.mark.parametrize(("lifecycle", "state", "policy", "action", "words"), REMOVALS)
def test_removal(lifecycle, state, policy, action, words):
    decision = decide_unwanted(of(Lifecycle(lifecycle), state), policy)
    assert decision.action is action
    assert words in decision.reason
    assert state in decision.rows
