"""Under the real Kueue: admitted, waiting, evicted, and never a difference for it."""

from __future__ import annotations

import uuid

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import Maker, Project

pytestmark = pytest.mark.kubernetes

_KUEUE = "kueue.x-k8s.io/v1beta2"
_TASK = {"resources": {"cpus": 1, "memory": 1, "accelerators": "H100:8"}}


@pytest.fixture
def queued(new_project: Maker) -> Project:
    """A project whose queue admits 16 H100, with a flavour that adds selectors and tolerations."""
    name = f"q-{uuid.uuid4().hex[:6]}"
    project = new_project(target={"queue": {"kind": "kueue", "name": "team"}})
    quotas = (("cpu", "1000"), ("memory", "8000Gi"), ("nvidia.com/gpu", "16"))
    resources = [{"name": item, "nominalQuota": quota} for item, quota in quotas]
    group = {
        "coveredResources": [item for item, _ in quotas],
        "flavors": [{"name": "h100", "resources": resources}],
    }
    project.api.apply(
        {
            "apiVersion": _KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
        },
        {
            "apiVersion": _KUEUE,
            "kind": "LocalQueue",
            "metadata": {"name": "team", "namespace": project.namespace},
            "spec": {"clusterQueue": name},
        },
    )
    return project


def test_admitted_work_is_no_difference(queued: Project):
    queued.task("train", num_nodes=2, **_TASK)
    queued.apply()
    queued.until("train", RunState.SUCCEEDED)
    template = queued.job("train")["spec"]["template"]["spec"]
    assert queued.job("train")["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team"
    assert template["nodeSelector"]["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert queued.triplane("plan", "--detailed-exitcode").code == 0


def test_waiting_in_a_full_queue_is_told_in_kueues_words(queued: Project):
    queued.task("big", num_nodes=3, **_TASK)
    queued.apply()
    found = queued.until("big", RunState.PENDING, detail="in queue team: ")
    assert "nvidia.com/gpu" in found.detail
    assert queued.plan()["big"].action is Action.NOOP
    assert queued.pods("big") == []


def test_evicted_and_admitted_again_is_no_difference(queued: Project):
    # kwok ends the pods of a Job at once: these cannot start, and keep their quota
    spec = {"nodeSelector": {"none": "such"}}
    queued.task("train", config={"kubernetes": {"pod_config": {"spec": spec}}}, **_TASK)
    queued.apply()
    queued.until("train", RunState.PENDING, detail="Unschedulable")
    assert queued.triplane("plan", "--detailed-exitcode").code == 0
    name = queued.api.until("workload", lambda: _workload(queued))
    queued.api.patch(
        _KUEUE, "Workload", name, {"spec": {"active": False}}, namespace=queued.namespace
    )
    found = queued.until("train", RunState.PENDING, detail="in queue team")
    assert "deactivated" in found.detail.lower() or "inactive" in found.detail.lower()
    assert queued.job("train")["spec"]["suspend"] is True
    assert queued.triplane("plan", "--detailed-exitcode").code == 0
    queued.api.patch(
        _KUEUE, "Workload", name, {"spec": {"active": True}}, namespace=queued.namespace
    )
    queued.until("train", RunState.PENDING, detail="Unschedulable")
    assert queued.triplane("plan", "--detailed-exitcode").code == 0
    assert queued.job("train")["metadata"]["uid"] == queued.record("train")["identity"]


def _workload(project: Project) -> str:
    items = project.api.items(_KUEUE, "Workload", project.namespace)
    return items[0]["metadata"]["name"] if items else ""
