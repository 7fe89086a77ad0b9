"""What single features of a pod come to on a real cluster: one zone, recovery, hooks."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Maker, Project
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
