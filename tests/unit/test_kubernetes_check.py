"""The strict check: a table of mistakes, each with what is said about it."""

import copy

import pytest

from compiler.targets.kubernetes.findings import all_findings
from compiler.targets.kubernetes.scalars import Fault

JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train-1", "labels": {"app": "x"}},
    "spec": {
        "completionMode": "Indexed",
        "completions": 2,
        "backoffLimit": 0,
        "template": {
            "metadata": {"labels": {"app": "x"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "task",
                        "image": "python:3.12",
                        "env": [{"name": "A", "value": "1"}],
                        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                        "volumeMounts": [{"name": "state", "mountPath": "/state"}],
                    }
                ],
                "volumes": [{"name": "state", "emptyDir": {}}],
            },
        },
    },
}
POD = ("spec", "template", "spec")
FIRST = (*POD, "containers", 0)


def changed(path, value):
    manifest = copy.deepcopy(JOB)
    place = manifest
    for step in path[:-1]:
        place = place[step]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return manifest


def test_a_sound_job_has_no_faults():
    assert all_findings(JOB, "1.34") == []


MISTAKES = [
    ((*POD, "nodeSelectors"), {"a": "b"}, Fault.UNKNOWN_FIELD, None, "`nodeSelector`"),
    ((*FIRST, "Image"), "x", Fault.UNKNOWN_FIELD, None, "`image`"),
    ((*POD, "schedulingGroup"), {}, Fault.UNKNOWN_FIELD, None, "Kubernetes 1.36"),
    (("status",), {}, Fault.UNKNOWN_FIELD, None, None),
    ((*FIRST, "name"), KeyError, Fault.MISSING_FIELD, None, None),
    ((*POD, "containers"), KeyError, Fault.MISSING_FIELD, None, None),
    (("metadata", "name"), KeyError, Fault.MISSING_FIELD, None, None),
    (("spec", "completions"), KeyError, Fault.MISSING_FIELD, None, None),
    (("spec", "completions"), "2", Fault.WRONG_TYPE, None, None),
    (("spec", "completions"), True, Fault.WRONG_TYPE, None, None),
    (("spec", "completions"), 2.0, Fault.WRONG_TYPE, None, None),
    (("spec", "backoffLimit"), 2**31, Fault.BAD_VALUE, None, None),
    (("spec", "suspend"), "true", Fault.WRONG_TYPE, None, None),
    ((*FIRST, "env"), {"A": "1"}, Fault.WRONG_TYPE, None, None),
    ((*FIRST, "env", 0, "value"), 1, Fault.WRONG_TYPE, None, None),
    ((*FIRST, "command"), "run", Fault.WRONG_TYPE, None, None),
    (("metadata", "labels", "app"), 1, Fault.WRONG_TYPE, None, None),
    (
        ("metadata", "annotations"),
        {"a": True},
        Fault.WRONG_TYPE,
        ("metadata", "annotations", "a"),
        None,
    ),
    ((*POD, "dnsPolicy"), "clusterfirst", Fault.BAD_VALUE, None, "`ClusterFirst`"),
    ((*POD, "restartPolicy"), "Sometimes", Fault.BAD_VALUE, None, None),
    ((*POD, "restartPolicy"), "Always", Fault.BAD_VALUE, None, None),
    ((*FIRST, "resources", "requests", "memory"), "1 GB", Fault.BAD_VALUE, None, None),
    ((*FIRST, "resources", "requests", "cpu"), [1], Fault.WRONG_TYPE, None, None),
    ((*FIRST, "name"), "Task", Fault.BAD_VALUE, None, None),
    (("metadata", "name"), "Train_1", Fault.BAD_VALUE, None, None),
    (("metadata", "labels", "app"), "no spaces", Fault.BAD_VALUE, None, None),
    (("metadata", "labels"), {"-a": "x"}, Fault.BAD_VALUE, ("metadata", "labels", "-a"), None),
    (
        (*FIRST, "volumeMounts", 0, "name"),
        "stat",
        Fault.BAD_VALUE,
        None,
        None,
    ),
    (
        (*FIRST, "volumeMounts"),
        [{"name": "state", "mountPath": "/a"}, {"name": "state", "mountPath": "/a"}],
        Fault.DUPLICATE,
        (*FIRST, "volumeMounts", 1),
        None,
    ),
    (
        (*FIRST, "env"),
        [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
        Fault.DUPLICATE,
        (*FIRST, "env", 1),
        None,
    ),
    (
        (*FIRST, "ports"),
        [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}],
        Fault.DUPLICATE,
        (*FIRST, "ports", 1),
        None,
    ),
    (
        (*POD, "volumes"),
        [{"name": "state", "emptyDir": {}, "hostPath": {"path": "/x"}}],
        Fault.BAD_VALUE,
        (*POD, "volumes", 0),
        None,
    ),
    (
        (*POD, "volumes"),
        [
            {"name": "state", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "again", "persistentVolumeClaim": {"claimName": "c"}},
        ],
        Fault.DUPLICATE,
        (*POD, "volumes", 1),
        None,
    ),
    (
        (*FIRST, "resources"),
        {"requests": {"nvidia.com/gpu": "4"}, "limits": {"nvidia.com/gpu": "8"}},
        Fault.BAD_VALUE,
        (*FIRST, "resources", "requests", "nvidia.com/gpu"),
        None,
    ),
    (
        (*FIRST, "resources", "claims"),
        [{"name": "gpu"}],
        Fault.BAD_VALUE,
        (*FIRST, "resources", "claims", 0, "name"),
        None,
    ),
    (
        (*POD, "initContainers"),
        [{"name": "task", "image": "x"}],
        Fault.DUPLICATE,
        (*FIRST, "name"),
        None,
    ),
    (("kind",), "Jobs", Fault.BAD_VALUE, None, "`batch/v1 Job`"),
    (("apiVersion",), "batch/v2", Fault.BAD_VALUE, ("kind",), None),
]


