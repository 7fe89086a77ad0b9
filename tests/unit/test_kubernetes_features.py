"""Features that add to pods, each by itself: counts, policies, probes, buckets, levels."""

from __future__ import annotations

import dataclasses
import http.server
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from kubernetes_jobs import STACK, container_of, findings, make_job, pod_of, rendered

from compiler import source
from compiler.diagnostics import Diagnostics
from compiler.model import Accelerator, build_volume
from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState
from compiler.targets.kubernetes import TARGET
from compiler.targets.kubernetes.additions import Addition, combined
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.states import classify
from compiler.targets.kubernetes.deployer.workloads import workload_of
from compiler.targets.kubernetes.efa import efa_count
from compiler.targets.kubernetes.exposure import port_numbers
from compiler.targets.kubernetes.pod_security import breaches
from compiler.targets.kubernetes.probes import probes
from compiler.targets.kubernetes.recovery import recovery_of
from compiler.targets.kubernetes.volumes import class_problem


@pytest.mark.parametrize(
    ("name", "count", "instance_type", "efa"),
    [
        ("H100", 8, None, 32),
        ("H100", 1, None, 1),  # p5.4xlarge has one interface for one device
        ("H100", 2, None, 8),  # only the large type has two
        ("H200", 8, None, 16),  # p5en, not p5e
        ("H200", 8, "p5e.48xlarge", 32),
        ("H100", 1, "p5.48xlarge", 4),
        ("A100", 1, None, 1),  # half an interface is one
        ("Trainium", 16, None, 8),
        ("L40S", 8, None, 4),
        ("V100", 1, None, None),
        (None, 0, "p5.48xlarge", 32),
        (None, 0, "m6i.large", None),
        (None, 0, None, None),
    ],
)
def test_interfaces_of_a_share_of_a_node(name, count, instance_type, efa):
    accelerator = Accelerator(name, count) if name else None
    assert efa_count(accelerator, instance_type) == efa


def test_additions_are_summed_up():
    one = Addition(env=({"name": "A"},), labels={"a": "1", "b": "1"}, capabilities=("IPC_LOCK",))
    two = Addition(env=({"name": "B"},), labels={"b": "2"}, capabilities=("IPC_LOCK",))
    found = combined((one, two, Addition(privileged=True)))
    assert found.env == ({"name": "A"}, {"name": "B"})
    assert found.labels == {"a": "1", "b": "2"}
    assert found.capabilities == ("IPC_LOCK",)
    assert found.privileged
    assert combined(()) == Addition()


def test_one_rank_recovers_in_its_job_and_several_in_a_jobset():
    wanted = "{max_restarts_on_errors: 2, recover_on_exit_codes: [33, 0]}"
    task = f"run: x\nresources: {{job_recovery: {wanted}}}\n"
    alone = recovery_of(make_job(task), in_jobset=False)
    assert alone.job["backoffLimit"] == 2
    by_code, by_condition = alone.job["podFailurePolicy"]["rules"]
    assert by_code["onExitCodes"]["values"] == [33]  # 0 is no failure
    assert by_code["action"] == by_condition["action"] == "Ignore"
    assert alone.failure_policy == {}
    several = make_job("num_nodes: 3\n" + task)
    assert recovery_of(several, in_jobset=False).job == {"backoffLimit": 0}
    whole = recovery_of(several, in_jobset=True)
    assert whole.failure_policy["maxRestarts"] == 2
    assert {rule["action"] for rule in whole.job["podFailurePolicy"]["rules"]} == {"FailJob"}


def test_a_name_that_fits_a_job_may_not_fit_a_jobset():
    stack = STACK.replace("labels:", 'jobset: "0.12", labels:')
    task = "run: x\nnum_nodes: 12000\nresources: {job_recovery: failover}\n"
    said = findings(task, stack, work="a" * 60)
    assert {item[0] for item in said} == {"kubernetes-name-too-long", "field-changed"}
    assert findings(task, STACK, work="a" * 60)[0][0] == "recovery-needs-jobset"


@pytest.mark.parametrize(
    ("storage_class", "mode", "problem"),
    [
        (None, "ReadWriteOnce", None),
        (None, "ReadWriteMany", "gives ReadWriteOnce"),
        ("efs", "ReadWriteMany", None),
        ("nfs", "ReadWriteMany", "no storage class"),
        ("", "ReadWriteMany", None),
    ],
)
def test_what_storage_classes_give(storage_class, mode, problem):
    classes = {
        "gp3": {"access_modes": ["ReadWriteOnce"], "default": True},
        "efs": {"access_modes": ["ReadWriteMany"]},
    }
    found = class_problem(storage_class, mode, {"storage_classes": classes})
    assert (found is None) if problem is None else problem in found
    assert class_problem(storage_class, mode, {}) is None


