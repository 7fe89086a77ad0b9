"""Every example of every help is run as it stands, in a project that has what it names."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from click.testing import CliRunner

from compiler.cli.main import COMMANDS, cli

# What targets that are directories cannot do; on clusters these have tests of their own.
NEEDS_A_CLUSTER = {"logs": 1, "cancel": 1, "exec": 1, "stop": 1, "start": 1}
NEEDS_A_TERMINAL = "triplane shell"
# No group runs here that could be joined.
NEEDS_A_GROUP = "rl-math"
# `wait` has codes of its own: written files are unknown.
ANSWERS = {"wait": (102, 101), "plan": (0, 2), "diff": (0, 2), "migrate": (0, 1)}


def examples() -> list[str]:
    """The lines of the help that are command lines."""
    found = []
    for name in COMMANDS:
        text = CliRunner().invoke(cli, [name, "--help"]).output
        found += [
            line.strip()
            for line in text.splitlines()
            if line.startswith("    ") and "triplane " in line
        ]
    return found


def test_every_command_has_an_example():
    shown = " ".join(examples())
    assert [name for name in COMMANDS if f"triplane {name}" not in shown] == []


@pytest.fixture
def prepared(project):
    """Stacks, tasks, scripts, a saved plan, a rendered tree and a git remote, by their names."""
    for name in ("prod", "demo", "dev"):
        project.stack(
            "alpha",
            "eks",
            name=f"stacks/{name}.yaml",
            root="..",
            out=f"../rendered/{name}",
            set={"name": name, "inputs": ["../tasks/"]},
        )
    project.task("train")
    project.task("llama-pretrain")
    project.task("workbench")
    for name in ("task", "eval", "sweep"):
        project.task(name, folder=".")
    project.task("hello", resources={"cpus": 2, "infra": "slurm"})
    script = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --time=1:00:00\nsrun hostname\n"
    project.write("job.sh", script)
    project.write("scripts/one.sh", script)
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "all"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        subprocess.run(["git", *words], cwd=project.folder, check=True)
    for name in ("demo", "dev"):
        stack = ("--stack", f"stacks/{name}.yaml")
        assert project.run("apply", *stack, "--auto-approve").code == 0
    assert project.run("render", "--stack", "stacks/prod.yaml", "--out", "rendered").code == 0
    project.task("llama-pretrain")
    return project


@pytest.mark.parametrize("line", examples())
def test_an_example_does_what_it_says(prepared, line, monkeypatch):
    if not line.startswith("triplane apply --stack"):
        with_plan = prepared.run("plan", "--stack", "stacks/prod.yaml", "--out", "plan.json")
        assert with_plan.code == 0, with_plan.text
    words = shlex.split(line, comments=True)
    piped = None
    if words[0] == "cat":
        piped = (prepared.folder / words[1]).read_text()
        words = words[words.index("|") + 1 :]
    ends = [words.index(mark) for mark in ("|", "<") if mark in words]
    ends += [at for at, word in enumerate(words) if word.startswith(">")]
    assert words[0] == "triplane"
    words = words[1 : min(ends, default=len(words))]
    if words[0] == "apply" and "plan.json" not in words and "--auto-approve" not in words:
        words.append("--auto-approve")  # somebody sits at the terminal
    if words[0] in ("status", "destroy", "wait", *NEEDS_A_CLUSTER) and "stacks/prod.yaml" in words:
        applied = prepared.run("apply", "plan.json")
        assert applied.code == 0, applied.text
    if words[0] == "wait":
        words += ["--timeout", "0"]
    if words[0] == "destroy" and "--auto-approve" not in words:
        words.append("--auto-approve")
    done = prepared.run(*words, piped=piped)
    if NEEDS_A_GROUP in line:
        assert "rl-math" in done.err
        return
    if line.startswith(NEEDS_A_TERMINAL):
        assert "a shell needs a terminal" in done.err
        return
    expected = NEEDS_A_CLUSTER.get(words[0], ANSWERS.get(words[0], 0))
    allowed = expected if isinstance(expected, tuple) else (expected,)
    assert done.code in allowed, done.text
    assert "No such option" not in done.err
    assert "Usage:" not in done.err