@pytest.mark.parametrize(("path", "value", "fault", "where", "hint"), MISTAKES)
def test_mistakes_are_found(path, value, fault, where, hint):
    findings = all_findings(changed(path, value), "1.34")
    assert [item.fault for item in findings] == [fault]
    assert findings[0].path == (where or path)
    if hint is not None:
        assert hint in findings[0].hint


def test_all_mistakes_are_found_at_once():
    manifest = changed((*FIRST, "imagePullPolicy"), "Alway")
    manifest["spec"]["parallelism"] = "two"
    manifest["spec"]["template"]["spec"]["nodeselector"] = {}
    faults = {item.path[-1]: item.fault for item in all_findings(manifest, "1.34")}
    assert faults == {
        "imagePullPolicy": Fault.BAD_VALUE,
        "parallelism": Fault.WRONG_TYPE,
        "nodeselector": Fault.UNKNOWN_FIELD,
    }


@pytest.mark.parametrize("value", [None, "text", 3, []])
def test_what_is_no_object_is_said_to_be_none(value):
    assert [item.fault for item in all_findings(value, "1.34")] == [Fault.WRONG_TYPE]


def test_null_is_not_set():
    assert all_findings(changed((*POD, "nodeSelector"), None), "1.34") == []


@pytest.mark.parametrize(
    ("data", "faults"),
    [
        ({"data": {"a.sh": "x"}, "binaryData": {"b": "AAEC"}}, []),
        ({"data": {"a b": "x"}}, [Fault.BAD_VALUE]),
        ({"binaryData": {"b": "not base64"}}, [Fault.BAD_VALUE]),
        ({"data": {"a": "x" * (1 << 20), "b": "y"}}, [Fault.BAD_VALUE]),
        ({"immutable": "yes"}, [Fault.WRONG_TYPE]),
    ],
)
def test_config_maps(data, faults):
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, **data}
    assert [item.fault for item in all_findings(body, "1.34")] == faults
