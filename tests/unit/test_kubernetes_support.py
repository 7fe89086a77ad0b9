"""The table of differences: complete, and nothing in it is silent."""

import pytest
from kubernetes_jobs import STACK, findings, make_job

from compiler import source
from compiler.targets.interface import SupportLevel
from compiler.targets.kubernetes import TARGET
from compiler.targets.kubernetes.support import SUPPORT

# maps whose fields have the rows, and what only dumps of SkyPilot hold
PARTS = {"resources", "config", "config.kubernetes", "config.triplane"} | {
    "file_mounts_mapping",
    "volume_mounts",
}
DIAGNOSTIC = {
    SupportLevel.CHANGED: "field-changed",
    SupportLevel.IGNORED: "field-ignored",
    SupportLevel.REFUSED: "field-refused",
}

_SERVICE = "service:\n  readiness_probe: /\n  ports: 80\n"

# row -> (task text after `run`, stack text after the targets, line of the position)
USES = {
    "envs.SKYPILOT_DOCKER_*": "envs:\n  SKYPILOT_DOCKER_USERNAME: a\n"
    "  SKYPILOT_DOCKER_PASSWORD: b\n  SKYPILOT_DOCKER_SERVER: c\n",
    "file_mounts (other store)": "file_mounts:\n  /data: r2://bucket/x\n",
    "file_mounts (new bucket)": "file_mounts:\n  /data: {name: bucket, store: s3}\n",
    "file_mounts (not persistent)": "file_mounts:\n"
    "  /data: {source: s3://bucket, persistent: false}\n",
    "service": _SERVICE,
    "service.load_balancing_policy": f"{_SERVICE}  load_balancing_policy: round_robin\n",
    "service.load_balancer": f"{_SERVICE}  load_balancer: {{stream_timeout_seconds: 9}}\n",
    "pool": "pool:\n  workers: 2\n",
    "event_callback": "event_callback: echo\n",
    "inputs": "inputs: {s3://a: 1}\n",
    "outputs": "outputs: {s3://a: 1}\n",
    "api_server_access": "api_server_access: true\n",
    "config.hooks": "config:\n  hooks: [{run: echo}]\n",
    "config.hooks (stop)": "config:\n  hooks: [{run: echo, events: [stop]}]\n",
    "config.kubernetes.provision_timeout": "config:\n  kubernetes: {provision_timeout: 5}\n",
    "config.kubernetes.kueue.admission_timeout": "config:\n"
    "  kubernetes: {kueue: {local_queue_name: a, admission_timeout: 5}}\n",
    "config.kubernetes.remote_identity (SERVICE_ACCOUNT, LOCAL_CREDENTIALS)": "config:\n"
    "  kubernetes: {remote_identity: SERVICE_ACCOUNT}\n",
    "config.docker": "config:\n  docker: {run_options: [--rm]}\n",
    "config.nvidia_gpus": "config:\n  nvidia_gpus: {disable_ecc: true}\n",
    "config.triplane.native_script": "config:\n  triplane: {native_script: job.sh}\n",
    "resources.instance_type (of the form 4CPU--16GB)": "resources:\n"
    "  infra: k8s\n  instance_type: 4CPU--16GB\n",
    "resources.cpus (N+)": "resources:\n  cpus: 4+\n",
    "resources.memory (N+)": "resources:\n  memory: 4+\n",
    "resources.accelerators (fraction)": "resources:\n  accelerators: L4:0.5\n",
    "resources.accelerators (Neuron without image_id)": "resources:\n  accelerators: Trainium:16\n",
    "resources.accelerator_args": "resources:\n  accelerator_args: {tpu_vm: true}\n",
    "resources.use_spot (no label)": "resources:\n  use_spot: true\n",
    "resources.job_recovery": "resources:\n  job_recovery: failover\n",
    "resources.disk_tier": "resources:\n  disk_tier: high\n",
    "resources.local_disk": "resources:\n  local_disk: nvme:100\n",
    "resources.image_id (machine image)": "resources:\n  infra: k8s\n"
    "  image_id: skypilot:gpu-ubuntu\n",
    "resources.autostop": "resources:\n  autostop: 10\n",
    "resources.priority (no class)": "resources:\n  priority: 5\n",
    "resources.priority (beside priority_class)": "resources:\n  priority_class: a\n"
    "  priority: 5\n",
}
STACK_USES = {
    "config.kubernetes.allowed_nodes.ips": "allowed_nodes: {ips: [10.0.0.1]}",
}
ELSEWHERE = {
    "volume (cleanup_on_deletion)",
    "file_mounts (storage to be filled)",
    "config.kubernetes.dws (no GKE)",
    "service (several nodes)",
    "service.tls",
    "service.tls (no certificate)",
    "service.replica_policy (spot)",
    "service.replica_policy (min_replicas: 0)",
    "resources.job_recovery (no JobSet)",
    "resources.volumes",
    "resources.autostop (without run)",
}


