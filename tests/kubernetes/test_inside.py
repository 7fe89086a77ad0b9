"""Commands and shells inside a rank that really runs."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import RBAC, Project

pytestmark = pytest.mark.kubernetes


@pytest.fixture
def project(contract_runs: Project) -> Project:
    """A project whose work `stays` has two ranks that are there."""
    contract_runs.until("stays", RunState.RUNNING)
    contract_runs.api.until(
        "both ranks", lambda: all(map(_is_running, contract_runs.pods("stays"))), seconds=90
    )
    return contract_runs


def _is_running(pod: dict) -> bool:
    states = pod["status"].get("containerStatuses") or [{"state": {}}]
    return "running" in states[0]["state"]


def _exec(project: Project, *words: str, stdin: str = "") -> tuple[int, str, str]:
    process = project.start("exec", *words, stdin=subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=60)
    return process.returncode, out, err


def test_a_command_has_the_environment_and_the_folder_of_the_run(project: Project):
    text = 'echo "$GREETING $SKYPILOT_NODE_RANK $SKYPILOT_NODE_IPS"; pwd; cat data.txt; set'
    code, out, err = _exec(project, "stays", "--rank", "1", "--", "bash", "-c", text)
    lines = out.splitlines()
    ips = {pod["status"]["podIP"] for pod in project.pods("stays")}
    assert lines[0].startswith("it's 1 ")
    assert set(f"{lines[0]} {lines[1]}".split()[2:]) == ips
    assert lines[2:4] == ["/root/sky_workdir", "42"]
    assert not [line for line in lines if line.startswith("_tp_")]
    assert (code, err) == (0, "")


def test_input_output_and_exit_code_are_the_commands(project: Project):
    sent = "".join(f"line {number} 模型\n" for number in range(5000))
    words = ("stays", "--", "bash", "-c", 'cat; echo "said $1" >&2; exit 7', "x", "a b'$HOME\"")
    code, out, err = _exec(project, *words, stdin=sent)
    assert out == sent
    assert err == "said a b'$HOME\"\n"
    assert code == 7


def test_a_shell_has_a_terminal_of_its_own(project: Project):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        project.words("shell", "stays", "--rank", "1"),
        cwd=project.folder,
        env=project.environment,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, b'echo "terminal $([ -t 0 ] && echo yes)"; exit 5\r')
    shown = _shown(ours, process)
    assert process.wait(timeout=30) == 5, shown
    os.close(ours)
    assert b"terminal yes" in shown


def _shown(terminal: int, process: subprocess.Popen) -> bytes:
    """What a terminal shows until the process has ended, for a minute at most."""
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.5)[0]:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the other end was closed
                return shown
        elif process.poll() is not None:
            return shown
    process.kill()
    return shown


def test_a_rank_that_is_not_there_is_named(project: Project):
    code, _, err = _exec(project, "stays", "--rank", "9", "--", "true")
    assert code == 1
    assert "rank 9 of stays is not there" in err


def test_a_run_that_has_ended_cannot_be_entered(project: Project):
    project.until("gone")
    code, _, err = _exec(project, "gone", "--", "true")
    assert code == 1
    assert "run 1 of gone has ended (failed)" in err


def test_a_command_that_is_not_in_the_image_is_said_by_its_shell(project: Project):
    code, _, err = _exec(project, "stays", "--", "no-such-program")
    assert code == 127
    assert "no-such-program: not found" in err


def test_the_role_for_it_is_one_of_its_own(project: Project, tmp_path_factory):
    assert (RBAC / "exec.yaml").exists()
    folder = tmp_path_factory.mktemp("reader")
    reader = Project(
        project.site, folder, "reader", namespace=project.namespace, roles=("plan",), real=True
    )
    reader.name = project.name
    reader.write_stack()
    code, _, err = _exec(reader, "stays", "--", "true")
    assert code == 1
    assert "may not create pods/exec" in err
