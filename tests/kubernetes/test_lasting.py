"""What does not end: services roll in place, claims grow and are never lost unasked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Maker, Project

pytestmark = pytest.mark.kubernetes

_DEPLOYMENT, _CLAIM = "Deployment", "PersistentVolumeClaim"
_CLASS = "tests-by-hand"


def _serve(project: Project, text: str, replicas: int = 2) -> None:
    service = {"readiness_probe": "/health", "replicas": replicas, "ports": 9000}
    project.task("api", text, service=service)


def _live(project: Project, kind: str = _DEPLOYMENT, work: str = "api") -> dict[str, Any]:
    version = "apps/v1" if kind == _DEPLOYMENT else V1
    return project.api.get(version, kind, f"{project.name}-{work}", project.namespace)


def _scripts(project: Project) -> set[str]:
    items = project.api.items(V1, "ConfigMap", project.namespace)
    return {item["metadata"]["name"] for item in items if "-scripts-" in item["metadata"]["name"]}


def test_a_service_rolls_in_place_and_leaves_nothing_behind(project: Project):
    _serve(project, "serve one")
    assert "create run 1" in project.apply().out
    project.until("api", RunState.RUNNING, detail="2 of 2 replicas ready")
    assert project.plan()["api"].action is Action.NOOP
    assert project.triplane("plan", "--detailed-exitcode").code == 0
    uid, first = _live(project)["metadata"]["uid"], _scripts(project)
    _serve(project, "serve two")
    change = project.plan()["api"]
    assert (change.action, change.run) == (Action.UPDATE, 1)
    assert "rolled out in place" in change.reason
    project.apply()
    project.until("api", RunState.RUNNING, detail="2 of 2 replicas ready")
    assert _live(project)["metadata"]["uid"] == uid
    second = _scripts(project)
    # replicas of before may still be there, and need their scripts
    assert first < second and len(second) == 2
    _serve(project, "serve three")
    project.apply()
    third = _scripts(project)
    assert len(third) == 2 and not first & third
    assert project.triplane("plan", "--detailed-exitcode").code == 0
    assert [run for _, run in project.runs()] == [1]
    done = project.triplane("destroy", "--auto-approve")
    assert done.code == 0, done.text
    assert project.api.items("apps/v1", _DEPLOYMENT, project.namespace) == []
    assert _scripts(project) == set()


def test_a_service_that_was_scaled_or_deleted_by_hand_is_put_back(project: Project):
    _serve(project, "serve")
    project.apply()
    project.until("api", RunState.RUNNING, detail="2 of 2 replicas ready")
    name = f"{project.name}-api"
    body = {"spec": {"replicas": 1}}
    project.api.patch("apps/v1", _DEPLOYMENT, name, body, project.namespace)
    shown = project.triplane("plan")
    assert "drift" in shown.out and "spec.replicas" in shown.out
    project.apply()
    assert _live(project)["spec"]["replicas"] == 2
    project.api.delete("apps/v1", _DEPLOYMENT, name, project.namespace)
    project.api.until(
        "it goes",
        lambda: project.api.find("apps/v1", _DEPLOYMENT, name, project.namespace) is None,
    )
    assert "put back" in project.plan()["api"].reason
    project.apply()
    project.until("api", RunState.RUNNING, detail="2 of 2 replicas ready")
    assert project.triplane("plan", "--detailed-exitcode").code == 0


def test_replicas_that_cannot_start_are_told(project: Project):
    _serve(project, "serve", replicas=1)
    path = project.folder / "tasks" / "api.yaml"
    task = yaml.safe_load(path.read_text())
    task["resources"] = {"cpus": 1, "memory": 1, "accelerators": "A100:8"}
    path.write_text(yaml.safe_dump(task))
    project.apply()
    found = project.until("api", RunState.PENDING, detail="Unschedulable")
    assert found.detail.startswith("0 of 1 replicas ready; Unschedulable: 0/")


@pytest.fixture
def disk(new_project: Maker, tmp_path: Path) -> Project:
    """A project on the real node with a disk of 20 GiB there, for whoever claims it."""
    project = new_project(real=True)
    group = "storage.k8s.io/v1"
    project.api.apply(
        {
            "apiVersion": group,
            "kind": "StorageClass",
            "metadata": {"name": _CLASS},
            "provisioner": "kubernetes.io/no-provisioner",
            "allowVolumeExpansion": True,
        },
        {
            "apiVersion": V1,
            "kind": "PersistentVolume",
            "metadata": {"name": project.name},
            "spec": {
                "capacity": {"storage": "20Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": _CLASS,
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": str(tmp_path)},
                "claimRef": {"namespace": project.namespace, "name": f"{project.name}-models"},
            },
        },
    )
    return project


def _volume(project: Project, size: str, mode: str = "ReadWriteOnce") -> Path:
    body = {
        "name": "models",
        "type": "k8s-pvc",
        "size": size,
        "config": {"storage_class_name": _CLASS, "access_mode": mode},
    }
    path = project.folder / "tasks" / "models.yaml"
    path.write_text(yaml.safe_dump(body))
    return path


def test_a_claim_is_used_grows_and_is_kept(disk: Project, tmp_path: Path):
    path = _volume(disk, "10Gi")
    disk.task("writer", "echo weights >/models/out; cat /models/out", volumes={"/models": "models"})
    disk.apply()
    disk.until("models", RunState.RUNNING, detail="bound")
    assert disk.until("writer", seconds=120).state is RunState.SUCCEEDED
    assert (tmp_path / "out").read_text() == "weights\n"
    assert disk.triplane("plan", "--detailed-exitcode").code == 0
    uid = _live(disk, _CLAIM, "models")["metadata"]["uid"]
    _volume(disk, "15Gi")
    change = disk.plan()["models"]
    assert (change.action, change.run) == (Action.UPDATE, 1)
    disk.apply()
    claim = _live(disk, _CLAIM, "models")
    assert claim["spec"]["resources"]["requests"]["storage"] == "15Gi"
    _volume(disk, "15Gi", "ReadWriteMany")
    assert disk.plan()["models"].action is Action.REFUSED
    path.unlink()
    (disk.folder / "tasks" / "writer.yaml").unlink()
    disk.task("other")
    disk.apply()
    disk.until("other", seconds=120)
    assert _live(disk, _CLAIM, "models")["metadata"]["uid"] == uid
    assert disk.triplane("destroy", "--auto-approve").code == 0
    assert _live(disk, _CLAIM, "models")["metadata"]["uid"] == uid
    done = disk.triplane("destroy", "--auto-approve", "--delete-volumes")
    assert done.code == 0, done.text
    assert disk.api.items(V1, _CLAIM, disk.namespace) == []
    assert (tmp_path / "out").exists()
