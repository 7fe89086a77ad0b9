"""An apply that is killed at any moment: the next one finishes it, and nothing is lost or left.

Each case is one change (first write, update, removal, another run under gitops). It is killed
before its n-th step on the disk, for every n, in a forked process that runs nothing of its own
clean-up, as SIGKILL would have it.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.cli.main import main
from tests.command_line import PROGRAM, TOP

# What changes the disk in one step: a kill falls between two of them.
STEPS = ("replace", "unlink", "rename")


def killed_before_step(count, *words):
    """Run a command line and end it before its step number `count`; its exit code, 9 if killed."""
    child = os.fork()
    if child == 0:
        try:
            done = [0]

            def counted(step):
                def call(*arguments, **options):
                    done[0] += 1
                    if done[0] == count:
                        os._exit(9)
                    return step(*arguments, **options)

                return call

            for name in STEPS:
                setattr(Path, name, counted(getattr(Path, name)))
            silent = open(os.devnull, "w")  # noqa: SIM115 (the process ends with it)
            sys.stdout = sys.stderr = silent
            os._exit(main(words))
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def first_write(project):
    project.stack("alpha", "eks", root=".")
    project.task("train", workdir="src", resources={"cpus": 2, "infra": "slurm"})
    project.task("serve", resources={"cpus": 2, "infra": "k8s"})


def update_with_fewer_files(project):
    """One work loses a manifest, the other gets another work folder."""
    first_write(project)
    project.task("serve", resources={"cpus": 2, "infra": "k8s"}, num_nodes=2)
    project.applied()
    project.write("src/new.py", "print('new')\n")
    project.task("train", workdir="src", resources={"cpus": 3, "infra": "slurm"})
    project.task("serve", resources={"cpus": 4, "infra": "k8s"})


def removal(project):
    project.stack("eks")
    project.task("stays")
    project.task("goes")
    project.applied()
    (project.folder / "tasks/goes.yaml").unlink()


def another_run(project):
    project.stack("eks", gitops="argocd")
    project.task("train")
    project.applied()
    project.task("train", num_nodes=2)


def removal_of_runs(project):
    another_run(project)
    project.task("stays")
    project.applied()
    (project.folder / "tasks/train.yaml").unlink()


CASES = [first_write, update_with_fewer_files, removal, another_run, removal_of_runs]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_killed_at_every_step(project, tmp_path, case):
    project.write("src/train.py", "print('train')\n")
    case(project)
    assert project.plan("--out", "plan.json").code == 0
    start = tmp_path.with_name(f"{tmp_path.name}-start")
    shutil.copytree(tmp_path, start)
    assert project.run("apply", "plan.json").code == 0
    wanted = without_plans(project.tree())
    count = 0
    while True:
        count += 1
        reset(tmp_path, start)
        code = killed_before_step(count, "apply", "plan.json")
        if code == 0:
            break
        assert code == 9, count
        assert list((tmp_path / "out/.triplane/demo").glob("*.lock"))
        if count == 2:
            held = project.run("apply", "plan.json")
            assert held.code == 1, held.text
            assert "is locked by" in held.err
            assert "that process is gone: triplane unlock" in held.err
        unlocked = project.run("unlock", "--stack", "stack.yaml")
        assert unlocked.code == 0
        assert "was held by" in unlocked.out
        # Whoever goes on has the plan, or makes another one of the same input.
        done = project.run("apply", "plan.json") if count % 2 else project.apply()
        assert done.code == 0, (count, done.text)
        assert without_plans(project.tree()) == wanted, count
    assert count > 5
    assert project.plan("--detailed-exitcode").code == 0


def reset(folder, start):
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    shutil.copytree(start, folder, dirs_exist_ok=True)


def without_plans(tree):
    """The tree without the plans' ids, which tell the two ways of going on apart."""
    return {
        path: "\n".join(line for line in text.splitlines() if not line.startswith(' "plan"'))
        for path, text in tree.items()
    }


