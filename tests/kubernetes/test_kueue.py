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


def test_an_admitted_jobset_is_no_difference(queued: Project):
    queued.target = {**queued.target, "jobset": "0.12"}
    queued.write_stack()
    recovery = {"strategy": "FAILOVER", "max_restarts_on_errors": 1}
    wanted = {**_TASK["resources"], "job_recovery": recovery}
    queued.task("train", num_nodes=2, resources=wanted)
    queued.apply()
    queued.until("train", RunState.SUCCEEDED)
    name = f"{queued.name}-train-1"
    jobset = queued.api.get("jobset.x-k8s.io/v1alpha2", "JobSet", name, queued.namespace)
    assert jobset["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team"
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"]["node.kubernetes.io/instance-type"] == "p5.48xlarge"
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


def test_a_waiting_run_is_changed_in_place_and_keeps_its_age(queued: Project):
    wanted = {"cpus": 1, "memory": 1, "accelerators": "H100:6"}
    queued.task("big", num_nodes=3, resources=wanted)
    queued.apply()
    queued.until("big", RunState.PENDING, detail="in queue team: ")
    before, waiting = queued.job("big"), _workloads(queued)
    smaller = {**wanted, "accelerators": "H100:5"}
    queued.task("big", run="echo smaller", num_nodes=3, envs={"A": "1"}, resources=smaller)
    change = queued.plan()["big"]
    assert (change.action, change.run) == (Action.UPDATE, 1)
    assert "still pending" in change.reason
    assert "loses" not in change.reason
    shown = queued.triplane("plan")
    assert "nvidia.com/gpu" in shown.out
    queued.apply()
    after = queued.job("big")
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["creationTimestamp"] == before["metadata"]["creationTimestamp"]
    name = f"{queued.name}-big-1-scripts"
    scripts = queued.api.get("v1", "ConfigMap", name, queued.namespace)["data"]
    assert scripts["run.sh"] == "echo smaller"
    # fifteen of sixteen devices: it is admitted now, as the same entry of the queue
    queued.until("big", RunState.SUCCEEDED)
    assert _workloads(queued).keys() == waiting.keys()
    assert [run for _, run in queued.runs()] == [1]
    assert queued.record("big")["spec_digest"] == change.record.spec_digest
    assert queued.triplane("plan", "--detailed-exitcode").code == 0


def test_what_cannot_be_changed_in_place_is_replaced(queued: Project):
    queued.task("big", num_nodes=3, **_TASK)
    queued.apply()
    queued.until("big", RunState.PENDING, detail="in queue team: ")
    image = {**_TASK["resources"], "image_id": "docker:ubuntu:24.04"}
    queued.task("big", num_nodes=3, resources=image)
    change = queued.plan()["big"]
    assert (change.action, change.run) == (Action.REPLACE, 2)
    queued.apply()
    assert queued.jobs() == {"big-2"}


def test_the_more_urgent_is_admitted_first(queued: Project):
    for name, value in (("urgent", 100), ("usual", 10)):
        body = {"apiVersion": _KUEUE, "kind": "WorkloadPriorityClass", "value": value}
        queued.api.apply({**body, "metadata": {"name": name}})
    # kwok ends the pods of a Job at once: these cannot start, and keep their quota
    nowhere = {"kubernetes": {"pod_config": {"spec": {"nodeSelector": {"none": "such"}}}}}
    for work, urgency in (("first", "usual"), ("late", "usual"), ("hurried", "urgent")):
        wanted = {**_TASK["resources"], "priority_class": urgency}
        queued.task(work, num_nodes=2, resources=wanted, config=nowhere)
        queued.apply()
        detail = "Unschedulable" if work == "first" else "in queue team: "
        queued.until(work, RunState.PENDING, detail=detail)
    label = queued.job("hurried")["metadata"]["labels"]["kueue.x-k8s.io/priority-class"]
    assert label == "urgent"
    assert queued.triplane("cancel", "first").code == 0
    queued.until("hurried", RunState.PENDING, detail="Unschedulable")
    queued.until("late", RunState.PENDING, detail="in queue team: ")


def test_a_queue_that_is_not_there_is_named(queued: Project):
    queued.target = {"queue": {"kind": "kueue", "name": "none-such"}}
    queued.write_stack()
    queued.task("train", **_TASK)
    queued.apply()
    found = queued.until("train", RunState.PENDING, detail="none-such")
    assert "in queue none-such: LocalQueue none-such doesn't exist" in found.detail


def _workloads(project: Project) -> dict[str, str]:
    """Uid and creation of Kueue's entries."""
    items = project.api.items(_KUEUE, "Workload", project.namespace)
    return {item["metadata"]["uid"]: item["metadata"]["creationTimestamp"] for item in items}


def _workload(project: Project) -> str:
    items = project.api.items(_KUEUE, "Workload", project.namespace)
    return items[0]["metadata"]["name"] if items else ""
