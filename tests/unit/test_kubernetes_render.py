"""From a job to manifests: the objects, their structure, and that every one of them is sound."""

import dataclasses

import pytest
import yaml
from kubernetes_jobs import STACK, container_of, make_job, pod_of, rendered

from compiler.diagnostics import Diagnostics
from compiler.targets.kubernetes import TARGET, schema

TWO_NODES = """\
name: llama
num_nodes: 2
resources: {accelerators: "H100:8", labels: {team: nlp}}
envs: {LR: "3e-4", NOTE: "it's $HOME: #1"}
setup: |
  pip install torch
run: |
  torchrun train.py
"""
KUEUE = STACK.replace("labels: skypilot", "labels: skypilot, queue: {kind: kueue, name: team-a}")


def test_objects_of_a_task_with_several_nodes():
    objects = rendered(TWO_NODES)
    assert list(objects) == ["scripts.yaml", "service.yaml", "service-ready.yaml", "job.yaml"]
    spec = objects["job.yaml"]["spec"]
    assert {key: spec[key] for key in spec if key != "template"} == {
        "completionMode": "Indexed",
        "completions": 2,
        "parallelism": 2,
        "backoffLimit": 0,
    }
    pod = pod_of(objects)
    assert pod["restartPolicy"] == "Never"
    assert pod["subdomain"] == objects["service.yaml"]["metadata"]["name"] == "demo-train-1"
    assert container_of(objects)["command"] == [
        "/bin/bash",
        "/triplane/scripts/launcher.sh",
        "all",
    ]
    probe = container_of(objects)["startupProbe"]
    assert probe["exec"]["command"] == ["/bin/bash", "-c", "[[ -e /triplane/state/ready ]]"]
    assert probe["failureThreshold"] == 2147483647
    assert "readinessProbe" not in container_of(objects)


def test_services_find_the_pods_and_only_one_lists_those_that_are_not_ready():
    objects = rendered(TWO_NODES)
    labels = objects["job.yaml"]["spec"]["template"]["metadata"]["labels"]
    for name, not_ready in (("service.yaml", True), ("service-ready.yaml", None)):
        spec = objects[name]["spec"]
        assert spec["clusterIP"] == "None"
        assert spec["selector"].items() <= labels.items()
        assert spec.get("publishNotReadyAddresses") is not_ready


def test_one_node_needs_no_barrier():
    objects = rendered("run: echo hi\n")
    assert list(objects) == ["scripts.yaml", "service.yaml", "job.yaml"]
    assert "startupProbe" not in container_of(objects)
    assert "affinity" not in pod_of(objects)


def test_scripts_are_immutable_named_by_run_and_byte_for_byte():
    objects = rendered(TWO_NODES, run=7)
    scripts = objects["scripts.yaml"]
    assert scripts["metadata"]["name"] == "demo-train-7-scripts"
    assert scripts["immutable"] is True
    assert scripts["data"]["setup.sh"] == "pip install torch\n"
    assert scripts["data"]["run.sh"] == "torchrun train.py\n"
    assert "export LR='3e-4'\n" in scripts["data"]["task.env"]
    assert "export NOTE='it'\\''s $HOME: #1'\n" in scripts["data"]["task.env"]
    assert {"launcher.sh", "prologue.sh", "platform.sh"} <= scripts["data"].keys()
    volume = {"name": "triplane-scripts", "configMap": {"name": "demo-train-7-scripts"}}
    assert volume in pod_of(objects)["volumes"]


def test_labels_tell_what_belongs_together():
    objects = rendered(TWO_NODES, run=3)
    own = {
        "app.kubernetes.io/managed-by": "triplane",
        "triplane.dev/set": "demo",
        "triplane.dev/work": "train",
        "triplane.dev/run": "3",
    }
    for body in objects.values():
        assert own.items() <= body["metadata"]["labels"].items()
    job = objects["job.yaml"]
    assert own.items() <= job["spec"]["template"]["metadata"]["labels"].items()
    assert job["metadata"]["labels"]["team"] == "nlp"
    assert job["spec"]["template"]["metadata"]["labels"]["team"] == "nlp"
    assert job["metadata"]["annotations"]["triplane.dev/spec-digest"] == "a" * 64
    # a digest in the template would make a new template of every change
    assert "annotations" not in job["spec"]["template"]["metadata"]


