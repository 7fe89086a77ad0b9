"""Jobs under people's own accounts: a service account that becomes the requester."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from compiler.planning.states import RunState
from tests.command_line import PROGRAM
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

NAMES = {
    "alice@example.com": "alice",
    "bob@example.com": "bob",
    "root@example.com": "root",
    "system@example.com": "sshd",
}


@pytest.fixture
def shared(new_project: Callable[..., Project]) -> Project:
    """A project that logs in as svc, which has no account in Slurm."""
    stack = {
        "requester_env": "ACTOR",
        "config": {"slurm": {"submit_as_user": True, "username_map": NAMES}},
    }
    return new_project(user="svc", stack=stack)


def test_everything_is_the_requester_s(shared: Project) -> None:
    code = shared.folder / "code"
    code.mkdir()
    (code / "who.sh").write_text("id -un; echo ${#TOKEN}; sleep 1000\n")
    shared.task("train", run="bash who.sh", workdir="code", secrets={"TOKEN": None})
    asked = ("--requester", "alice@example.com")
    shared.apply(*asked, "--secret", "TOKEN=a value")
    status = shared.triplane("status", *asked, "--format", "json")
    (run,) = status.json["runs"]
    shown = shared.sh("scontrol", "show", "job", "-o", run["identity"], user="alice")
    assert "UserId=alice(" in shown
    state = shared.site.home("alice") / ".triplane" / shared.name
    assert state.stat().st_uid == (shared.site.home("alice")).stat().st_uid
    assert not (shared.site.home("svc") / ".triplane" / shared.name).exists()
    log = state / "runs/train.1/logs/0.log"
    shared.site.wait_for(lambda: log.exists() and "7" in log.read_text(), 30, "the job's words")
    lines = shared.triplane("logs", "train", "--no-follow", *asked)
    assert lines.out.splitlines()[:2] == ["alice", "7"]
    done = subprocess.run(
        [*PROGRAM, "exec", "train", "--stack", "stack.yaml", *asked, "--", "id", "-un"],
        cwd=shared.folder,
        env=shared.environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout == "alice\n", done.stderr
    assert shared.triplane("cancel", "train", *asked).code == 0
    status = shared.triplane("status", *asked, "--format", "json")
    assert status.json["runs"][0]["state"] == RunState.CANCELLED
    subprocess.run(["rm", "-rf", str(state)], check=True)


def test_the_plan_says_who_asked(shared: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    shared.task("train")
    monkeypatch.setenv("ACTOR", "alice@example.com")
    assert shared.triplane("plan", "--out", "plan.json").code == 0
    plan = json.loads((shared.folder / "plan.json").read_text())
    assert plan["arguments"]["requester"] == "alice@example.com"
    monkeypatch.setenv("ACTOR", "bob@example.com")
    done = shared.triplane("apply", "plan.json", stack=False)
    assert done.code == 0, done.text
    job = done.out.rpartition("(")[2].partition(")")[0]
    assert "UserId=alice(" in shared.sh("scontrol", "show", "job", "-o", job, user="alice")
    other = shared.triplane("apply", "plan.json", "--requester", "bob@example.com", stack=False)
    assert other.code == 64
    assert "--requester" in other.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (None, "`submit_as_user` needs to know who asks: --requester NAME"),
        ("carol@example.com", "requester 'carol@example.com' is not in `username_map`"),
        ("root@example.com", "nothing is run as account 'root'"),
        ("system@example.com", "sudo: a password is required"),
    ],
)
def test_who_may_not_is_refused(shared: Project, name: str | None, said: str) -> None:
    shared.task("train")
    words = ("--requester", name) if name else ()
    done = shared.triplane("apply", "--auto-approve", *words)
    assert done.code != 0
    assert said in done.text
