"""Commands and shells beside a run on the real cluster."""

from __future__ import annotations

import os
import pty
import subprocess
import threading

import pytest

from compiler.planning.states import RunState
from tests.command_line import PROGRAM
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

GPUS = {"infra": "slurm/alpha/gpu", "accelerators": "H100:2", "cpus": 1, "memory": 1}


def test_a_command_has_the_environment_of_its_rank(project: Project) -> None:
    project.task(
        "train",
        run="echo here > where; sleep 1000",
        num_nodes=2,
        resources=GPUS,
        envs={"ODD": "a 'b' $c"},
        secrets={"TOKEN": None},
    )
    project.apply("--secret", "TOKEN=s3cret")
    project.until("train", RunState.RUNNING)
    project.site.wait_for(
        lambda: "here" in exec_in(project, "train", "cat", "where").stdout, 20, "the run"
    )
    words = 'echo "$SKYPILOT_NODE_RANK $(hostname) $PWD $ODD $TOKEN $CUDA_VISIBLE_DEVICES"; exit 7'
    for rank, host in enumerate(("alpha-h1", "alpha-h2")):
        done = exec_in(project, "train", "bash", "-c", words, rank=rank)
        home = project.state / "work/train.1/home/sky_workdir"
        assert done.stdout == f"{rank} {host} {home} a 'b' $c s3cret 0,1\n", done.stderr
        assert done.returncode == 7
    handed_on = exec_in(project, "train", "tr", "a-z", "A-Z", input="every byte\n")
    assert (handed_on.stdout, handed_on.returncode) == ("EVERY BYTE\n", 0)
    nowhere = exec_in(project, "train", "true", rank=5)
    assert nowhere.returncode == 1
    assert "there is no rank 5" in nowhere.stderr
    assert not list((project.state / "work/train.1").glob("exec.*"))


def test_a_shell_has_a_terminal(project: Project) -> None:
    project.task("train", run="sleep 1000")
    project.apply()
    project.until("train", RunState.RUNNING)
    work = project.state / "work/train.1/nodes"
    project.site.wait_for(work.exists, 20, "the run")
    mine, theirs = pty.openpty()
    shell = subprocess.Popen(
        [*PROGRAM, "shell", "train", "--stack", "stack.yaml"],
        cwd=project.folder,
        env=project.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = bytearray()
    reader = threading.Thread(target=_read, args=(mine, seen), daemon=True)
    reader.start()
    project.site.wait_for(lambda: b"$ " in seen, 30, "a prompt")
    os.write(mine, b"tty; echo rank-$SKYPILOT_NODE_RANK; exit 3\n")
    assert shell.wait(timeout=30) == 3
    reader.join(10)
    assert b"/dev/pts/" in seen
    assert b"rank-0" in seen


def test_beside_what_has_ended_nothing_runs(project: Project) -> None:
    project.task("train")
    project.apply()
    project.until("train")
    done = exec_in(project, "train", "true")
    assert done.returncode == 1
    assert "can only run beside one that runs" in done.stderr


def exec_in(
    project: Project, work: str, *words: str, rank: int = 0, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """`triplane exec` as a process of its own."""
    options = ("--stack", "stack.yaml", "--rank", str(rank))
    return subprocess.run(
        [*PROGRAM, "exec", work, *options, "--", *words],
        cwd=project.folder,
        env=project.environment,
        input=input,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


def _read(file: int, seen: bytearray) -> None:
    try:
        while data := os.read(file, 4096):
            seen.extend(data)
    except OSError:  # the other side is closed
        return