def test_every_field_of_the_dialect_has_a_row():
    rows = {name.partition(" (")[0] for name in SUPPORT}
    missing = []
    for name in source.field_names("task"):
        steps = name.split(".")
        above = {".".join(steps[:count]) for count in range(1, len(steps) + 1)}
        internal = any(step.startswith("_") for step in steps)
        # Words for a kept script, which is refused with its own row.
        beside = name == "config.triplane.native_arguments"
        if not internal and not beside and name not in PARTS and not above & rows:
            missing.append(name)
    assert missing == []


def test_every_loss_of_the_table_is_tried_here():
    losing = {name for name, row in SUPPORT.items() if row.level is not SupportLevel.FULL}
    assert losing == USES.keys() | STACK_USES.keys() | ELSEWHERE


@pytest.mark.parametrize("row", USES)
def test_no_loss_is_silent(row):
    task = "run: x\n" + USES[row]
    found = [item for item in findings(task) if item[0].startswith("field-")]
    if row.startswith("service."):
        found = found[1:]  # the first is about the service itself
    level = SUPPORT[row].level
    assert [item[0] for item in found] == [DIAGNOSTIC[level]]
    assert SUPPORT[row].note in found[0][2]
    last = row.partition(" (")[0].rpartition(".")[2].removesuffix("*")
    line = task.splitlines()[int(found[0][1].split(":")[1]) - 1]
    assert last in line or row.startswith(("file_mounts", "volumes"))
    job = make_job(task)
    refused = list(TARGET.refusals(job.task, job.resources, job.target))
    assert bool(refused) is (level is SupportLevel.REFUSED)


@pytest.mark.parametrize("row", STACK_USES)
def test_no_loss_of_the_stack_is_silent(row):
    stack = STACK + f"config:\n  kubernetes:\n    {STACK_USES[row]}\n"
    (found,) = findings("run: x\n", stack)
    assert found[0] == DIAGNOSTIC[SUPPORT[row].level]
    assert found[1].startswith("stack.yaml:6:")


def test_a_task_that_only_keeps_nodes_cannot_stop_by_itself():
    codes = [item[0] for item in findings("setup: x\nresources: {autostop: 10}\n")]
    assert codes == ["field-refused"]


def test_what_of_a_service_is_lost_is_said():
    task = """\
run: x
num_nodes: 2
resources: {use_spot: true, ports: 80}
service:
  readiness_probe: /
  tls: {keyfile: k, certfile: c}
  replica_policy:
    {min_replicas: 0, max_replicas: 2, target_qps_per_replica: 1, spot_placer: dynamic_fallback}
"""
    stack = STACK.replace("labels: skypilot", "labels: gke, metrics: {requests_per_second: a}")
    said = [item[2].partition(": ")[2] for item in findings(task, stack)]
    rows = (
        "service (several nodes)",
        "service",
        "service.tls (no certificate)",
        "service.replica_policy (min_replicas: 0)",
        "service.replica_policy (spot)",
    )
    assert sorted(said) == sorted(SUPPORT[row].note for row in rows)


def test_flex_start_is_googles_or_kueues():
    task = "run: x\nconfig:\n  kubernetes: {dws: {enabled: true}}\n"
    assert [item[0] for item in findings(task)] == ["field-refused"]
    for known in ("labels: gke", "queue: {kind: kueue, name: a}"):
        assert findings(task, STACK.replace("labels: skypilot", known)) == []


def test_several_ranks_are_not_started_again_without_jobset():
    task = "run: x\nnum_nodes: 2\nresources: {job_recovery: failover}\n"
    assert [item[0] for item in findings(task)] == ["recovery-needs-jobset"]
    stack = STACK.replace("labels:", 'jobset: "0.12", labels:')
    assert [item[0] for item in findings(task, stack)] == ["field-changed"]


def test_what_changes_nothing_says_nothing():
    quiet = """\
run: x
api_server_access: false
resources:
  network_tier: standard
  job_recovery: none
  use_spot: false
"""
    assert findings(quiet) == []


@pytest.mark.parametrize(
    ("target", "config", "refused"),
    [
        ("labels: gke", "", False),
        ("labels: gfd", "", True),
        ("version: '1.34'", "", True),  # gfd, as nobody says anything
        ("version: '1.34'", "autoscaler: karpenter", False),
        ("version: '1.34'", "context_configs: {prod: {autoscaler: gke}}", False),
        ("labels: gfd", "autoscaler: karpenter", True),
    ],
)
def test_placement_knows_how_nodes_are_labelled(target, config, refused):
    stack = STACK.replace('version: "1.34", labels: skypilot', target)
    job = make_job(
        "run: x\nresources: {use_spot: true}\n",
        stack + f"config:\n  kubernetes: {{{config}}}\n" * bool(config),
    )
    assert bool(list(TARGET.refusals(job.task, job.resources, job.target))) is refused
