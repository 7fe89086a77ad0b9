"""The README's two ways to install the command, with real dependencies from the registry."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.build import TOP, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

STACK = """\
set: {name: away, inputs: [task.yaml]}
targets:
  us-east-1: {kind: aws, deployer: pulumi, files: {bucket: s3://b}}
"""
TASK = "name: hello\nresources: {cpus: 2}\nrun: echo hello\n"


def new_environment(folder: Path) -> Path:
    """A virtual environment with nothing in it but pip; its `bin`."""
    run([sys.executable, "-m", "venv", folder])
    return folder / "bin"


def environ(home: Path, **more: str) -> dict[str, str]:
    """What an installer finds: the way to the registry, and no package of the tests."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"HOME": str(home)} | more


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "stack.yaml").write_text(STACK)
    (folder / "task.yaml").write_text(TASK)
    return folder


def test_pip_install_gives_the_command_without_pulumi(tmp_path, home):
    folder = new_environment(tmp_path / "venv")
    run([folder / "python", "-m", "pip", "install", "--quiet", "."], env=environ(home))
    listed = run([folder / "python", "-m", "pip", "list", "--format=freeze"], env=environ(home))
    assert "triplane==" in listed
    assert "pulumi" not in listed
    triplane = folder / "triplane"
    works_away_from_the_checkout(triplane, home)
    done = subprocess.run(
        [triplane, "plan", "--stack", "stack.yaml"],
        cwd=home,
        env=environ(home),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 3, said
    assert "`deployer: pulumi`" in said
    assert "Traceback" not in said
    assert "internal error" not in said


def test_uv_tool_install_gives_the_command(tmp_path, home):
    folder = new_environment(tmp_path / "venv")
    run([folder / "python", "-m", "pip", "install", "--quiet", "uv"], env=environ(home))
    settings = environ(
        home,
        UV_TOOL_DIR=str(tmp_path / "tools"),
        UV_TOOL_BIN_DIR=str(tmp_path / "bin"),
        UV_CACHE_DIR=str(tmp_path / "cache"),
        UV_PYTHON=sys.executable,
        UV_PYTHON_DOWNLOADS="never",
        UV_NATIVE_TLS="true",
    )
    run([folder / "uv", "tool", "install", "--quiet", "."], env=settings)
    works_away_from_the_checkout(tmp_path / "bin" / "triplane", home)
    assert not (TOP / "uv.lock").exists()


def works_away_from_the_checkout(triplane: Path, home: Path) -> None:
    run([triplane, "validate", "task.yaml", "stack.yaml"], cwd=home, env=environ(home))
    words = ["render", "task.yaml", "--stack", "stack.yaml", "--out", "out"]
    run([triplane, *words], cwd=home, env=environ(home))
    assert list((home / "out" / "aws" / "us-east-1").rglob("__main__.py"))
