"""The project that the tests of this folder work in."""

import pytest

from tests.workflow.project import Project


@pytest.fixture
def project(tmp_path, capsys, monkeypatch) -> Project:
    for name in ("TRIPLANE_STACK", "NO_COLOR", "CANARY", "TRIPLANE_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)
