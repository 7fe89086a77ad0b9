"""The project that the tests of this folder work in."""

import os

import pytest

from compiler.workflow import apply as applying
from compiler.workflow import observe
from tests.workflow.platforms import TARGETS, Deployer, Platform, Platforms
from tests.workflow.project import Project


@pytest.fixture
def project(tmp_path, capsys, monkeypatch) -> Project:
    for name in ("TRIPLANE_STACK", "NO_COLOR", "TRIPLANE_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    # No test here is about a power cut, and waiting for the disk is most of their time.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys, monkeypatch)


@pytest.fixture
def all_platforms(project: Project) -> Platforms:
    """Four targets in memory that take what they are given, and a task that may go to each."""
    made = Platforms({key: Platform(key) for key in TARGETS})
    for module in (observe, applying):
        project.monkeypatch.setattr(
            module, "deployer_of", lambda stack, spec, **more: Deployer(made, spec.key)
        )
    project.stack(targets=TARGETS)
    project.task("train")
    return made