def test_without_a_default_class_one_must_be_named():
    options = {"storage_classes": {"gp3": {}}}
    assert "default" in class_problem(None, "ReadWriteOnce", options)


def test_ports_one_by_one():
    assert port_numbers(("8080", "8000-8002")) == [8080, 8000, 8001, 8002]
    assert port_numbers(()) == []


@pytest.mark.parametrize(
    ("pod", "level", "where"),
    [
        ({"hostNetwork": True}, "baseline", [("hostNetwork",)]),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, "baseline", [("volumes", 0)]),
        (
            {"initContainers": [{"name": "a", "securityContext": {"privileged": True}}]},
            "baseline",
            [("initContainers", 0, "securityContext", "privileged")],
        ),
        (
            {
                "containers": [
                    {"securityContext": {"capabilities": {"add": ["CHOWN", "SYS_ADMIN"]}}},
                    {"ports": [{"hostPort": 80}]},
                ]
            },
            "baseline",
            [
                ("containers", 0, "securityContext", "capabilities", "add"),
                ("containers", 1, "ports", 0, "hostPort"),
            ],
        ),
        ({"volumes": [{"name": "a", "nfs": {}}]}, "restricted", [("volumes", 0)]),
        ({"hostNetwork": True}, "privileged", []),
    ],
)
def test_what_a_level_refuses(pod, level, where):
    assert [path for path, _ in breaches(pod, level)] == where


def test_the_restricted_level_is_met_but_for_the_user():
    stack = STACK.replace("labels:", "pod_security: restricted, labels:")
    (said,) = findings("run: x\n", stack)
    assert "runAsNonRoot" in said[2]
    config = "config: {kubernetes: {pod_config: {spec: {securityContext: {runAsNonRoot: true}}}}}\n"
    context = container_of(rendered("run: x\n" + config, stack))["securityContext"]
    assert context["allowPrivilegeEscalation"] is False


_HELPERS = """\
run: x
resources: {cpus: 2, memory: 0.125}
file_mounts: {/data: "s3://bucket/data"}
config:
  kubernetes:
    set_pod_resource_limits: %s
    pod_config: {spec: {securityContext: {runAsNonRoot: true, runAsUser: 1000}}}
"""


