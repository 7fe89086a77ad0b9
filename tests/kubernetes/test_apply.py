"""Plan and apply on a real API server, as a user with the shipped roles and nothing else."""

from __future__ import annotations

import base64
import json

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from compiler.targets.registry import deployer_of
from tests.kubernetes.project import JOB, V1, Maker, Project
from tests.kubernetes_site import Refused

pytestmark = pytest.mark.kubernetes


def test_applied_again_nothing_changes(project: Project):
    project.task("train", num_nodes=2)
    assert "create run 1" in project.apply().out
    project.until("train")
    again = project.triplane("plan", "--detailed-exitcode")
    assert again.code == 0, again.text
    assert project.plan()["train"].action is Action.DONE
    assert project.jobs() == {"train-1"}


def test_objects_are_members_of_an_inventory(project: Project):
    project.task("train")
    project.apply()
    parent = project.api.get(V1, "ConfigMap", f"triplane-{project.name}", project.namespace)
    meta = parent["metadata"]
    assert meta["annotations"]["applyset.kubernetes.io/tooling"].startswith("triplane/v")
    kinds = meta["annotations"]["applyset.kubernetes.io/contains-group-kinds"]
    assert kinds == "ConfigMap,Job.batch,Service"
    member = f"applyset.kubernetes.io/part-of={meta['labels']['applyset.kubernetes.io/id']}"
    for version, kind, names in (
        (JOB, "Job", {f"{project.name}-train-1"}),
        (V1, "Service", {f"{project.name}-train-1"}),
        (V1, "ConfigMap", {f"{project.name}-train-1-scripts"}),
    ):
        items = project.api.items(version, kind, project.namespace, member)
        assert {item["metadata"]["name"] for item in items} == names


def test_one_manager_owns_what_was_rendered(project: Project):
    project.task("train")
    project.apply()
    entries = project.job("train")["metadata"]["managedFields"]
    ours = [item for item in entries if item["manager"] == "triplane"]
    assert [item["operation"] for item in ours] == ["Apply"]
    assert "f:completions" in ours[0]["fieldsV1"]["f:spec"]


def test_work_that_left_the_set_is_removed_and_its_record_stays(project: Project):
    project.task("train")
    gone = project.task("old", secrets={"TOKEN": "s3cr3t"})
    project.apply()
    project.until("old")
    gone.unlink()
    shown = project.triplane("plan")
    assert "delete run 1" in shown.out
    project.apply()
    assert project.jobs() == {"train-1"}
    assert project.record("old")["outcome"] == "removed"
    left = {item["metadata"]["name"] for item in project.api.items(V1, "Secret", project.namespace)}
    assert left == set()
    assert project.triplane("plan", "--detailed-exitcode").code == 0


def test_destroy_removes_all_of_the_set_and_nothing_else(project: Project):
    other = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "mine", "namespace": project.namespace},
    }
    project.api.apply(other)
    project.task("a")
    project.task("b", num_nodes=2)
    project.apply()
    project.until("a")
    project.until("b")
    done = project.triplane("destroy", "--auto-approve")
    assert done.code == 0, done.text
    assert project.jobs() == set()
    assert project.api.items(V1, "Service", project.namespace) == []
    names = {
        item["metadata"]["name"] for item in project.api.items(V1, "ConfigMap", project.namespace)
    }
    assert "mine" in names
    assert not [name for name in names if name.endswith("-scripts")]


def test_secrets_are_objects_and_in_nothing_else(project: Project):
    project.task("train", secrets={"TOKEN": "s3cr3t-value"})
    done = project.apply()
    secret = project.api.get(V1, "Secret", f"{project.name}-train-secrets", project.namespace)
    assert base64.b64decode(secret["data"]["TOKEN"]) == b"s3cr3t-value"
    project.until("train")
    others = json.dumps(
        [
            project.api.items(V1, "ConfigMap", project.namespace),
            project.api.items(JOB, "Job", project.namespace),
            project.api.items(V1, "Event", project.namespace),
        ]
    )
    assert "s3cr3t-value" not in others + done.text
    assert base64.b64encode(b"s3cr3t-value").decode() not in others + done.text


def test_drift_is_shown_and_put_back(new_project: Maker):
    project = new_project(real=True)
    project.task("train", run="sleep 1000")
    project.apply()
    project.until("train", RunState.RUNNING)
    labels = {"metadata": {"labels": {"triplane.dev/work": "other"}}}
    project.patch_job("train", labels, manager="kubectl-label")
    project.api.delete(V1, "Service", f"{project.name}-train-1", project.namespace)
    shown = project.triplane("plan")
    assert "drift: " in shown.out and "job.yaml changed by hand" in shown.out
    assert "service.yaml is gone" in shown.out
    assert "was set by kubectl-label" in shown.out
    uid = project.job("train")["metadata"]["uid"]
    project.apply()
    assert project.job("train")["metadata"]["labels"]["triplane.dev/work"] == "train"
    assert project.job("train")["metadata"]["uid"] == uid
    assert project.api.find(V1, "Service", f"{project.name}-train-1", project.namespace)
    assert project.triplane("plan", "--detailed-exitcode").code == 0


def test_fields_of_others_are_no_difference(project: Project):
    project.task("train")
    project.apply()
    project.patch_job("train", {"metadata": {"annotations": {"example.com/seen": "yes"}}})
    assert project.triplane("plan", "--detailed-exitcode").code == 0


