"""What Slurm refuses is told at the line of the YAML that it is about; what moves is replanned."""

from __future__ import annotations

import threading

import pytest

from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

# Fields of the task, the code, and the line of the file that is shown.
REFUSED = {
    "account": (
        {"config": {"slurm": {"quota": {"account": "nobody"}}}},
        "slurm-account-refused",
        "account: nobody",
    ),
    "qos": (
        {"config": {"slurm": {"sbatch_options": {"qos": "nosuch"}}}},
        "slurm-qos-refused",
        "qos: nosuch",
    ),
    "partition": (
        {"resources": {"infra": "slurm/alpha/nowhere"}},
        "slurm-partition-refused",
        "infra: slurm/alpha/nowhere",
    ),
    "nodes": (
        {"resources": {"infra": "slurm/alpha/gpu", "accelerators": "H100:9"}},
        "slurm-nodes-refused",
        "accelerators: H100:9",
    ),
    "time": (
        {"config": {"slurm": {"sbatch_options": {"time": "9-00:00:00"}}}},
        "slurm-time-refused",
        "time: 9-00:00:00",
    ),
    "feature": (
        {"config": {"slurm": {"sbatch_options": {"constraint": "quantum"}}}},
        "slurm-feature-refused",
        "constraint: quantum",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_the_line(project: Project, name: str) -> None:
    fields, code, line = REFUSED[name]
    project.task("train", **fields)
    done = project.apply(code=1)
    assert f"error[{code}] on alpha: Slurm refused the job: " in done.err
    assert "--> tasks/train.yaml:" in done.err
    assert line in done.err.split("-->")[-1], done.err
    assert project.runs() == {}


def test_a_quota_of_the_stack_is_named_there(new_project) -> None:
    project = new_project(stack={"config": {"slurm": {"quota": {"queue": "nosuch"}}}})
    project.task("train")
    done = project.apply(code=1)
    assert "error[slurm-qos-refused]" in done.err
    assert "--> stack.yaml:" in done.err


def test_a_saved_plan_names_the_line_too(project: Project) -> None:
    project.task("train", resources={"infra": "slurm/alpha/nowhere"})
    assert project.triplane("plan", "--out", "plan.json").code == 0
    done = project.triplane("apply", "plan.json", stack=False)
    assert done.code == 1
    assert "--> tasks/train.yaml:3:" in done.err


def test_what_moved_between_plan_and_apply_is_planned_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.task("train", run="sleep 1000", config={"slurm": {"sbatch_options": {"hold": True}}})
    project.apply()
    project.until("train", RunState.PENDING)
    project.task("train", run="sleep 999", config={"slurm": {"sbatch_options": {"hold": True}}})
    job = project.runs()[("train", 1)].identity
    from compiler.workflow import apply as applying

    once = threading.Event()
    original = applying.locked

    def released(*given):
        if not once.is_set():  # the first time the held job is let go just before the apply
            once.set()
            project.sh("scontrol", "release", str(job))
            project.until("train", RunState.RUNNING)
        return original(*given)

    monkeypatch.setattr(applying, "locked", released)
    done = project.apply(code=1)
    assert "planning again" in done.err
    assert "run 1 is running; needs --replace-running" in done.text
    assert project.runs()[("train", 1)].state is RunState.RUNNING
