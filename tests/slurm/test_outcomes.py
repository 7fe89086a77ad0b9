"""The outcome table on a real slurmctld: each state of the last run, with each digest.

A set holds one work for every row. It is brought into these states once, and then a column of
the table is applied to all rows at once; a test looks at one cell.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.states import RunState
from compiler.workflow import RunStatus
from tests.command_line import PROGRAM, Output
from tests.slurm import outcome_rows as rows
from tests.slurm.outcome_rows import ENDED_ROWS, PENDING_ROWS
from tests.slurm.project import Project
from tests.slurm.upgrade import upgraded_tool
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

SAME = {**PENDING_ROWS, "running": rows.RUNNING, **ENDED_ROWS}
# Of pending work it makes a difference what is new.
NEW_TIME = {f"{name}-time": PENDING_ROWS[name] for name in ("queued", "held", "requeued")}
NEW_TEXT = {
    f"{name}-text": PENDING_ROWS[name] for name in ("queued", "held", "requeue-held", "suspended")
}
SUSPENDED_TIME = {"suspended-time": rows.SUSPENDED}
NEW = {**NEW_TIME, **NEW_TEXT, **SUSPENDED_TIME, "running": rows.RUNNING, **ENDED_ROWS}

UNSUCCESSFUL = ("failed", "cancelled-waiting", "cancelled-running", "timed-out")


@dataclass(frozen=True)
class Column:
    """One apply of all rows: what was planned, what it said, and what there was around it."""

    planned: Mapping[str, WorkChange]
    output: Output
    before: Mapping[tuple[str, int], RunStatus]
    after: Mapping[tuple[str, int], RunStatus]

    def started(self) -> set[tuple[str, int]]:
        """The runs that this apply made."""
        return set(self.after) - set(self.before)

    def identities(self, work: str) -> list[str | None]:
        return [run.identity for (name, _), run in sorted(self.after.items()) if name == work]


@dataclass(frozen=True)
class Table:
    """The columns, and every job there is afterwards as `<work>.<run>`."""

    same: Column
    upgraded: Mapping[str, str]
    rerun: Column
    new: Column
    new_with_rerun: Mapping[str, WorkChange]
    replaced: Column
    same_jobs: list[str]
    new_jobs: list[str]
    new_project: Project


@pytest.fixture(scope="module")
def table(slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    same = Project(slurm_site, tmp_path_factory.mktemp("outcomes"), "same")
    new = Project(slurm_site, tmp_path_factory.mktemp("outcomes"), "new")
    try:
        same.batch("--gres=gpu:a100:4", "--partition=gpu", "--cpus-per-task=1", "--mem=1G")
        rows.bring_about({same: SAME, new: NEW})
        same.task("none")
        column_same = apply(same)
        upgraded = plan_with(upgraded_tool(tmp_path_factory.mktemp("tool")), same)
        column_rerun = apply(same, "--rerun")

        rows.write(new, {**NEW_TIME, **SUSPENDED_TIME}, minutes=90)
        other = {**NEW_TEXT, "running": rows.RUNNING, **ENDED_ROWS}
        rows.write(new, other, more="\n: another")
        new.task("none")
        new_with_rerun = new.plan(rerun=True)
        column_new = apply(new, code=1)
        column_replaced = apply(new, "--replace-running")
        yield Table(
            column_same,
            upgraded,
            column_rerun,
            column_new,
            new_with_rerun,
            column_replaced,
            same.runs_submitted(),
            new.runs_submitted(),
            new,
        )
    finally:
        same.clean()
        new.clean()


def apply(project: Project, *flags: str, code: int = 0) -> Column:
    before = project.runs()
    planned = project.plan(**{flag.strip("-").replace("-", "_"): True for flag in flags})
    output = project.apply(*flags, code=code)
    return Column(planned, output, before, project.runs())


def plan_with(tool, project: Project) -> dict[str, str]:
    """Work to action, as another version of the tool plans it."""
    done = subprocess.run(
        [*PROGRAM, "plan", "--stack", "stack.yaml", "--format", "json"],
        cwd=project.folder,
        env=project.environment | {"PYTHONPATH": str(tool)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    planned = Output(done.returncode, done.stdout, done.stderr)
    assert planned.code == 0, planned.text
    return {change["work"]: change["action"] for change in planned.json["works"]}


def test_every_row_is_in_its_state(table: Table) -> None:
    for column, wanted in ((table.same, SAME), (table.new, NEW)):
        states = {work: run.state for (work, _), run in column.before.items()}
        assert states == {name: row.state for name, row in wanted.items()}


# --- the same digest


@pytest.mark.parametrize("row", SAME)
def test_same_digest(table: Table, row: str) -> None:
    change = table.same.planned[row]
    wanted, reason = {
        "queued": (Action.NOOP, r"pending \(PENDING \((Resources|Priority)\)\)"),
        "held": (Action.NOOP, r"pending \(PENDING \(JobHeldUser\)\)"),
        "requeued": (Action.NOOP, r"pending \(PENDING \(BeginTime\)\)"),
        "requeue-held": (Action.NOOP, r"pending \(.*[Hh]eld.*\)"),
        "suspended": (Action.NOOP, r"pending \(SUSPENDED\)"),
        "running": (Action.NOOP, r"running \(RUNNING\)"),
        "succeeded": (Action.DONE, "run 1 succeeded"),
        "failed": (Action.SHOWN, "run 1 failed with exit code 7; again only with --rerun"),
        "cancelled-waiting": (Action.SHOWN, "run 1 cancelled; again only with --rerun"),
        "cancelled-running": (Action.SHOWN, "run 1 cancelled; again only with --rerun"),
        "timed-out": (Action.SHOWN, "run 1 timed out; again only with --rerun"),
    }[row]
    assert (change.action, change.run) == (wanted, 1)
    assert re.fullmatch(reason, change.reason)
    assert change.reason in table.same.output.out
    assert table.same.after[row, 1].identity == table.same.before[row, 1].identity
    assert (row, 2) not in table.same.after


def test_same_digest_submits_only_what_is_new(table: Table) -> None:
    assert table.same.planned["none"].action is Action.CREATE
    assert table.same.planned["none"].reason == "no run is recorded"
    assert table.same.started() == {("none", 1)}
    assert "slurm/alpha/none run 1: created (" in table.same.output.out
    assert table.same.output.code == 0


def test_an_upgrade_of_the_tool_changes_no_row(table: Table) -> None:
    planned = {work: str(change.action) for work, change in table.same.planned.items()}
    planned.pop("none")
    assert {work: table.upgraded[work] for work in planned} == planned


@pytest.mark.parametrize("row", SAME)
def test_same_digest_with_rerun(table: Table, row: str) -> None:
    change = table.rerun.planned[row]
    if row in UNSUCCESSFUL:
        assert (change.action, change.run) == (Action.CREATE, 2)
        assert change.reason.endswith("; asked for by --rerun")
        assert table.rerun.after[row, 2].identity not in (None, change.identity)
        assert table.rerun.after[row, 1].state is table.rerun.before[row, 1].state
    else:
        assert change.action is table.same.planned[row].action
        assert (row, 2) not in table.rerun.after


def test_rerun_submits_each_once(table: Table) -> None:
    assert table.rerun.started() == {(row, 2) for row in UNSUCCESSFUL}
    wanted = [f"{row}.1" for row in (*SAME, "none")] + [f"{row}.2" for row in UNSUCCESSFUL]
    assert table.same_jobs == sorted(wanted)


# --- a new digest


@pytest.mark.parametrize("row", NEW_TIME)
def test_new_time_limit_of_a_pending_run(table: Table, row: str) -> None:
    """Changed in place: the job keeps its id, and with it its age in the queue."""
    change = table.new.planned[row]
    assert (change.action, change.run) == (Action.UPDATE, 1)
    assert (change.fields["time"], sorted(change.fields)) == ("90", ["job-name", "time"])
    assert change.reason.startswith("the task changed; still pending (")
    assert "config changed" in _lines_of(table, row)
    before, after = table.new.before[row, 1], table.new.after[row, 1]
    assert after.identity == before.identity
    assert after.state is RunState.PENDING
    project = table.new_project
    shown = project.sh("squeue", "-h", "-j", str(after.identity), "-o", "%l %j").split()
    assert shown == ["1:30:00", after.name]
    assert after.name != before.name
    assert project.record(row)["name"] == after.name
    assert "#SBATCH --time=90\n" in (project.run_folder(row) / "job.sbatch").read_text()


@pytest.mark.parametrize("row", [*NEW_TEXT, *SUSPENDED_TIME])
def test_new_text_of_a_pending_run(table: Table, row: str) -> None:
    """Replaced by one job: the earlier one is gone, and what it had waited is said.

    Of a suspended job Slurm does not change even the time limit.
    """
    change = table.new.planned[row]
    assert (change.action, change.run) == (Action.REPLACE, 2)
    assert re.fullmatch(
        r"the task changed; still pending \(.*\); loses \d+[sm].* of age in the queue",
        change.reason,
    )
    assert table.new.after[row, 1].state is RunState.CANCELLED
    assert table.new.after[row, 2].state.is_live
    assert len(set(table.new.identities(row))) == 2


def test_new_digest_while_it_runs(table: Table) -> None:
    change = table.new.planned["running"]
    assert change.action is Action.REFUSED
    assert change.reason == "the task changed, but run 1 is running; needs --replace-running"
    assert f"refused: slurm/alpha/running: {change.reason}" in table.new.output.err
    assert table.new.after["running", 1] == table.new.before["running", 1]
    assert ("running", 2) not in table.new.after


def test_new_digest_while_it_runs_with_replace_running(table: Table) -> None:
    column = table.replaced
    change = column.planned["running"]
    assert (change.action, change.run) == (Action.REPLACE, 2)
    assert change.reason == "the task changed; the running one is ended (--replace-running)"
    assert column.after["running", 1].state is RunState.CANCELLED
    assert column.after["running", 2].state.is_live
    assert column.started() == {("running", 2)}


@pytest.mark.parametrize("row", ENDED_ROWS)
def test_new_digest_after_the_end(table: Table, row: str) -> None:
    change = table.new.planned[row]
    assert (change.action, change.run) == (Action.CREATE, 2)
    assert change.reason == f"the task changed; run 1 {NEW[row].state}"
    assert table.new.after[row, 2].identity not in (None, change.identity)
    assert table.new.after[row, 1].state is NEW[row].state


def test_new_digest_submits_each_once(table: Table) -> None:
    again = [*NEW_TEXT, *SUSPENDED_TIME, *ENDED_ROWS]
    assert table.new.started() == {("none", 1), *((row, 2) for row in again)}
    wanted = [f"{row}.1" for row in (*NEW, "none")]
    wanted += [f"{row}.2" for row in (*again, "running")]
    assert table.new_jobs == sorted(wanted)


@pytest.mark.parametrize("row", [*NEW, "none"])
def test_new_digest_with_rerun_is_the_same(table: Table, row: str) -> None:
    with_rerun = table.new_with_rerun[row]
    without = table.new.planned[row]
    assert (with_rerun.action, with_rerun.run) == (without.action, without.run)


def _lines_of(table: Table, row: str) -> str:
    """What the plan's text says below a work's title."""
    _, _, rest = table.new.output.out.partition(f" {row} on alpha: ")
    return rest.partition(" on alpha: ")[0]
