"""What must never be overwritten, deleted or started by a slip."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compiler.cli.main import main

STACK = "set: {name: s, inputs: [tasks/]}\ntargets:\n  hpc: {kind: slurm, version: '23.11'}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "stack.yaml").write_text(STACK)
    (tmp_path / "tasks" / "a.yaml").write_text("name: a\nrun: echo\nsecrets: {TOK: null}\n")
    (tmp_path / "tasks" / "b.yaml").write_text("name: b\nrun: echo\n")
    return tmp_path


def run(*words: str) -> int:
    return main([*words, "--stack", "stack.yaml"])


def test_a_plan_is_saved_behind_a_link(here: Path):
    (here / "real.json").write_text("")
    (here / "link.json").symlink_to("real.json")
    assert run("plan", "--out", "link.json") == 0
    assert (here / "link.json").is_symlink()
    assert (here / "real.json").read_text().startswith("{")


def test_a_plan_takes_no_place_of_a_pipe_or_an_input(here: Path):
    os.mkfifo(here / "pipe")
    assert run("plan", "--out", "pipe") == 64
    assert (here / "pipe").is_fifo()
    assert run("plan", "--out", "stack.yaml") == 64
    assert (here / "stack.yaml").read_text() == STACK


def test_a_link_to_nowhere_is_an_error_and_no_deletion(here: Path, capsys):
    assert run("apply", "--auto-approve") == 0
    (here / "tasks" / "b.yaml").unlink()
    (here / "tasks" / "b.yaml").symlink_to("/nowhere/b.yaml")
    assert run("plan") == 1
    assert "file-unreadable" in capsys.readouterr().err


def test_a_secret_goes_only_to_tasks_that_declare_it(here: Path, capsys):
    assert run("apply", "--auto-approve") == 0
    capsys.readouterr()
    assert run("plan", "--secret", "TOK=v") == 0
    assert "No changes" in capsys.readouterr().out
    assert run("plan", "--secret", "TOKEN=v") == 64
    assert "none of these tasks" in capsys.readouterr().err


def test_an_unset_variable_names_nothing(here: Path):
    """`--stack "$STACK"` and `validate "$FILE"` are no words for whatever lies around."""
    assert main(["plan", "--stack", ""]) == 64
    assert main(["validate", ""]) == 1


@pytest.mark.parametrize("command", ["plan", "render"])
def test_an_empty_place_is_no_absence_of_one(here: Path, command: str):
    assert run(command, "--out", "") == 64


@pytest.mark.parametrize(
    ("out", "words"), [("sp ace.json", "'sp ace.json'"), ("-dash.json", "-- -dash.json")]
)
def test_what_is_said_to_be_typed_can_be_typed(here: Path, capsys, out: str, words: str):
    assert run("plan", f"--out={out}") == 0
    assert capsys.readouterr().err.endswith(f"triplane apply {words}\n")


def test_an_apply_that_is_refused_leaves_the_holder_its_files(here: Path):
    (here / "stack.yaml").write_text(f"{STACK}out: out\n")
    state = here / "out/.triplane/s"
    staged = state / "hpc.tmp/1234/file"
    staged.parent.mkdir(parents=True)
    staged.write_text("half-written")
    (state / "hpc.lock").write_text("another apply")
    assert run("apply", "--auto-approve", "--secret", "TOK=x") == 1
    assert staged.read_text() == "half-written"
    assert (state / "hpc.lock").exists()
