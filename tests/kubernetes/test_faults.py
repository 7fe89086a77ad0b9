"""Applies that meet each other, that find nobody, whose record is gone."""

from __future__ import annotations

import time

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import Project
from tests.kubernetes_site import KubernetesSite

pytestmark = pytest.mark.kubernetes


def test_two_applies_at_once_one_waits_for_nobody(project: Project):
    project.task("train")
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": f"triplane-{project.name}",
            "namespace": project.namespace,
            "annotations": {"triplane.dev/holder": "bob@ci pid 7 plan 123"},
        },
    }
    project.api.apply(lease)
    done = project.triplane("apply", "--auto-approve")
    assert done.code == 1
    assert "is locked by bob@ci pid 7 plan 123" in done.text
    assert project.jobs() == set()
    broken = project.triplane("unlock")
    assert "bob@ci" in broken.text
    project.apply()
    assert project.jobs() == {"train-1"}
    assert project.api.items("coordination.k8s.io/v1", "Lease", project.namespace) == []


def test_an_api_server_that_is_away(project: Project, kubernetes_site: KubernetesSite):
    project.task("train")
    text = project.kubeconfig.read_text()
    closed = text.replace(f":{kubernetes_site.port}", ":1")
    assert closed != text
    project.kubeconfig.write_text(closed)
    started = time.monotonic()
    planned = project.triplane("plan")
    assert planned.code == 3, planned.text
    assert "no answer from https://127.0.0.1:1" in planned.text
    assert project.triplane("apply", "--auto-approve").code == 3
    assert project.triplane("status").code == 3
    assert time.monotonic() - started < 20
    project.kubeconfig.write_text(text)
    assert project.jobs() == set()
    assert project.runs() == {}
    project.apply()


def test_a_context_that_is_not_there(project: Project):
    project.task("train")
    project.target = {"context": "elsewhere"}
    project.write_stack()
    done = project.triplane("plan")
    assert done.code == 3
    assert "no context 'elsewhere' (known: site)" in done.text


def test_a_record_that_was_deleted_is_restored(project: Project):
    project.task("train")
    project.apply()
    project.until("train")
    name = f"triplane-{project.name}-train-1"
    project.api.delete("v1", "ConfigMap", name, project.namespace)
    assert project.triplane("plan", "--detailed-exitcode").code == 0
    assert project.record("train")["outcome"] == "succeeded"


def test_a_run_whose_record_and_job_are_lost_is_unknown(project: Project):
    project.task("train")
    project.apply()
    project.until("train")
    project.api.delete("v1", "ConfigMap", f"triplane-{project.name}-train-1", project.namespace)
    project.delete_job("train")
    project.api.until("the Job goes", lambda: project.job("train") is None)
    found = project.runs()[("train", 1)]
    assert (found.state, found.detail) == (
        RunState.UNKNOWN,
        "both its record and its Job were lost",
    )
    assert project.plan()["train"].action is Action.UNKNOWN
    project.apply()
    assert project.jobs() == set()
    assert project.triplane("wait", "train").code == 102
    again = project.plan(rerun=True)["train"]
    assert (again.action, again.run) == (Action.CREATE, 2)
    project.apply("--rerun")
    project.until("train", RunState.SUCCEEDED, run=2)


def test_a_saved_plan_holds_only_what_it_saw(project: Project):
    project.task("train")
    assert project.triplane("plan", "--out", "p.json").code == 0
    project.task("train", run="echo other")
    project.apply()
    project.until("train")
    project.task("train", run="true")
    stale = project.triplane("apply", "p.json")
    assert stale.code == 4, stale.text
