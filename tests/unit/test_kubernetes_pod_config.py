"""`pod_config`: merging, idempotence, and errors at the place where they were written."""

import pytest
from kubernetes_jobs import STACK, container_of, findings, pod_of, rendered

HEAD = "run: x\n"
START = """\
run: x
num_nodes: 2
config:
  kubernetes:
    pod_config:
"""


def test_layers_are_laid_over_the_pod_from_stack_to_task():
    stack = (
        STACK
        + """\
config:
  kubernetes:
    pod_config:
      metadata: {annotations: {who: everyone, where: all}}
      spec:
        runtimeClassName: gvisor
        tolerations: [{key: team, operator: Exists}]
        containers: [{env: [{name: A, value: stack}, {name: B, value: stack}]}]
    context_configs:
      prod:
        pod_config:
          spec: {runtimeClassName: nvidia}
"""
    )
    task = (
        HEAD
        + """\
config:
  kubernetes:
    pod_config:
      metadata: {annotations: {who: me}}
      spec:
        tolerations: [{key: team, operator: Exists}, {key: mine, operator: Exists}]
        containers:
        - name: ray-node
          env: [{name: B, value: task}, {name: C, value: task}]
        - {name: sidecar, image: helper:1}
"""
    )
    objects = rendered(task, stack)
    template = objects["job.yaml"]["spec"]["template"]
    assert template["metadata"]["annotations"] == {"who": "me", "where": "all"}
    pod = pod_of(objects)
    assert pod["runtimeClassName"] == "nvidia"
    assert [item["key"] for item in pod["tolerations"]] == ["team", "mine"]
    assert [item["name"] for item in pod["containers"]] == ["task", "sidecar"]
    env = {item["name"]: item.get("value") for item in container_of(objects)["env"]}
    assert {"A": "stack", "B": "task", "C": "task"}.items() <= env.items()


def test_the_same_layer_twice_changes_nothing():
    config = """\
config:
  kubernetes:
    pod_config:
      spec:
        imagePullSecrets: [{name: a}]
        tolerations: [{key: t, operator: Exists}]
        volumes: [{name: data, emptyDir: {}}]
        containers:
        - ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]
          volumeMounts: [{name: data, mountPath: /data}, {name: data, mountPath: /more}]
          securityContext: {capabilities: {add: [IPC_LOCK]}}
"""
    once = rendered(HEAD + config)
    twice = rendered(HEAD + config, STACK + config)
    assert once["job.yaml"] == twice["job.yaml"]
    assert len(container_of(once)["ports"]) == 2


def test_null_takes_a_value_away():
    task = HEAD + "config: {kubernetes: {pod_config: {spec: {enableServiceLinks: null}}}}\n"
    assert "enableServiceLinks" not in pod_of(rendered(task))


def test_the_users_shared_memory_makes_ours_go():
    task = (
        START
        + """\
      spec:
        volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
        containers:
        - volumeMounts: [{name: dshm, mountPath: /dev/shm/}]
"""
    )
    objects = rendered(task)
    assert "triplane-shm" not in [item["name"] for item in pod_of(objects)["volumes"]]


def test_host_network_gets_dns_and_lies_apart():
    pod = pod_of(rendered(START + "      spec: {hostNetwork: true}\n"))
    assert pod["dnsPolicy"] == "ClusterFirstWithHostNet"
    assert "requiredDuringSchedulingIgnoredDuringExecution" in pod["affinity"]["podAntiAffinity"]


WRONG = [
    ("nodeSelectors: {a: b}", "manifest-unknown-field", 7, 9),
    ("containers: [{name: ray-node, imag: x}]", "manifest-unknown-field", 7, 39),
    ("tolerations: [{key: a, operator: Exist}]", "manifest-bad-value", 7, 42),
    ("dnsPolicy: clusterfirst", "manifest-bad-value", 7, 20),
    ("hostNetwork: 'yes'", "manifest-wrong-type", 7, 22),
    ("containers: {env: []}", "kubernetes-pod-config-clash", 7, 21),
    ("volumes: [{emptyDir: {}}]", "manifest-missing-field", 7, 19),
    ("containers: [{env: [{value: a}]}]", "manifest-missing-field", 7, 29),
    (
        "containers: [{volumeMounts: [{name: nothing, mountPath: /a}]}]",
        "manifest-bad-value",
        7,
        45,
    ),
    (
        "{volumes: [{name: v, emptyDir: {}}], containers: [{volumeMounts: "
        "[{name: v, mountPath: /a}, {name: v, mountPath: /a}]}]}",
        "manifest-duplicate",
        7,
        101,
    ),
    (
        "volumes: [{name: triplane-state, hostPath: {path: /x}}]",
        "manifest-bad-value",
        7,
        19,
    ),
    ("hostname: head", "kubernetes-pod-config-protected", 7, 9),
    ("restartPolicy: OnFailure", "kubernetes-pod-config-protected", 7, 9),
    ("dnsPolicy: Default", "kubernetes-pod-config-protected", 7, 9),
    ("containers: [{command: [sh]}]", "kubernetes-pod-config-protected", 7, 23),
    (
        "containers: [{readinessProbe: {periodSeconds: 9}}]",
        "kubernetes-pod-config-protected",
        7,
        23,
    ),
]


@pytest.mark.parametrize(("spec", "code", "line", "column"), WRONG)
def test_errors_stand_where_they_were_written(spec, code, line, column):
    found = findings(START + f"      spec:\n        {spec}\n")
    assert [(item[0], item[1]) for item in found] == [(code, f"task.yaml:{line}:{column}")]


def test_errors_of_the_stack_stand_in_the_stack():
    stack = STACK + "config:\n  kubernetes:\n    pod_config:\n      spec: {nodeName: 3}\n"
    assert [item[:2] for item in findings(HEAD, stack)] == [
        ("manifest-wrong-type", "stack.yaml:7:24")
    ]


def test_reserved_labels_stay_ours():
    task = START + '      metadata: {labels: {triplane.dev/run: "9"}}\n'
    assert [item[:2] for item in findings(task)] == [
        ("kubernetes-label-reserved", "task.yaml:6:27")
    ]


def test_a_field_of_another_version_is_named_as_that():
    task = (
        HEAD + "config: {kubernetes: {pod_config: {spec: {schedulingGroup: {podGroupName: a}}}}}\n"
    )
    assert findings(task)[0][0] == "manifest-unknown-field"
    rendered(task, STACK.replace("1.34", "1.36"))


def test_all_errors_are_said_at_once():
    task = START + "      spec: {hostIPC: 1, dnsPolicy: x, nope: true}\n"
    assert {item[0] for item in findings(task)} == {
        "manifest-wrong-type",
        "manifest-bad-value",
        "manifest-unknown-field",
    }


def test_wrong_custom_metadata_is_said_once():
    task = HEAD + "config:\n  kubernetes:\n    custom_metadata: {labels: {a: 'no spaces'}}\n"
    (found,) = findings(task)
    assert found[:2] == ("manifest-bad-value", "task.yaml:4:35")
