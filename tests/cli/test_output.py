"""Shapes of `--format json`, the streams, colour, and questions on a terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest

from tests.command_line import PROGRAM, TOP

STACK = ("--stack", "stack.yaml")


@pytest.fixture
def ready(project):
    project.stack("alpha", "eks")
    project.task("train")
    return project


def keys(value):
    """The shape of a JSON value: names and types, without values."""
    if isinstance(value, dict):
        return {name: keys(item) for name, item in value.items()}
    if isinstance(value, list):
        return [keys(value[0])] if value else []
    return type(value).__name__


SHAPES = {
    ("render", *STACK): {
        "kind": "rendering",
        "artifacts": [
            {"path": "str", "name": "str", "kind": "str", "sha256": "str", "text": "str"}
        ],
        "changed": [],
    },
    ("diff", *STACK, "--against", "tasks"): {
        "kind": "diff",
        "against": "str",
        "objects": [{"path": "str", "name": "str", "action": "str", "fields": []}],
    },
    ("status", *STACK): {
        "kind": "status",
        "runs": [
            {
                "work": "str",
                "run": "int",
                "target": "str",
                "name": "str",
                "state": "str",
                "detail": "str",
                "exit_code": "NoneType",
                "identity": "NoneType",
                "extra": "bool",
            }
        ],
        "silent": {},
    },
    ("check", *STACK): {
        "kind": "check",
        "targets": [{"name": "str", "ok": "bool", "answer": "str"}],
    },
    ("unlock", *STACK): {
        "kind": "unlocked",
        "targets": [{"name": "str", "held_by": "NoneType", "error": "NoneType"}],
    },
    ("wait", *STACK, "-q"): {"kind": "waited", "result": "str", "exit_code": "int"},
    ("cancel", "train", *STACK): {
        "kind": "cancelled",
        "results": [{"what": "str", "ok": "bool", "error": "str"}],
    },
    ("run", "tasks/train.yaml", *STACK, "-q"): {
        "kind": "applied",
        "set": "str",
        "exit_code": "int",
        "results": [
            {
                "work": "str",
                "target": "str",
                "kind": "str",
                "action": "str",
                "run": "int",
                "identity": "NoneType",
                "ok": "bool",
                "note": "str",
                "error": "NoneType",
            }
        ],
        "refused": [],
    },
    ("explain", "run"): {
        "kind": "explanation",
        "field": "str",
        "description": "str",
        "type": "str",
        "default": "NoneType",
        "examples": ["str"],
        "fields": [],
        "support": {
            kind: [{"field": "str", "level": "str", "note": "str"}]
            for kind in ("kubernetes", "slurm", "aws")
        },
    },
    ("catalog",): {
        "kind": "catalog",
        "rows": [{"accelerator": "str", "family": "str", "gib": "str"}],
    },
    ("catalog", "H100"): {
        "kind": "catalog",
        "rows": [
            {
                "instance": "str",
                "accelerators": "str",
                "vcpus": "str",
                "gib": "str",
                "efa": "str",
                "usd_per_h": "str",
            }
        ],
    },
}


@pytest.mark.parametrize("words", SHAPES, ids=lambda words: " ".join(words[:2]))
def test_json_has_a_stable_versioned_shape(ready, words):
    ready.applied()
    done = ready.run(*words, "--format", "json")
    body = done.json
    assert body.pop("format_version") == "1.0"
    wanted = dict(SHAPES[words])
    assert body.pop("kind") == wanted.pop("kind")
    assert keys(body) == wanted
    assert done.out.endswith("}\n")


def test_apply_and_destroy_print_their_plan_beside_the_json(ready):
    done = ready.run("apply", *STACK, "--auto-approve", "--format", "json")
    assert done.json["results"][0]["action"] == "create"
    assert "Plan: 1 to create." in done.err
    gone = ready.run("destroy", *STACK, "--auto-approve", "--format", "json")
    assert gone.json["results"][0]["action"] == "delete"
    assert "Plan: 1 to delete." in gone.err
    assert gone.json["kind"] == "applied"


def test_a_failed_step_is_in_the_json_too(ready, monkeypatch):
    from compiler.diagnostics import WorkFailed
    from compiler.targets.directory import DirectoryDeployer

    def fails(self, step, progress):
        raise WorkFailed("the disk is full")

    monkeypatch.setattr(DirectoryDeployer, "execute", fails)
    done = ready.run("apply", *STACK, "--auto-approve", "--format", "json", "-q")
    assert done.code == 1
    assert done.json["exit_code"] == 1
    [result] = done.json["results"]
    assert result["ok"] is False
    assert result["error"] == "the disk is full"


@pytest.mark.parametrize("format", ["json", "sarif", "github", "concise"])
def test_validate_prints_every_format_to_stdout(ready, format):
    ready.write("tasks/bad.yaml", "runn: echo\nrun: echo\n")
    done = ready.run("validate", "tasks", "--format", format)
    assert done.code == 1
    assert done.err == ""
    assert "unknown-field" in done.out
    if format == "json":
        assert done.json["format_version"] == "1.0"
    if format == "sarif":
        assert done.json["version"] == "2.1.0"
    if format == "github":
        assert done.out.startswith("::error file=tasks/bad.yaml,line=1,")
    clean = ready.run("validate", "tasks/train.yaml", "--format", format)
    assert clean.code == 0
    if format in ("json", "sarif"):
        assert clean.json


def test_warnings_are_on_stderr_and_results_on_stdout(ready):
    ready.task("train", resources={"cpus": "2+", "infra": "slurm"})
    for command in (("render", *STACK), ("plan", *STACK, "--format", "json")):
        done = ready.run(*command)
        assert "field-changed" in done.err
        assert "field-changed" not in done.out
    applied = ready.run("apply", *STACK, "--auto-approve")
    assert "slurm/alpha/train: create run 1" in applied.err  # what goes on
    assert "slurm/alpha/train run 1: created" in applied.out  # what came of it


def test_saved_is_said_beside_the_result(ready):
    done = ready.plan("--out", "plan.json")
    assert "triplane apply plan.json" in done.err
    assert "Saved" not in done.out


def test_a_warning_is_said_once_and_not_of_what_stays(ready):
    ready.task("train", resources={"cpus": "2+", "infra": "slurm"})
    ready.applied()
    done = ready.plan()
    assert done.err == ""


def on_a_terminal(project, words, answer=None, env=None):
    """Run in a pseudo-terminal; (exit code, what was shown)."""
    leader, follower = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": str(TOP), "TERM": "xterm", **(env or {})}
    child = subprocess.Popen(
        [*PROGRAM, *words],
        cwd=project.folder,
        env=environ,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    shown = b""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        readable, _, _ = select.select([leader], [], [], 0.2)
        if readable:
            try:
                chunk = os.read(leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        if answer is not None and b"[y/N]" in shown:
            os.write(leader, answer)
            answer = None
    code = child.wait(timeout=10)
    os.close(leader)
    return code, shown.decode()


def test_colour_is_for_terminals(ready):
    code, shown = on_a_terminal(ready, ("plan", *STACK))
    assert code == 0
    assert "\x1b[32m+ train" in shown


def test_apply_asks_on_a_terminal_and_no_color_is_heard(ready):
    code, shown = on_a_terminal(ready, ("apply", *STACK), b"y\n", {"NO_COLOR": "1"})
    assert code == 0, shown
    assert "Apply these changes? [y/N]" in shown
    assert "\x1b" not in shown
    assert ready.files()


@pytest.mark.parametrize(("answer", "code"), [("n\n", 1), ("\n", 1), ("", 130)])
def test_no_and_no_answer_change_nothing(ready, monkeypatch, answer, code):
    from compiler.cli import output

    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is sys.stdin)
    for words in (("apply", *STACK), ("run", "tasks/train.yaml", *STACK, "--ask")):
        done = ready.run(*words, piped=answer)
        assert done.code == code, done.text
        assert "create run 1" in done.out
        assert not (ready.folder / "out").exists()
        if code == 1:
            assert "nothing was changed" in done.err


def test_what_takes_long_says_so_to_who_watches_alone(ready, monkeypatch):
    from compiler.cli import output
    from compiler.workflow import planner

    look = planner.look

    def slow(*words, **more):
        time.sleep(0.1)
        return look(*words, **more)

    monkeypatch.setattr(planner, "look", slow)
    monkeypatch.setattr(output, "_LONG", 0.01)
    silent = ready.plan("--format", "json")
    assert silent.err == ""
    assert silent.json["set"] == "demo"
    monkeypatch.setattr(output, "is_terminal", lambda stream: stream is sys.stderr)
    watched = ready.plan("--format", "json")
    assert watched.err == "planning set demo on alpha, eks ...\n"
    assert watched.out == silent.out


def test_control_characters_of_a_record_do_not_reach_the_terminal(ready):
    ready.applied()
    place = ready.folder / "out/.triplane/demo/alpha/train.1.json"
    record = json.loads(place.read_text())
    place.write_text(json.dumps({**record, "identity": "\x1b[31m42\x07"}))
    done = ready.run("status", *STACK)
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "42" in done.out


def test_every_schema_is_printed_and_is_one(ready):
    names = ready.run("schema").out.split()
    assert {"task", "volume", "group", "stack", "plan"} <= set(names)
    for name in names:
        assert ready.run("schema", name).json["$schema"].endswith("2020-12/schema")
