"""Pipes, devices, files in place of folders, names that are no UTF-8: said at once, with exit 1."""

from __future__ import annotations

import json
import os
import socket

import pytest

from compiler.rendering import tree
from tests.command_line import TOP

STACK = ("--stack", "stack.yaml")


@pytest.fixture
def ready(project):
    project.stack("alpha")
    project.task("train", resources={"infra": "slurm"})
    return project


def commands(path):
    """Every command that reads a file, on `path`."""
    return (
        ("validate", path),
        ("render", path, *STACK, "--out", "review"),
        ("diff", path, *STACK, "--against", "tasks"),
        ("plan", path, *STACK),
        ("plan", *STACK[:1], path),
        ("apply", path, *STACK, "--auto-approve"),
        ("run", path, *STACK),
    )


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["fifo.yaml", "fifo.json", "/dev/zero", "socket.yaml"])
def test_what_is_no_file_is_refused_at_once(ready, name):
    held = None
    if name.startswith("fifo"):
        os.mkfifo(name)
    elif name.startswith("socket"):
        held = socket.socket(socket.AF_UNIX)
        held.bind(name)
    for words in commands(name):
        done = ready.run(*words)
        assert done.code == 1, (words, done.text)
        assert "error[no-regular-file]" in done.text
        assert f"`{name}` is a " in done.text
    if held is not None:
        held.close()
    assert not (ready.folder / "review").exists()


@pytest.mark.timeout(60)
def test_a_pipe_is_no_script_and_no_rendered_file(ready):
    os.mkfifo("pipe")
    assert ready.run("why", "pipe:1", *STACK).code == 64
    done = ready.run("migrate", "pipe")
    assert done.code == 1 and "it is no file" in done.text


@pytest.mark.timeout(60)
def test_a_pipe_that_a_shell_has_opened_is_read(ready):
    read, write = os.pipe()
    os.write(write, b"name: a\nrun: echo\n")
    os.close(write)
    done = ready.run("validate", f"/dev/fd/{read}")
    os.close(read)
    assert (done.code, done.out) == (0, "1 file: no errors\n")


def test_a_kept_script_must_be_there(ready):
    ready.write("kept.yaml", "config:\n  triplane: {native_script: gone.sh}\n")
    for words in commands("kept.yaml"):
        if words[1] == "--stack":
            continue
        done = ready.run(*words)
        assert done.code == 1, words
        assert "error[native-script-missing]" in done.text
        assert "kept.yaml:2:" in done.text
    assert ready.run("validate", "kept.yaml", "--no-files").code == 0
    (ready.folder / "gone.sh").mkdir()
    assert "`gone.sh` is no file" in ready.run("validate", "kept.yaml").text


def test_a_file_in_place_of_the_output_folder(ready):
    ready.write("notes.txt", "mine\n")
    for out in ("notes.txt", "notes.txt/below"):
        done = ready.run("render", *STACK, "--out", out)
        assert (done.code, done.out) == (1, "")
        assert "error[output-folder]: `notes.txt` is a file, and no folder" in done.err
    assert ready.plan("--out", "notes.txt/plan.json").code == 1
    assert ready.plan("--out", "tasks").code == 64
    ready.stack("alpha", out="notes.txt")
    for words in (
        ("plan", *STACK),
        ("apply", *STACK, "--auto-approve"),
        ("run", "tasks/train.yaml", *STACK),
        ("status", *STACK),
        ("destroy", *STACK, "--auto-approve"),
    ):
        done = ready.run(*words)
        assert (done.code, done.out) == (1, ""), words
        assert done.err.count("error[") == 1
        assert "nothing can be written for alpha: `notes.txt` is a file, and no folder" in done.err
        assert "stack.yaml:" in done.err
    assert (ready.folder / "notes.txt").read_text() == "mine\n"


def test_a_folder_that_cannot_be_written_to_is_said_before_anything_is_done(ready, monkeypatch):
    monkeypatch.setattr(tree.os, "access", lambda path, mode: False)
    for words in (
        ("render", *STACK, "--out", "review"),
        ("plan", *STACK, "--out", "plan.json"),
        ("apply", *STACK, "--auto-approve"),
        ("run", "tasks/train.yaml", *STACK),
    ):
        done = ready.run(*words)
        assert done.code == 1, words
        assert "cannot be written to" in done.err
        assert done.out == ""
    assert sorted(path.name for path in ready.folder.iterdir()) == ["stack.yaml", "tasks"]


