"""The project that the tests of this folder work in."""

import os

import pytest

from tests.workflow.project import Project


@pytest.fixture
def project(tmp_path, capsys, monkeypatch) -> Project:
    for name in ("TRIPLANE_STACK", "NO_COLOR", "TRIPLANE_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    # No test here is about a power cut, and waiting for the disk is most of their time.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys, monkeypatch)
