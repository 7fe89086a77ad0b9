"""Completion as shells ask for it, and in the shells themselves where the machine has them."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from tests.command_line import PROGRAM, TOP
from tests.needs import give_up


@pytest.fixture
def ready(project):
    project.monkeypatch.setenv("XDG_CACHE_HOME", str(project.folder / "cache"))
    project.stack(
        "alpha",
        "eks",
        name="stacks/prod.yaml",
        root="..",
        out="../out",
        set={"name": "demo", "inputs": ["../tasks/"]},
    )
    project.task("train-large")
    project.task("train-small")
    project.task("serve")
    return project


def offered(project, line: str) -> list[str]:
    """What TAB at the end of the line offers, in a process of its own."""
    words = line.split(" ")
    done = project.process(
        env={
            "_TRIPLANE_COMPLETE": "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        }
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [item.partition(",")[2] for item in done.stdout.splitlines() if item]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("triplane pl", ["plan"]),
        ("triplane plan --det", ["--detailed-exitcode"]),
        ("triplane plan --format m", ["markdown"]),
        ("triplane plan --stack st", ["stacks/", "stacks/prod.yaml"]),
        ("triplane plan --stack stacks/", ["stacks/prod.yaml"]),
        ("triplane plan --stack stacks/prod.yaml --target ", ["alpha", "eks"]),
        ("triplane plan --stack stacks/prod.yaml --target e", ["eks"]),
        ("triplane plan --stack stacks/prod.yaml --work tr", ["train-large", "train-small"]),
        ("triplane status --stack stacks/prod.yaml ", ["serve", "train-large", "train-small"]),
        ("triplane logs --stack stacks/prod.yaml se", ["serve"]),
        ("triplane plan --stack absent.yaml --target ", []),
    ],
)
def test_what_is_offered(ready, line, expected):
    assert offered(ready, line) == expected


def test_names_of_live_works_without_asking_a_target(ready):
    assert ready.run("apply", "--stack", "stacks/prod.yaml", "--auto-approve").code == 0
    for name in ("train-large", "serve"):
        (ready.folder / f"tasks/{name}.yaml").unlink()
    line = "triplane destroy --stack stacks/prod.yaml "
    assert offered(ready, line) == ["serve", "train-large", "train-small"]
    # What a status saw is offered even where no record lies beside the stack.
    assert ready.run("status", "--stack", "stacks/prod.yaml").code == 0
    shutil.rmtree(ready.folder / "out")
    assert offered(ready, line) == ["serve", "train-large", "train-small"]


@pytest.mark.parametrize("text", ["", "[1, 2]", "targets: 5\nset: 7\n", "a: [", "\x00", "- - -"])
def test_a_stack_that_is_none_offers_nothing(ready, text):
    ready.write("stacks/prod.yaml", text)
    assert offered(ready, "triplane plan --stack stacks/prod.yaml --target ") == []
    assert offered(ready, "triplane plan --stack stacks/prod.yaml --work ") == []


def test_nothing_slow_is_imported(ready):
    code = (
        "import sys, os\n"
        "from compiler.cli.main import main\n"
        "main([])\n"
        "slow = [name for name in sys.modules if name.split('.')[0] in "
        "('jsonschema', 'jinja2', 'fabric', 'pulumi', 'kubernetes', 'rich', 'urllib3')"
        " or name.startswith(('compiler.workflow', 'compiler.targets', 'compiler.model'))]\n"
        "print(slow, file=sys.stderr)\n"
    )
    for line in (
        "triplane plan --stack stacks/prod.yaml --target ",
        "triplane apply --stack stacks/prod.yaml --work ",
    ):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ready.folder,
            capture_output=True,
            text=True,
            check=True,
            env={
                "PYTHONPATH": str(TOP),
                "_TRIPLANE_COMPLETE": "bash_complete",
                "COMP_WORDS": line,
                "COMP_CWORD": str(len(line.split(" ")) - 1),
                "PATH": "/usr/bin:/bin",
            },
        )
        assert done.stderr == "[]\n"
        assert done.stdout


# Each asks its shell, with the printed script loaded, what it would offer for a line.
ASK = {
    "bash": """
        source ./script
        COMP_WORDS=(triplane plan --stack stacks/prod.yaml --target '') COMP_CWORD=5
        _triplane_completion triplane '' --target
        printf '%s\\n' "${COMPREPLY[@]}"
    """,
    "zsh": """
        autoload -U compinit && compinit -u -D
        compadd() { local last=${@[$#]}; print -l -- ${(P)last} }
        _describe() { print -l -- ${${(P)3}%%:*} }
        source ./script
        words=(triplane plan --stack stacks/prod.yaml --target '') CURRENT=6
        _triplane_completion
    """,
    "fish": """
        source ./script
        complete -C 'triplane plan --stack stacks/prod.yaml --target '
    """,
}


@pytest.mark.parametrize("shell", sorted(ASK))
def test_the_script_works_in_its_shell(ready, shell):
    printed = ready.run("completion", shell)
    assert printed.code == 0, printed.text
    assert "triplane" in printed.out
    if shutil.which(shell) is None:
        give_up(f"no {shell}: python -m tests.browser install")
    ready.write("script", printed.out)
    program = ready.folder / "bin/triplane"
    program.parent.mkdir()
    quoted = " ".join(f"'{word}'" for word in PROGRAM)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={TOP} exec {quoted} "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        [shell, "-c", ASK[shell]],
        cwd=ready.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(ready.folder)},
    )
    assert {line.split("\t")[0] for line in done.stdout.split("\n")} >= {"alpha", "eks"}, (
        done.stdout,
        done.stderr,
    )
