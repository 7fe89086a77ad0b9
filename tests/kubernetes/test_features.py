"""What single features of a pod come to on a real cluster: one zone, recovery, hooks."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Maker, Project, claimed
from tests.kubernetes_site import KubernetesSite

pytestmark = pytest.mark.kubernetes

_EFA = {"labels": "gfd", "network": {"kind": "efa", "hugepages": "5120Mi"}}
_WHOLE_NODE = {"accelerators": "H100:8", "cpus": 4, "memory": 64, "network_tier": "best"}


def _mounting(project: Project, name: str) -> tuple[Path, dict]:
    """A folder that outlives pods, and the pod_config that mounts it at /mark."""
    mark = project.folder / f"mark-{name}"
    mark.mkdir()
    mark.chmod(0o777)
    spec = {
        "containers": [{"name": "task", "volumeMounts": [{"name": "mark", "mountPath": "/mark"}]}],
        "volumes": [{"name": "mark", "hostPath": {"path": str(mark)}}],
    }
    return mark, {"kubernetes": {"pod_config": {"spec": spec}}}


# Stands for a daemon that takes its time to answer, and the program that asks it.
_DAEMON = 'echo "$TRIPLANE_RANK" >>/var/lib/docker/seen; sleep 6; : >/tmp/up; sleep 600'
_DOCKER = '#!/bin/bash\n[ "$2" = version ] && [ -e /tmp/up ]\n'


def test_a_task_starts_when_its_docker_answers_and_finds_its_cache_again(new_project: Maker):
    project = new_project(real=True)
    mark, config = _mounting(project, "docker")
    (project.folder / "stub").mkdir()
    (project.folder / "stub" / "docker").write_text(_DOCKER)
    (project.folder / "stub" / "docker").chmod(0o755)
    disk = project.folder / "disk"
    disk.mkdir()
    project.api.apply(*claimed(project, "images", disk))
    spec = config["kubernetes"]["pod_config"]["spec"]
    spec["volumes"].append({"name": "stub", "hostPath": {"path": str(project.folder / "stub")}})
    spec["initContainers"] = [
        {
            "name": "dind",
            "image": "localhost/shell:1",
            "command": ["/bin/bash", "-c", _DAEMON],
            "env": [{"name": "PATH", "value": "/stub:/usr/bin:/bin"}],
            "securityContext": {"privileged": False},
            "volumeMounts": [
                {"name": "stub", "mountPath": "/stub"},
                {"name": "mark", "mountPath": "/mark"},
            ],
        }
    ]
    config["kubernetes"]["enable_docker"] = {"mode": "ALL", "cache_volume": "images"}
    run = 'echo "$DOCKER_HOST" >>/mark/asked'
    project.task("builds", run, config=config)
    project.apply()
    assert project.until("builds", seconds=200).state is RunState.SUCCEEDED
    [pod] = project.pods("builds")
    [daemon] = pod["status"]["initContainerStatuses"]
    [task] = pod["status"]["containerStatuses"]
    daemon_began = (daemon["state"].get("running") or daemon["state"]["terminated"])["startedAt"]
    waited = _time(task["state"]["terminated"]["startedAt"]) - _time(daemon_began)
    assert waited >= datetime.timedelta(seconds=5)
    assert (mark / "asked").read_text() == "unix:///var/run/dind/docker.sock\n"
    again = project.triplane("run", "tasks/builds.yaml")
    assert again.code == 0, again.text
    assert project.until("builds", run=2, seconds=200).state is RunState.SUCCEEDED
    assert (disk / f"{project.name}-builds" / "0" / "seen").read_text() == "0\n0\n"


def _time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def test_containers_beside_a_task_are_let_in_where_all_are_looked_at(new_project: Maker):
    project = new_project(target={"pod_security": "restricted"})
    project.api.patch(
        V1,
        "Namespace",
        project.namespace,
        {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}},
        manager="hand",
    )
    amounts = {"requests.cpu": "9", "requests.memory": "9Gi"}
    limits = {"limits.cpu": "9", "limits.memory": "9Gi"}
    meta = {"name": "all", "namespace": project.namespace}
    quota = {"apiVersion": V1, "kind": "ResourceQuota", "metadata": meta}
    project.api.apply({**quota, "spec": {"hard": {**amounts, **limits}}})
    spec = {"securityContext": {"runAsNonRoot": True, "runAsUser": 1000}}
    kubernetes = {"pod_config": {"spec": spec}, "set_pod_resource_limits": 2}
    mounts = {"/data": "s3://bucket/data"}
    project.task("fetches", file_mounts=mounts, config={"kubernetes": kubernetes})
    project.apply()
    project.until("fetches", RunState.SUCCEEDED)
    [pod] = project.pods("fetches")
    [fetch] = pod["spec"]["initContainers"]
    assert fetch["resources"]["limits"] == {"cpu": "2", "memory": "2Gi"}


def test_ranks_with_efa_lie_in_one_zone(new_project: Maker, kubernetes_site: KubernetesSite):
    project = new_project(target=_EFA)
    project.task("train", num_nodes=4, resources=_WHOLE_NODE)
    project.apply()
    project.until("train", RunState.SUCCEEDED)
    pods = project.pods("train")
    nodes = [kubernetes_site.api.get(V1, "Node", pod["spec"]["nodeName"]) for pod in pods]
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes}
    assert len(zones) == 1
    limits = pods[0]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["vpc.amazonaws.com/efa"] == "32"
    assert limits["hugepages-2Mi"] in ("5Gi", "5120Mi")


def test_one_rank_is_started_again_by_its_job(new_project: Maker):
    project = new_project(real=True)
    mark, config = _mounting(project, "again")
    run = (
        'echo x >>/mark/runs\n[ "$(wc -l </mark/runs)" -gt 1 ] || exit 33\necho "$SKYPILOT_TASK_ID"'
    )
    recovery = {"max_restarts_on_errors": 0, "recover_on_exit_codes": [33]}
    wanted = {"cpus": 1, "memory": 1, "job_recovery": recovery}
    project.task("again", run, resources=wanted, config=config)
    project.apply()
    project.until("again", RunState.SUCCEEDED, seconds=200)
    assert (mark / "runs").read_text() == "x\nx\n"


def test_hooks_run_on_rank_0_before_its_pod_is_taken_away(new_project: Maker):
    project = new_project(real=True)
    mark, config = _mounting(project, "hooked")
    text = 'echo "$SKYPILOT_HOOK_EVENT $SKYPILOT_NODE_RANK $WHO $(pwd)" >>/mark/hook'
    config["hooks"] = [{"run": text, "events": ["down"], "timeout": 20}]
    project.task("hooked", ": >/mark/ready; sleep 600", envs={"WHO": "me"}, config=config)
    project.apply()
    project.until("hooked", RunState.RUNNING, seconds=200)
    _until(lambda: (mark / "ready").exists())
    assert project.triplane("cancel", "hooked").code == 0
    _until(lambda: (mark / "hook").exists())
    assert (mark / "hook").read_text() == "down 0 me /root/sky_workdir\n"


def _until(done: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.5)