def test_a_folder_without_scripts_is_wrong_input(ready):
    (ready.folder / "hollow").mkdir()
    for more in ((), ("--out", "migrated"), ("--format", "json")):
        done = ready.run("migrate", "hollow", *more)
        assert done.code == 1
        assert "error[migrate-no-scripts]" in done.err
        assert "the folder `hollow`" in done.err
    assert not (ready.folder / "migrated").exists()


@pytest.mark.parametrize("place", [b"st\xff.yaml", b"d\xff/stack.yaml"])
def test_a_stack_whose_name_is_no_utf_8(ready, place):
    name = os.fsdecode(place)
    body = (ready.folder / "stack.yaml").read_bytes()
    target = ready.folder / name
    if target.parent != ready.folder:
        (ready.folder / "tasks").rename(ready.folder / "moved")
        target.parent.mkdir()
        (ready.folder / "moved").rename(target.parent / "tasks")
    target.write_bytes(body)
    for format in ("text", "json", "markdown", "html"):
        assert ready.run("plan", "--stack", name, "--format", format).code == 0
    assert ready.run("plan", "--stack", name, "--out", "plan.json").code == 0
    done = ready.run("apply", "plan.json", "--quiet")
    assert done.code == 0, done.text
    assert ready.run("plan", "--stack", name, "--detailed-exitcode").code == 0
    target.write_bytes(body + b"wrong: 1\n")
    for format in ("text", "json", "sarif", "github", "concise"):
        done = ready.run("validate", name, "--format", format)
        assert done.code == 1
        if format in ("json", "sarif"):
            assert json.loads(done.out.encode("utf-8"))


FAILURES = (
    ("plan", "bad.yaml", *STACK),
    ("render", "bad.yaml", *STACK, "--out", "review"),
    ("diff", "bad.yaml", *STACK, "--against", "tasks"),
    ("apply", "bad.yaml", *STACK, "--auto-approve"),
    ("run", "bad.yaml", *STACK),
    ("status", "--stack", "bad.yaml"),
    ("migrate", "hollow"),
)


@pytest.mark.parametrize("words", FAILURES, ids=lambda words: words[0])
def test_a_failure_is_a_document_too_where_json_was_asked_for(ready, words):
    ready.write("bad.yaml", "runn: echo\n")
    (ready.folder / "hollow").mkdir()
    done = ready.run(*words, "--format", "json")
    assert done.code == 1
    assert (done.json["kind"], done.json["exit_code"]) == ("failure", 1)
    assert [item["severity"] for item in done.json["diagnostics"]] == ["error"]
    assert "error[" in done.err  # for people, as always


def test_other_failures_are_documents_too(ready):
    wrong = ready.run("explain", "resources.cpu", "--format", "json")
    assert (wrong.code, wrong.json["exit_code"]) == (64, 64)
    assert "did you mean" in wrong.json["message"]
    ready.plan("--out", "plan.json")
    ready.task("train", num_nodes=2)
    moved = ready.run("apply", "plan.json", "--format", "json")
    assert (moved.code, moved.json["exit_code"]) == (4, 4)


def test_a_secret_for_files_alone_is_said_to_go_nowhere(ready):
    ready.task("train", resources={"infra": "slurm"}, secrets={"TOKEN": None})
    for words in (
        ("run", "tasks/train.yaml", *STACK),
        ("plan", *STACK),
        ("apply", *STACK, "--auto-approve"),
    ):
        done = ready.run(*words, "--secret", "TOKEN=canary-5f0e9c")
        assert done.code == 0, done.text
        assert "[secret-not-kept]" in done.err or "[secret-not-kept]" in done.out
        assert "canary" not in done.text
    assert "secret-not-kept" not in ready.plan().text


def test_to_decline_is_1(ready, monkeypatch):
    monkeypatch.setattr("compiler.cli.output.is_terminal", lambda stream: True)
    done = ready.run("apply", *STACK, piped="n\n")
    assert done.code == 1
    assert "nothing was changed" in done.err
    assert not (ready.folder / "out").exists()
    page = (TOP / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    assert "was answered with no" in page
