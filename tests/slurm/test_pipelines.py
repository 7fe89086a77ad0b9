"""Pipelines on the real cluster: jobs that wait for one another, as one run."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest

from compiler.planning.states import RunState
from tests.slurm.login_files import bashrc, cut_off
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

_CPU = "resources: {infra: slurm/alpha/cpu, cpus: 1, memory: 1}"


def pipeline(project: Project, *runs: str) -> None:
    """Write `tasks/chain.yaml` with a task for each text of `run`: a, b, c, ..."""
    parts = ["name: chain"]
    parts += [
        f"name: {name}\n{_CPU}\nrun: |\n  {run}" for name, run in zip("abcdef", runs, strict=False)
    ]
    (project.folder / "tasks/chain.yaml").write_text("\n---\n".join(parts))


def log(project: Project, task: str, run: int = 1) -> str:
    return (project.run_folder("chain", run) / f"{task}/logs/0.log").read_text()


def test_tasks_follow_each_other(project: Project) -> None:
    pipeline(
        project,
        "sleep 1; date +%s%N > /tmp/triplane-chain; echo a $SKYPILOT_TASK_ID",
        "echo b; printf '%s\\n' \"$SKYPILOT_TASK_IDS\"",
        "echo c",
    )
    project.apply()
    ids = project.record("chain")["identity"].split(",")
    assert len(ids) == 3
    shown = project.runs()[("chain", 1)]
    assert shown.state in (RunState.PENDING, RunState.RUNNING)
    ended = project.until("chain")
    assert ended.state is RunState.SUCCEEDED
    assert log(project, "a") == f"a triplane-{project.name}-chain-a-1\n"
    ids_said = [f"triplane-{project.name}-chain-{task}-1" for task in "abc"]
    assert log(project, "b").split("\n") == ["b", *ids_said, ""]
    assert sorted(project.jobs()) == sorted(ids)
    shown = project.triplane("logs", "chain", "--no-follow")
    assert "(c) c\n" in shown.out
    assert "Nothing to do." in project.apply().out


def test_what_follows_a_failure_is_never_started(project: Project) -> None:
    pipeline(project, "echo a", "exit 6", "echo c")
    project.apply()
    ended = project.until("chain")
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 6)
    assert not (project.run_folder("chain") / "c/started").exists()
    # Slurm takes the rest out of its queue with its next scheduling turn.
    queue = ("squeue", "-h", "-u", "alice", "-o", "%j")
    project.site.wait_for(lambda: project.name not in project.sh(*queue), 60, "an empty queue")
    assert project.apply("--rerun").code == 0
    assert project.until("chain", run=2).state is RunState.FAILED


def test_a_pipeline_is_cancelled_as_a_whole(project: Project) -> None:
    pipeline(project, "sleep 1000", "echo b")
    project.apply()
    project.until("chain", RunState.RUNNING)
    assert project.triplane("cancel", "chain").code == 0
    assert project.until("chain").state is RunState.CANCELLED
    assert project.name not in project.sh("squeue", "-h", "-u", "alice", "-o", "%j")


def test_a_refused_task_leaves_none_of_the_others(project: Project) -> None:
    pipeline(project, "sleep 1000", "echo b")
    path = project.folder / "tasks/chain.yaml"
    text = path.read_text()
    path.write_text(
        text[: text.rindex("alpha/cpu")] + "alpha/nowhere" + text.split("alpha/cpu")[-1]
    )
    done = project.apply(code=1)
    assert "error[slurm-partition-refused]" in done.err
    assert project.runs() == {}
    assert project.name not in project.sh("squeue", "-h", "-u", "alice", "-o", "%j")


def test_a_waiting_pipeline_is_replaced(project: Project) -> None:
    hold = "config: {slurm: {sbatch_options: {hold: true}}}\n"
    pipeline(project, "echo a", "echo b")
    path = project.folder / "tasks/chain.yaml"
    path.write_text(path.read_text().replace("name: a\n", f"name: a\n{hold}"))
    project.apply()
    assert project.runs()[("chain", 1)].state is RunState.PENDING
    path.write_text(path.read_text().replace("echo b", "echo other").replace(hold, ""))
    project.apply()
    assert project.until("chain", run=2).state is RunState.SUCCEEDED
    assert log(project, "b", run=2) == "other\n"
    assert project.runs()[("chain", 1)].state is RunState.CANCELLED


@pytest.fixture
def cut(project: Project) -> Iterator[Callable[[int, str], object]]:
    """Ends the snippet that submits, at its Nth call of sbatch: `before` it or `after`."""
    folder = cut_off(project.site, "alice", "cut", 0, "before")
    with bashrc(project.site, "alice", f"export PATH={folder}:$PATH\n"):
        yield lambda number, when: cut_off(project.site, "alice", "cut", number, when)
    shutil.rmtree(folder)


def _held(project: Project, *runs: str) -> None:
    hold = "config: {slurm: {sbatch_options: {hold: true}}}\n"
    pipeline(project, *runs)
    path = project.folder / "tasks/chain.yaml"
    path.write_text(path.read_text().replace("name: a\n", f"name: a\n{hold}"))


@pytest.mark.parametrize(("number", "when", "left"), [(2, "before", 1), (3, "before", 2)])
def test_what_was_cut_off_is_completed_or_cancelled(
    project: Project, cut: Callable[[int, str], object], number: int, when: str, left: int
) -> None:
    _held(project, "echo a", "echo b", "echo c")
    cut(number, when)
    assert project.apply(code=3).err
    first = project.runs()[("chain", 1)]
    assert first.state is RunState.PENDING
    assert "not submitted yet: " + ", ".join("abc"[left:]) in first.detail
    assert len(project.jobs()) == left

    done = project.apply()
    assert "drift: Job/" in done.out and "/c is missing" in done.out
    ids = project.record("chain")["identity"].split(",")
    assert sorted(project.jobs()) == sorted(ids)
    assert len(ids) == 3
    assert "Nothing to do." in project.apply().out
    project.sh("scontrol", "release", ids[0])
    assert project.until("chain").state is RunState.SUCCEEDED
    assert log(project, "c") == "c\n"


@pytest.mark.parametrize("ended", [False, True])
def test_what_was_cut_off_last_is_not_submitted_again(
    project: Project, cut: Callable[[int, str], object], ended: bool
) -> None:
    (pipeline if ended else _held)(project, "echo a", "echo b")
    cut(2, "after")
    project.apply(code=3)
    if ended:
        assert project.until("chain").state is RunState.SUCCEEDED
    assert "Nothing to do." in project.apply().out
    assert len(project.jobs()) == 2
    assert len(project.record("chain")["identity"].split(",")) == 2


def test_all_that_was_submitted_is_cancelled(
    project: Project, cut: Callable[[int, str], object]
) -> None:
    _held(project, "echo a", "echo b", "echo c")
    cut(3, "before")
    project.apply(code=3)
    assert project.triplane("cancel", "chain").code == 0
    assert project.until("chain").state is RunState.CANCELLED
    assert project.name not in project.sh("squeue", "-h", "-u", "alice", "-o", "%j")
