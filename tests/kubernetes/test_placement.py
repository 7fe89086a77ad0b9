"""Where the real scheduler puts pods, and what status says where it cannot."""

from __future__ import annotations

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Maker, Project
from tests.kubernetes_site import KubernetesSite

pytestmark = pytest.mark.kubernetes

_SCHEMES = ("gfd", "skypilot", "karpenter")


def _nodes(site: KubernetesSite, project: Project, work: str) -> list[dict]:
    """The nodes of the work's pods, one a rank."""
    names = [pod["spec"].get("nodeName") for pod in project.pods(work)]
    return [site.api.get(V1, "Node", name) for name in names if name]


@pytest.mark.parametrize("scheme", _SCHEMES)
def test_each_label_scheme_finds_its_nodes(
    new_project: Maker, kubernetes_site: KubernetesSite, scheme: str
):
    project = new_project(target={"labels": scheme})
    wanted = {"accelerators": "H100:8", "cpus": 4, "memory": 64}
    project.task("train", num_nodes=3, resources=wanted)
    project.apply()
    project.until("train", RunState.SUCCEEDED)
    nodes = _nodes(kubernetes_site, project, "train")
    types = {item["metadata"]["labels"]["node.kubernetes.io/instance-type"] for item in nodes}
    assert types == {"p5.48xlarge"}
    assert len(nodes) == 3


def test_neuron_devices_are_found_by_karpenters_label(
    new_project: Maker, kubernetes_site: KubernetesSite
):
    project = new_project(target={"labels": "karpenter"})
    wanted = {"accelerators": "Trainium2:16", "image_id": "docker:neuron:1", "cpus": 4, "memory": 8}
    project.task("train", num_nodes=2, resources=wanted)
    project.apply()
    project.until("train", RunState.SUCCEEDED)
    nodes = _nodes(kubernetes_site, project, "train")
    types = [item["metadata"]["labels"]["node.kubernetes.io/instance-type"] for item in nodes]
    assert types == ["trn2.48xlarge"] * 2


def test_what_no_node_can_hold_stays_pending_with_the_schedulers_reason(project: Project):
    wanted = {"accelerators": "A100:8", "cpus": 4, "memory": 64}
    project.task("train", num_nodes=2, resources=wanted)
    project.apply()
    found = project.until("train", RunState.PENDING, detail="Unschedulable")
    assert found.detail.startswith("rank 0: Unschedulable: 0/")
    assert "nodes are available" in found.detail
    assert project.plan()["train"].action is Action.NOOP


def test_pods_that_a_quota_refuses_are_what_status_tells(project: Project):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": project.namespace},
        "spec": {"hard": {"requests.cpu": "1"}},
    }
    project.api.apply(quota)
    project.task("train", resources={"cpus": 4, "memory": 1})
    project.apply()
    found = project.until("train", RunState.PENDING, detail="exceeded quota: small")
    assert "requests.cpu=4" in found.detail
    assert project.plan()["train"].action is Action.NOOP