def test_a_long_name_is_cut_and_its_label_too():
    objects = rendered("run: echo hi\nnum_nodes: 300\n", work="w" * 90, run=12345)
    assert len(objects["job.yaml"]["metadata"]["name"]) <= 57
    assert len(objects["job.yaml"]["metadata"]["labels"]["triplane.dev/work"]) <= 63


def test_names_that_do_not_fit_are_errors():
    job = make_job("run: echo hi\nnum_nodes: 2\n", work="w" * 90, run=12345678)
    diagnostics = Diagnostics()
    assert TARGET.render(job, diagnostics) == ()
    assert {item.code for item in diagnostics} == {"kubernetes-name-too-long"}


def test_kueue_is_told_by_labels_of_the_job():
    objects = rendered("run: echo hi\nresources: {priority_class: high}\n", KUEUE)
    labels = objects["job.yaml"]["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "team-a"
    assert labels["kueue.x-k8s.io/priority-class"] == "high"
    assert "priorityClassName" not in pod_of(objects)
    assert "suspend" not in objects["job.yaml"]["spec"]
    template = objects["job.yaml"]["spec"]["template"]
    assert not any(key.startswith("kueue") for key in template["metadata"]["labels"])


def test_without_kueue_the_priority_class_is_the_pods():
    objects = rendered("run: echo hi\nresources: {priority_class: high}\n")
    assert pod_of(objects)["priorityClassName"] == "high"


def test_the_queue_can_come_from_skypilots_configuration():
    config = "config: {kubernetes: {kueue: {local_queue_name: all}}}\n"
    objects = rendered("run: echo hi\n", STACK + config)
    assert objects["job.yaml"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "all"
    objects = rendered("run: echo hi\n", STACK.replace("labels:", "queue: none, labels:") + config)
    assert "kueue.x-k8s.io/queue-name" not in objects["job.yaml"]["metadata"]["labels"]
    task = "run: echo hi\nconfig: {kubernetes: {quota: {queue: mine}}}\n"
    objects = rendered(task, KUEUE + config)
    assert objects["job.yaml"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "mine"


def test_kueue_without_a_queue_is_an_error():
    job = make_job("run: echo hi\n", STACK.replace("labels:", "queue: kueue, labels:"))
    diagnostics = Diagnostics()
    TARGET.render(job, diagnostics)
    (found,) = diagnostics
    assert found.code == "kubernetes-queue-missing"
    assert found.span.location == "stack.yaml:3:52"


@pytest.mark.parametrize(
    ("stack", "task", "namespace"),
    [
        (STACK, "run: x\n", "default"),
        (STACK.replace("labels:", "namespace: ml, labels:"), "run: x\n", "ml"),
        (STACK + "config: {kubernetes: {namespace: cfg}}\n", "run: x\n", "cfg"),
        (
            STACK
            + "config: {kubernetes: {namespace: cfg, context_configs: {prod: {namespace: p}}}}\n",
            "run: x\n",
            "p",
        ),
        (
            STACK.replace("labels:", "namespace: ml, labels:")
            + "workspaces: {research: {namespace: res}}\n",
            "run: x\nconfig: {active_workspace: research}\n",
            "res",
        ),
        (
            STACK
            + "workspace: research\nworkspaces: {research: {namespace: a, prod: {namespace: b}}}\n",
            "run: x\n",
            "b",
        ),
    ],
)
def test_namespace(stack, task, namespace):
    for body in rendered(task, stack).values():
        assert body["metadata"]["namespace"] == namespace


def test_a_context_decides_the_namespace_where_nobody_names_one():
    stack = STACK.replace("labels:", "deployer: server-side-apply, labels:")
    for body in rendered("run: x\n", stack).values():
        assert "namespace" not in body["metadata"]


def test_images():
    assert container_of(rendered("run: x\n"))["image"] == "docker.io/library/python:3.12-bookworm"
    stack = STACK.replace("labels:", "default_image: my/base:1, labels:")
    assert container_of(rendered("run: x\n", stack))["image"] == "my/base:1"
    task = "run: x\nresources: {image_id: docker:nvcr.io/nvidia/pytorch:24.10-py3}\n"
    assert container_of(rendered(task, stack))["image"] == "nvcr.io/nvidia/pytorch:24.10-py3"


def test_a_time_to_live_only_if_the_stack_says_so():
    assert "ttlSecondsAfterFinished" not in rendered("run: x\n")["job.yaml"]["spec"]
    stack = STACK.replace("labels:", "ttl_seconds_after_finished: 3600, labels:")
    assert rendered("run: x\n", stack)["job.yaml"]["spec"]["ttlSecondsAfterFinished"] == 3600


def test_pods_get_no_token_unless_an_account_is_named():
    pod = pod_of(rendered("run: x\n"))
    assert pod["automountServiceAccountToken"] is False
    pod = pod_of(rendered("run: x\nconfig: {kubernetes: {remote_identity: trainer}}\n"))
    assert pod["serviceAccountName"] == "trainer"
    assert "automountServiceAccountToken" not in pod


def test_zone_and_instance_type_choose_nodes():
    objects = rendered("run: x\nresources: {infra: k8s/prod, instance_type: p5.48xlarge}\n")
    assert pod_of(objects)["nodeSelector"] == {"node.kubernetes.io/instance-type": "p5.48xlarge"}


def test_the_peer_timeout_is_the_provision_timeout():
    def platform(task):
        return rendered(task)["scripts.yaml"]["data"]["platform.sh"]

    task = "run: x\nnum_nodes: 2\n"
    assert "k8s_peer_timeout=3600 " in platform(task)
    for given, used in ((600, 600), (-1, 0)):
        config = f"config: {{kubernetes: {{provision_timeout: {given}}}}}\n"
        assert f"k8s_peer_timeout={used} " in platform(task + config)


@pytest.mark.parametrize("version", schema.known_versions())
def test_manifests_are_sound_in_every_version(version):
    rendered(TWO_NODES, STACK.replace('"1.34"', f'"{version}"'))


def test_the_same_job_gives_the_same_bytes():
    texts = []
    for _ in range(2):
        artifacts = TARGET.render(make_job(TWO_NODES), Diagnostics())
        texts.append([(item.path, item.text) for item in artifacts])
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "text",
    ["on", "1e3", "a: b", "#", "ends with blanks  ", "a\tb", "日本", "'\"\\", "a\n\nb\n", ""],
)
def test_odd_texts_arrive_as_they_are(text):
    quoted = yaml.safe_dump({"run": f"echo\n{text}", "envs": {"ODD": text}}, allow_unicode=True)
    stack = STACK + yaml.safe_dump(
        {"config": {"kubernetes": {"custom_metadata": {"annotations": {"note": text}}}}}
    )
    objects = rendered(quoted, stack)
    assert objects["scripts.yaml"]["data"]["run.sh"] == f"echo\n{text}"
    assert objects["job.yaml"]["metadata"]["annotations"]["note"] == text
    value = text.replace("'", "'\\''")
    assert f"export ODD='{value}'\n" in objects["scripts.yaml"]["data"]["task.env"]


def test_an_error_leaves_nothing_rendered_and_names_the_place():
    task = "run: x\nresources:\n  labels:\n    triplane.dev/set: mine\n"
    diagnostics = Diagnostics()
    assert TARGET.render(make_job(task), diagnostics) == ()
    (found,) = diagnostics
    assert (found.code, found.span.location) == ("kubernetes-label-reserved", "task.yaml:4:5")


def test_custom_metadata_is_on_every_object():
    task = "run: x\nconfig: {kubernetes: {custom_metadata: {labels: {cost: '7'}}}}\n"
    metadata = "{labels: {cost: '1', org: ai}, annotations: {a/b: c}}"
    config = f"config: {{kubernetes: {{custom_metadata: {metadata}}}}}\n"
    for body in rendered(task, STACK + config).values():
        assert {"cost": "7", "org": "ai"}.items() <= body["metadata"]["labels"].items()
        assert body["metadata"]["annotations"]["a/b"] == "c"


def test_verify_finds_a_broken_text_at_its_line():
    job = make_job("run: x\n")
    artifact = TARGET.render(job, Diagnostics())[-1]
    broken = dataclasses.replace(
        artifact, text=artifact.text.replace("backoffLimit", "backofLimit")
    )
    (found,) = TARGET.verify(broken, job.target)
    assert found.code == "manifest-unknown-field"
    line = broken.text.splitlines()[found.span.line - 1]
    assert line[found.span.column - 1 :].startswith("backofLimit")
    assert "backoffLimit" in found.hint
    unreadable = dataclasses.replace(artifact, text="a: [")
    assert [item.code for item in TARGET.verify(unreadable, job.target)] == ["manifest-unreadable"]


def test_an_unknown_version_is_said():
    stack = STACK.replace('"1.34"', '"1.99"')
    diagnostics = Diagnostics()
    assert TARGET.render(make_job("run: x\n", stack), diagnostics)
    assert {item.code for item in diagnostics} == {"kubernetes-version-unknown"}