def test_what_is_anothers_is_never_taken_over(project: Project):
    name = f"{project.name}-train-1"
    other = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": project.namespace},
        "spec": {"clusterIP": "None", "selector": {"app": "db"}},
    }
    project.api.apply(other, manager="helm")
    project.task("train")
    done = project.triplane("plan")
    assert done.code == 1
    assert (
        f"Service/{name} in namespace {project.namespace} exists and belongs to helm" in done.text
    )
    refused = project.triplane("apply", "--auto-approve")
    assert refused.code == 1
    assert project.jobs() == set()
    assert project.api.get(V1, "Service", name, project.namespace)["spec"]["selector"] == {
        "app": "db"
    }


def test_a_plan_needs_the_plan_role_only(new_project: Maker):
    project = new_project(roles=("plan",))
    project.task("train")
    shown = project.triplane("plan")
    assert shown.code == 0, shown.text
    assert "create run 1" in shown.out
    assert "patch configmaps" in shown.out and "is forbidden" in shown.out
    checked = project.triplane("check")
    assert "may not create configmaps" in checked.text
    denied = project.triplane("apply", "--auto-approve")
    assert denied.code == 1
    assert "may not create leases.coordination.k8s.io" in denied.text
    assert project.jobs() == set()


def test_without_a_role_the_verb_and_the_resource_are_named(new_project: Maker):
    project = new_project(roles=())
    project.task("train")
    done = project.triplane("plan")
    assert done.code == 1
    assert f"may not list configmaps in namespace {project.namespace}" in done.text


def test_a_quota_is_an_error_of_the_plan(project: Project):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": project.namespace},
        "spec": {"hard": {"count/jobs.batch": "0"}},
    }
    project.api.apply(quota)
    project.task("train")
    path = f"/api/v1/namespaces/{project.namespace}/resourcequotas/few"
    project.api.until("quota", lambda: project.api.call("GET", path)["status"].get("used"))
    done = project.triplane("plan")
    assert done.code == 1
    assert "kubernetes-quota-refused" in done.text
    assert "exceeded quota: few" in done.text
    assert "tasks/train.yaml:1:1" in done.text


def test_what_is_refused_between_plan_and_apply_is_placed_too(project: Project):
    project.task("train")
    assert project.triplane("plan", "--out", "p.json").code == 0
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": project.namespace},
        "spec": {"hard": {"count/jobs.batch": "0"}},
    }
    project.api.apply(quota)
    path = f"/api/v1/namespaces/{project.namespace}/resourcequotas/none"
    project.api.until("quota", lambda: project.api.call("GET", path)["status"].get("used"))
    done = project.triplane("apply", "p.json")
    assert done.code == 1
    assert "kubernetes-quota-refused" in done.text and "exceeded quota: none" in done.text
    assert "tasks/train.yaml:1:1" in done.text
    project.api.delete("v1", "ResourceQuota", "none", project.namespace)
    assert project.triplane("apply", "p.json").code == 0
    assert project.jobs() == {"train-1"}


def test_a_denied_object_is_an_error_of_the_plan(project: Project):
    group = "admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["batch"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["jobs"],
    }
    marked = {"matchLabels": {"kubernetes.io/metadata.name": project.namespace}}
    policy = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": project.name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": marked},
            "validations": [{"expression": "false", "message": "images must be pinned"}],
        },
    }
    binding = {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": project.name},
        "spec": {"policyName": project.name, "validationActions": ["Deny"]},
    }
    project.api.apply(policy, binding)
    try:
        project.task("train")
        denied = project.api.until("policy", lambda: _denied(project))
        assert "kubernetes-admission-denied" in denied
        assert "images must be pinned" in denied
        assert "tasks/train.yaml:1:1" in denied
    finally:
        project.api.delete(group, "ValidatingAdmissionPolicyBinding", project.name)
        project.api.delete(group, "ValidatingAdmissionPolicy", project.name)


def _denied(project: Project) -> str:
    """What a plan says, once the policy is in force."""
    done = project.triplane("plan")
    return done.text if done.code == 1 else ""


def test_what_the_server_refuses_is_an_error_of_the_plan(project: Project):
    spec = {"containers": [{"name": "task", "resources": {"limits": {"cpu": "1m"}}}]}
    project.task("train", config={"kubernetes": {"pod_config": {"spec": spec}}})
    done = project.triplane("plan")
    assert done.code == 1
    assert "must be less than or equal to cpu limit" in done.text
    written = project.folder.joinpath("tasks/train.yaml").read_text().splitlines()
    line = next(at for at, text in enumerate(written, 1) if "limits:" in text)
    assert f"tasks/train.yaml:{line}:" in done.text


def test_capacity_counts_free_devices(new_project: Maker, kubernetes_site):
    project = new_project(roles=("plan", "apply", "capacity"))
    with project.as_user():
        stack = project.load()
        capacity = deployer_of(stack, stack.targets["prod"]).capacity()
    assert capacity is not None
    assert 0 < capacity.free["H100"] <= 64
    assert "nodes" in capacity.detail


def test_refusals_of_the_site_itself_are_told_apart(kubernetes_site):
    with pytest.raises(Refused) as refused:
        kubernetes_site.api.get(V1, "ConfigMap", "none", "default")
    assert refused.value.status == 404