def test_an_intent_that_was_overtaken_is_written_as_what_is_wanted_now(project):
    project.stack("eks", gitops="flux")
    project.task("train")
    project.plan("--out", "plan.json")
    # Killed when some of its files were there.
    assert killed_before_step(3, "apply", "plan.json") == 9
    project.run("unlock", "--stack", "stack.yaml")
    assert project.records()["demo/eks/train.1"]["stage"] == "intent"
    project.task("train", num_nodes=5)
    planned = project.plan()
    assert "the apply that wrote run 1 did not finish" in planned.out
    assert "did not finish" in project.run("status", "--stack", "stack.yaml").out
    project.applied()
    assert list(project.records()) == ["demo/eks/train.1"]
    assert "completions: 5" in project.files()["kubernetes/eks/demo-train-1/job.yaml"]


def test_a_lock_of_a_living_process_is_not_called_dead(project):
    project.stack("eks")
    project.task("train")
    lock = f"me@{os.uname().nodename} pid {os.getpid()} plan 0123456789abcdef\n"
    project.write("out/.triplane/demo/eks.lock", lock)
    done = project.apply()
    assert done.code == 1
    assert lock.strip() in done.err
    assert "if that apply is gone: triplane unlock" in done.err
    assert project.files() == {}
    assert (project.folder / "out/.triplane/demo/eks.lock").read_text() == lock
    answer = project.run("unlock", "--stack", "stack.yaml", "--format", "json")
    assert answer.json == {
        "format_version": "1.0",
        "kind": "unlocked",
        "targets": [{"name": "eks", "held_by": lock.strip(), "error": None}],
    }
    again = project.run("unlock", "--stack", "stack.yaml")
    assert again.out == "eks: was not locked\n"
    assert project.apply().code == 0


def test_two_applies_at_once_one_waits_for_nobody_and_says_so(project):
    project.stack("alpha", "eks")
    project.task("a", resources={"infra": "slurm"})
    project.task("b", resources={"infra": "k8s"})
    project.write("out/.triplane/demo/eks.lock", "")
    done = project.apply()
    assert done.code == 1
    assert "somebody who left no name" in done.err
    # The lock of the other target was taken first, and given back.
    assert not (project.folder / "out/.triplane/demo/alpha.lock").exists()
    assert project.files() == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_gives_the_lock_back(project, number):
    project.stack("alpha", root=".")
    project.task("train", workdir="src")
    for index in range(1000):
        project.write(f"src/{index % 40}/{index}.txt", "x")
    project.plan("--out", "plan.json")
    child = subprocess.Popen(
        [*PROGRAM, "apply", "plan.json"],
        cwd=project.folder,
        env={**os.environ, "PYTHONPATH": str(TOP)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lock = project.folder / "out/.triplane/demo/alpha.lock"
    deadline = time.monotonic() + 30
    while not lock.exists() and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    child.send_signal(number)
    _, said = child.communicate(timeout=30)
    assert child.returncode == 130, said
    assert said.splitlines()[-1] == "interrupted"
    assert not lock.exists()
    assert not list((project.folder / "out/.triplane/demo").glob("*.tmp"))
    assert project.run("apply", "plan.json").code == 0
    assert len(list((project.folder / "out/.triplane/files").rglob("*.txt"))) == 1000


def test_a_full_disk_is_said_and_the_next_apply_goes_on(project, monkeypatch):
    project.stack("eks")
    project.task("a")
    project.task("b")
    left = [5]

    def fill(descriptor):
        left[0] -= 1
        if left[0] == 0:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fill)
    done = project.apply()
    assert done.code == 1
    assert "No space left on device" in done.err
    assert "failed: kubernetes/eks/a: eks: " in done.err
    assert str(project.folder / "out") in done.err
    assert not list((project.folder / "out").rglob("*.tmp"))
    assert not list((project.folder / "out").rglob("*.lock"))
    # The other work was carried out.
    assert "kubernetes/eks/b run 1: created" in done.out
    assert project.apply().code == 0
    assert project.plan("--detailed-exitcode").code == 0


def test_a_tree_that_changes_while_it_is_copied_is_not_taken(project, monkeypatch):
    project.stack("alpha", root=".")
    project.write("src/a.txt", "one\n")
    project.task("train", workdir="src")
    copy = shutil.copy2

    def changing(source, target, **options):
        Path(source).write_text("two\n")
        return copy(source, target, **options)

    monkeypatch.setattr(shutil, "copy2", changing)
    done = project.apply()
    assert done.code == 1
    assert "changed while it was being applied; plan again" in done.err
    assert not (project.folder / "out/.triplane/files").exists()