def test_containers_beside_the_task_are_what_the_namespace_asks_for():
    stack = STACK.replace("labels:", "pod_security: restricted, labels:")
    (fetch,) = pod_of(rendered(_HELPERS % 2, stack))["initContainers"]
    assert fetch["resources"] == {
        "requests": {"cpu": "100m", "memory": "256Mi"},
        "limits": {"cpu": "4", "memory": "256Mi"},
    }
    assert fetch["securityContext"]["allowPrivilegeEscalation"] is False
    assert fetch["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    (fetch,) = pod_of(rendered(_HELPERS % "false"))["initContainers"]
    assert "limits" not in fetch["resources"]
    assert "securityContext" not in fetch


def test_a_daemon_has_the_folder_that_its_rank_had_before():
    config = "config: {kubernetes: {enable_docker: {mode: ALL, cache_volume: images}}}\n"
    first, second = (rendered("run: x\n" + config, run=run) for run in (1, 2))
    (mount,) = [
        item for item in pod_of(first)["initContainers"][0]["volumeMounts"] if "subPathExpr" in item
    ]
    assert mount in pod_of(second)["initContainers"][0]["volumeMounts"]
    assert mount["subPathExpr"] == "demo-train/$(TRIPLANE_RANK)"
    env = {item["name"]: item for item in pod_of(first)["initContainers"][0]["env"]}
    field = env["TRIPLANE_RANK"]["valueFrom"]["fieldRef"]["fieldPath"]
    assert field == "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_a_service_with_tls_needs_an_ingress_that_ends_it():
    task = "run: x\nservice: {readiness_probe: /, ports: 80, tls: {keyfile: k, certfile: c}}\n"
    config = "config: {kubernetes: {ports: ingress}}\n"
    stack = STACK.replace("labels:", "ingress: {tls_secret: own}, labels:")
    (refused,) = [item for item in findings(task, stack) if item[0] == "field-refused"]
    assert refused[1].startswith("task.yaml:2:")
    assert refused[2] == "TLS ends at an Ingress, and `ports: loadbalancer` makes none"
    found = rendered(task, stack + config)["ingress.yaml"]["spec"]
    assert found["tls"] == [{"secretName": "own"}]
    assert "host" not in found["rules"][0]
    assert "field-refused" in [item[0] for item in findings(task, STACK + config)]


@pytest.mark.parametrize(
    ("number", "name"), [(-1, None), (0, "low"), (499, "low"), (500, "high"), (1000, "high")]
)
def test_a_number_is_the_highest_class_that_it_reaches(number, name):
    stack = STACK.replace("labels:", "priority_classes: {high: 500, low: 0}, labels:")
    task = f"run: x\nresources: {{priority: {number}}}\n"
    assert pod_of(rendered(task, stack)).get("priorityClassName") == name
    both = task.replace("}", ", priority_class: own}")
    assert pod_of(rendered(both, stack))["priorityClassName"] == "own"


@pytest.mark.parametrize(
    ("kubernetes", "queued", "limit"),
    [
        ("provision_timeout: 60", False, 60),
        ("provision_timeout: -1", False, None),
        ("kueue: {admission_timeout: 600}", False, None),
        ("provision_timeout: 60", True, None),
        ("provision_timeout: 60, kueue: {admission_timeout: 600}", True, 660),
        ("kueue: {admission_timeout: 600}", True, 600),
        ("provision_timeout: 60, kueue: {admission_timeout: -1}", True, None),
    ],
)
def test_work_in_a_queue_is_given_up_by_the_limit_of_its_admission(kubernetes, queued, limit):
    queue = "queue: {kind: kueue, name: a}, labels:" if queued else "labels:"
    stack = STACK.replace("labels:", queue) + f"config: {{kubernetes: {{{kubernetes}}}}}\n"
    assert TARGET.start_within(make_job(stack=stack)) == limit


def test_a_task_in_another_queue_keeps_the_limit_of_the_stack():
    stack = STACK + "config: {kubernetes: {kueue: {local_queue_name: a, admission_timeout: 9}}}\n"
    task = "run: x\nconfig: {kubernetes: {kueue: {local_queue_name: b}}}\n"
    assert TARGET.start_within(make_job(task, stack)) == 9


class _Asked(http.server.BaseHTTPRequestHandler):
    seen: list[tuple[str, Mapping[str, str], bytes]]
    status = 200

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        type(self).seen.append((f"{self.command} {self.path}", dict(self.headers), body))
        self.send_response(type(self).status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


@pytest.fixture
def server() -> Iterator[http.server.HTTPServer]:
    _Asked.seen, _Asked.status = [], 200
    made = http.server.HTTPServer(("127.0.0.1", 0), _Asked)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def _probe(server: http.server.HTTPServer, probe: str, **secrets: str) -> int:
    """Run the script that a probe is made of; the code it ends with."""
    names = ", ".join(f"{name}: null" for name in secrets)
    task = f"run: x\nresources: {{ports: 8000}}\nsecrets: {{{names}}}\nservice:\n{probe}"
    job = make_job(task)
    assert job.task.service is not None
    made = probes(job.task, job.task.service.readiness_probe, server.server_port, "/scripts")
    return subprocess.run(
        ["bash", "-c", made.scripts["probe.sh"]],
        env={"PATH": "/usr/bin:/bin", **secrets},
        check=False,
    ).returncode


def test_a_secret_in_a_header_is_put_in_by_the_pod(server):
    probe = "  readiness_probe: {path: /v1/models, headers: {Authorization: Bearer $TOKEN}}\n"
    assert _probe(server, probe, TOKEN="a&b 'c' $HOME") == 0
    (line, headers, _) = _Asked.seen[0]
    assert line == "GET /v1/models"
    assert headers["Authorization"] == "Bearer a&b 'c' $HOME"


def test_a_secrets_value_is_no_text_to_look_for_secrets_in(server):
    header = "'$A-$A_LONG ${A} $OTHER ${A_LONG}x'"
    probe = f"  readiness_probe: {{path: /, headers: {{X-Key: {header}}}}}\n"
    assert _probe(server, probe, A="$A_LONG", A_LONG="${A}") == 0
    assert _Asked.seen[0][1]["X-Key"] == "$A_LONG-${A} $A_LONG $OTHER ${A}x"


def test_a_body_is_posted_byte_for_byte(server):
    probe = (
        "  readiness_probe:\n    path: /ask\n"
        '    post_data: {prompt: "it\'s ü? $(id)", key: "${TOKEN}"}\n'
    )
    assert _probe(server, probe, TOKEN="t") == 0
    (line, headers, body) = _Asked.seen[0]
    assert line == "POST /ask"
    assert headers["Content-Type"] == "application/json"
    assert body.decode() == '{"prompt": "it\'s \\u00fc? $(id)", "key": "t"}'


def test_an_answer_of_another_kind_is_not_ready(server):
    _Asked.status = 503
    assert _probe(server, "  readiness_probe: {path: /, post_data: '{}'}\n") == 1


def test_a_plain_probe_is_the_kubelets_own():
    task = """\
run: x
resources: {ports: 8000}
service:
  readiness_probe: {path: /health, headers: {A: b}, initial_delay_seconds: 95}
"""
    objects = rendered(task)
    container = objects["deployment.yaml"]["spec"]["template"]["spec"]["containers"][0]
    assert container["readinessProbe"]["httpGet"] == {
        "path": "/health",
        "port": 8000,
        "httpHeaders": [{"name": "A", "value": "b"}],
    }
    assert container["startupProbe"]["failureThreshold"] == 10
    assert "probe.sh" not in objects["scripts.yaml"]["data"]


def test_texts_of_a_service_are_new_objects_when_they_change():
    task = "resources: {ports: 80}\nservice: {readiness_probe: /}\n"
    names = {rendered(f"run: {run}\n{task}")["scripts.yaml"]["metadata"]["name"] for run in "aab"}
    assert len(names) == 2
    assert all(name.startswith("demo-train-scripts-") for name in names)


def test_hooks_end_in_time_and_run_as_phases():
    task = "run: x\nconfig:\n  hooks: [{run: 'echo \"a b\"', events: [preemption], timeout: 900}]\n"
    objects = rendered(task)
    assert pod_of(objects)["terminationGracePeriodSeconds"] == 660
    data = objects["scripts.yaml"]["data"]
    assert data["hook-0.sh"] == 'echo "a b"'
    assert "run_hook preemption 0 900" in data["hooks.sh"]


def test_a_bucket_is_waited_for_only_if_writes_are_cached(tmp_path: Path):
    def texts(mode: str) -> Mapping[str, str]:
        task = f"run: x\nfile_mounts: {{/b: {{source: s3://bucket, mode: {mode}}}}}\n"
        return rendered(task)["scripts.yaml"]["data"]

    assert "k8s_flush" in texts("MOUNT_CACHED")["platform.sh"]
    assert "k8s_flush" not in texts("MOUNT")["platform.sh"]
    assert "mount.sh" not in texts("COPY")
    for name, text in texts("MOUNT_CACHED").items():
        if name in ("mount.sh", "platform.sh"):
            (tmp_path / name).write_text(text)
            shell = "bash" if name == "platform.sh" else "sh"
            subprocess.run([shell, "-n", str(tmp_path / name)], check=True)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("type: k8s-hostpath\nconfig: {host_path: /mnt/a}\n", {"host_path": "/mnt/a"}),
        ("type: k8s-pvc\nuse_existing: true\n", {"claim": "mine"}),
    ],
)
def test_a_volume_that_is_not_made_here_is_noted(text, data):
    (document,) = source.read_text(f"name: mine\n{text}", "volume.yaml", Diagnostics())
    volume = build_volume(document, Diagnostics())
    assert volume is not None
    job = dataclasses.replace(make_job(work="mine"), volume=volume)
    (artifact,) = TARGET.render(job, Diagnostics())
    body = yaml.safe_load(artifact.text)
    assert body["kind"] == "ConfigMap"
    assert body["metadata"]["name"] == "demo-mine-volume"
    assert body["data"] == {"type": volume.type, **data}
    ref = Ref.of(body, "default")
    assert workload_of([ref]) == ref
    record = Record(
        set="demo",
        work="mine",
        run=1,
        target="prod",
        kind="kubernetes",
        name="demo-mine",
        spec_digest="a",
        files_digest="b",
        stage=Stage.CREATED,
        identity="u",
    )
    live = {**body, "metadata": {**body["metadata"], "uid": "u"}}
    assert classify(record, live).state is RunState.RUNNING
