"""The task's fields from the command line, on every command that takes them."""

import pytest

from tests.workflow.project import actions

COMMANDS = ("validate", "render", "plan", "apply", "run")


@pytest.fixture
def trainer(project):
    project.stack("alpha", "eks", root=".")
    project.write("src/a.py", "a\n")
    project.write("other/b.py", "b\n")
    project.task(
        "train",
        workdir="src",
        resources={"accelerators": "A100:1", "cpus": "4+", "infra": "k8s"},
        envs={"LR": "0.1", "STEP": None},
        secrets={"TOKEN": None},
    )
    return project


ALL = (
    *("--gpus", "H100:8", "--num-nodes", "2", "--infra", "slurm/alpha", "--name", "big"),
    *("--workdir", "other", "--env", "LR=0.2", "--env", "STEP", "--secret", "TOKEN=x"),
    *("--config", "triplane.on_files_change=run"),
)


def words_for(command, overrides):
    stack = () if command == "validate" else ("--stack", "stack.yaml")
    more = {"apply": ("--auto-approve", "-q"), "run": ("-q",), "render": ("--out", "out")}
    return (command, "tasks/train.yaml", *stack, *more.get(command, ()), *overrides)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_override_is_taken_by_every_command(trainer, monkeypatch, command):
    monkeypatch.setenv("STEP", "900")
    done = trainer.run(*words_for(command, ALL))
    assert done.code == 0, done.text
    if command == "validate":
        assert done.out == "1 file: no errors\n"
        return
    if command == "plan":
        assert "big on alpha: create run 1" in done.out
        return
    text = trainer.files()["slurm/alpha/demo-big-1/job.sbatch"]
    assert "#SBATCH --nodes=2" in text
    assert "h100:8" in text.lower()
    assert "export LR='0.2'" in text
    assert "export STEP='900'" in text
    assert "TOKEN" in text


WRONG = [
    (("--gpus", "H1000:8"), "<command line>", "H1000"),
    (("--gpus", "H100:x"), "<command line>", "--gpus H100:x"),
    (("--num-nodes", "0"), "<command line>", "--num-nodes 0"),
    (("--infra", "k8s/nowhere"), "<command line>", "--infra k8s/nowhere"),
    (("--infra", "kubernets"), "<command line>", "did you mean `kubernetes`?"),
    (("--config", "kubernets.x=1"), "<command line>", "--config kubernets.x=1"),
    (("--workdir", "missing"), "<command line>", "--workdir missing"),
    (("--env", "1X=2"), "<command line>", "1X"),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("words", "place", "said"), WRONG, ids=lambda item: str(item)[:30])
def test_a_wrong_override_is_shown_where_it_stands(trainer, command, words, place, said):
    done = trainer.run(*words_for(command, ("--env", "STEP=1", "--secret", "TOKEN=x", *words)))
    if command == "validate" and ("nowhere" in words[1] or "H1000" in words[1]):
        assert done.code == 0  # only a stack knows its targets and its accelerators
        return
    assert done.code == 1, done.text
    assert place in done.text
    assert said in done.text
    assert not (trainer.folder / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--num-nodes", "two"), "is not a valid integer"),
        (("--env", "NOT_THERE"), "there is no NOT_THERE in the environment"),
        (("--secret", "NOT_THERE"), "there is no NOT_THERE in the environment"),
        (("--config", "kubernetes"), "--config takes KEY=VALUE, not 'kubernetes'"),
        (("--config", "a..b=1"), "the key has an empty part"),
        (("--gpu", "H100:8"), "--gpus"),
    ],
)
def test_an_override_that_makes_no_sense_is_wrong_usage(trainer, words, said):
    for command in COMMANDS:
        done = trainer.run(*words_for(command, words))
        assert done.code == 64, (command, done.text)
        assert said in done.err
        assert done.out == ""


def test_an_override_is_part_of_the_work(trainer):
    given = ("--env", "STEP=1", "--secret", "TOKEN=x")
    trainer.applied("tasks/train.yaml", *given)
    assert actions(trainer.plan_json("tasks/train.yaml", *given)) == {"train@eks": "no-op"}
    changed = trainer.plan("tasks/train.yaml", *given, "--env", "LR=0.3", "--gpus", "A100:2")
    assert "because envs.LR changed (<command line>:1:" in changed.out
    assert "because resources.accelerator changed (<command line>:1:" in changed.out


def test_overrides_are_kept_in_a_saved_plan(trainer):
    given = ("--env", "STEP=1", "--secret", "TOKEN=x", "--num-nodes", "3", "--workdir", "other")
    trainer.plan("tasks/train.yaml", *given, "--out", "plan.json")
    done = trainer.run("apply", "plan.json")
    assert done.code == 0, done.text
    assert "completions: 3" in trainer.files()["kubernetes/eks/demo-train-1/job.yaml"]
    trainer.write("other/b.py", "changed\n")
    trainer.plan("tasks/train.yaml", *given, "--num-nodes", "4", "--out", "plan.json")
    trainer.write("other/b.py", "again\n")
    refused = trainer.run("apply", "plan.json")
    assert refused.code == 4
    assert "other/ changed" in refused.err


def test_none_takes_a_field_away(trainer):
    given = ("--env", "STEP=1", "--secret", "TOKEN=x")
    done = trainer.run(*words_for("render", (*given, "--gpus", "none", "--infra", "none")))
    assert done.code == 0, done.text
    text = trainer.files()["slurm/alpha/demo-train-1/job.sbatch"]
    assert "#SBATCH --cpus-per-task=4" in text
    assert "--gres" not in text
    assert "--gpus" not in text
