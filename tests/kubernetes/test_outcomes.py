"""The outcome table on a real API server: each state of the last run, with each digest.

A set holds one work for every row. It is brought into these states once, and then a column of
the table is applied to all rows at once; a test looks at one cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.workflow import RunStatus
from tests.command_line import Output
from tests.kubernetes import outcome_rows as rows
from tests.kubernetes.outcome_rows import ENDED_ROWS, PENDING_ROWS, UNSUCCESSFUL
from tests.kubernetes.project import Project
from tests.kubernetes_site import KubernetesSite

pytestmark = pytest.mark.kubernetes

ALL = {**PENDING_ROWS, "running": rows.RUNNING, **ENDED_ROWS}


@dataclass(frozen=True)
class Column:
    """One apply of all rows: what was planned, what it said, and the runs afterwards."""

    planned: Mapping[str, WorkChange]
    output: Output
    after: Mapping[tuple[str, int], RunStatus]


@dataclass(frozen=True)
class Table:
    states: Mapping[tuple[str, int], RunStatus]
    same: Column
    new: Column
    rerun: Mapping[str, WorkChange]
    replaced: Column
    jobs: set[str]


@pytest.fixture(scope="module")
def table(
    kubernetes_site: KubernetesSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Table]:
    project = Project(kubernetes_site, tmp_path_factory.mktemp("table"), "table", real=True)
    rows.bring(project, ALL)
    states = project.runs()
    same = Column(project.plan(), project.apply(), project.runs())
    rerun = project.plan(rerun=True)
    rows.write(project, ALL, extra="\necho again")
    planned = project.plan()
    # one cell of the column is refused, and that is exit code 1
    new = Column(planned, project.apply(code=1), project.runs())
    planned = project.plan(replace_running=True)
    replaced = Column(planned, project.apply("--replace-running"), project.runs())
    yield Table(states, same, new, rerun, replaced, project.jobs())
    project.clean()


@pytest.mark.parametrize("name", ALL)
def test_status_tells_the_state_in_the_platforms_words(table: Table, name: str):
    found = table.states[(name, 1)]
    row = ALL[name]
    assert found.state is row.state
    if found.state.is_live:
        assert row.detail in found.detail
    if row.exit_code is not None:
        assert found.exit_code == row.exit_code


@pytest.mark.parametrize("name", [*PENDING_ROWS, "running"])
def test_live_with_the_same_digest_is_left_alone(table: Table, name: str):
    assert table.same.planned[name].action is Action.NOOP
    assert table.same.after[(name, 1)].identity == table.states[(name, 1)].identity
    assert (name, 2) not in table.same.after


@pytest.mark.parametrize("name", ["succeeded", "expired"])
def test_succeeded_with_the_same_digest_is_done(table: Table, name: str):
    assert table.same.planned[name].action is Action.DONE
    assert (name, 2) not in table.same.after


@pytest.mark.parametrize("name", UNSUCCESSFUL)
def test_ended_otherwise_is_shown_and_runs_again_only_when_asked(table: Table, name: str):
    assert table.same.planned[name].action is Action.SHOWN
    assert (name, 2) not in table.same.after
    assert table.rerun[name].action is Action.CREATE
    assert table.rerun[name].run == 2


def test_waiting_with_a_new_digest_is_changed_in_place(table: Table):
    change = table.new.planned["suspended"]
    assert (change.action, change.run) == (Action.UPDATE, 1)
    assert "still pending" in change.reason
    found = table.new.after[("suspended", 1)]
    assert (found.state, found.identity) == ("pending", table.states[("suspended", 1)].identity)
    assert ("suspended", 2) not in table.new.after


def test_begun_but_pending_with_a_new_digest_is_replaced(table: Table):
    change = table.new.planned["no-image"]
    assert change.action is Action.REPLACE
    assert "still pending" in change.reason
    assert table.new.after[("no-image", 1)].state == "cancelled"
    assert ("no-image", 2) in table.new.after


def test_running_with_a_new_digest_is_refused(table: Table):
    change = table.new.planned["running"]
    assert change.action is Action.REFUSED
    assert "--replace-running" in change.reason
    assert table.new.after[("running", 1)].state == "running"
    assert ("running", 2) not in table.new.after


def test_running_is_replaced_when_asked(table: Table):
    assert table.replaced.planned["running"].action is Action.REPLACE
    assert table.replaced.after[("running", 1)].state == "cancelled"
    assert ("running", 2) in table.replaced.after
    assert "running-1" not in table.jobs
    assert "running-2" in table.jobs


@pytest.mark.parametrize("name", ENDED_ROWS)
def test_ended_with_a_new_digest_runs_again(table: Table, name: str):
    assert table.new.planned[name].action is Action.CREATE
    assert table.new.planned[name].run == 2
    assert (name, 2) in table.new.after
    before = table.states[(name, 1)]
    assert table.new.after[(name, 1)].state is before.state


@pytest.mark.parametrize("name", ENDED_ROWS)
def test_nothing_is_started_twice(table: Table, name: str):
    assert [run for work, run in table.replaced.after if work == name] == [1, 2]
