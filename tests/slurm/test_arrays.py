"""`triplane run --num-jobs` on the real cluster: one array."""

from __future__ import annotations

import pytest

from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm


def run_many(project: Project, text: str, count: int = 3) -> None:
    path = project.task("sweep", run=text)
    done = project.triplane("run", f"tasks/{path.name}", "--num-jobs", str(count))
    assert done.code == 0, done.text


def test_each_knows_its_number(project: Project) -> None:
    run_many(
        project,
        'echo "$SKYPILOT_JOB_RANK of $SKYPILOT_NUM_JOBS $SKYPILOT_TASK_ID"; echo x > ~/only-mine;'
        " ls ~/only-mine | wc -l",
    )
    identity = project.record("sweep")["identity"]
    assert project.until("sweep").state is RunState.SUCCEEDED
    for rank in range(3):
        log = project.run_folder("sweep") / f"{rank}/logs/0.log"
        task_id = f"triplane-{project.name}-sweep-1-{rank}"
        assert log.read_text() == f"{rank} of 3 {task_id}\n1\n"
    assert (project.run_folder("sweep") / "ended").read_text() == f"0 {identity}\n"
    shown = project.triplane("logs", "sweep", "--run", "1", "--no-follow").out
    assert "(1) 1 of 3" in shown


def test_one_that_fails_is_the_whole_s_outcome(project: Project) -> None:
    run_many(project, "[ $SKYPILOT_JOB_RANK != 1 ] || exit 5")
    ended = project.until("sweep")
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 5)


def test_it_is_cancelled_as_a_whole(project: Project) -> None:
    run_many(project, "sleep 1000")
    project.until("sweep", RunState.RUNNING)
    assert project.triplane("cancel", "sweep").code == 0
    assert project.until("sweep").state is RunState.CANCELLED
    assert project.name not in project.sh("squeue", "-h", "-u", "alice", "-o", "%j")
