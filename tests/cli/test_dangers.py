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
