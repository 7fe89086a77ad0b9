"""Trees written for Argo CD or Flux, synchronised to a real API server as those do it."""

from __future__ import annotations

import pytest
import yaml

from compiler.planning.states import RunState
from tests.kubernetes.goldens import send
from tests.kubernetes.project import Maker, Project

pytestmark = pytest.mark.kubernetes


@pytest.fixture
def written(new_project: Maker) -> Project:
    """A project whose applies write files, with no right to do anything on the cluster."""
    return new_project(
        roles=(), target={"deployer": "directory"}, stack={"gitops": "argocd", "out": "deploy"}
    )


def _synchronise(project: Project) -> None:
    """Apply every file of the manifest folders, and nothing but those."""
    folder = project.folder / "deploy" / "kubernetes" / "prod"
    bodies = [
        yaml.safe_load(path.read_text())
        for path in sorted(folder.rglob("*"), key=str)
        if path.is_file()
    ]
    for body in sorted(bodies, key=lambda item: item["kind"] == "Job"):
        send(project.api, body)


def _ended(project: Project) -> dict[str, str]:
    """The Jobs that have ended, by name, with how."""
    found = {}
    for job in project.api.items("batch/v1", "Job", project.namespace):
        for item in job["status"].get("conditions") or ():
            if item["type"] in ("Complete", "Failed") and item["status"] == "True":
                found[job["metadata"]["name"].removeprefix(f"{project.name}-")] = item["type"]
    return found


def test_runs_stand_beside_each_other_and_a_sync_starts_nothing_twice(written: Project):
    written.task("train", "echo one", num_nodes=2)
    written.apply()
    _synchronise(written)
    written.api.until("run 1", lambda: _ended(written) == {"train-1": "Complete"})
    uid = written.job("train")["metadata"]["uid"]
    _synchronise(written)
    assert written.job("train")["metadata"]["uid"] == uid
    written.task("train", "echo two", num_nodes=2)
    written.apply()
    _synchronise(written)
    both = {"train-1": "Complete", "train-2": "Complete"}
    written.api.until("run 2", lambda: _ended(written) == both)
    assert written.job("train")["metadata"]["uid"] == uid
    assert {found.state for found in written.runs().values()} == {RunState.WRITTEN}
