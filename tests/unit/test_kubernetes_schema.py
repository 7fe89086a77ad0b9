"""The compact schemas: versions, shapes, keys of lists."""

import pytest

from compiler.targets.kubernetes import list_map_keys, merge_keys, schema

POD = ("spec", "template", "spec")


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ("1.34", "1.34"),
        ("v1.35.2", "1.35"),
        ("1.33.4-eks-abc", "1.33"),
        ("1.29", "1.31"),
        ("1.99", "1.37"),
        (None, "1.37"),
        ("latest", "1.37"),
    ],
)
def test_version_used(asked, used):
    assert schema.nearest_version(asked) == used


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ((*POD, "containers"), ("name",)),
        ((*POD, "containers", "env"), ("name",)),
        ((*POD, "containers", "volumeMounts"), ("mountPath",)),
        ((*POD, "containers", "ports"), ("containerPort", "protocol")),
        ((*POD, "containers", "resources", "claims"), ("name",)),
        ((*POD, "initContainers", "volumeDevices"), ("devicePath",)),
        ((*POD, "topologySpreadConstraints"), ("topologyKey", "whenUnsatisfiable")),
        ((*POD, "hostAliases"), ("ip",)),
        ((*POD, "tolerations"), None),
        ((*POD, "containers", "args"), None),
        ((*POD, "nodeSelector"), None),
        (("spec", "nothing"), None),
        (("metadata", "labels", "x", "y"), None),
    ],
)
def test_keys_of_lists(path, keys):
    assert merge_keys("1.34")("batch/v1", "Job", path) == keys


def test_keys_of_unknown_objects_are_none():
    assert merge_keys("1.34")("example.com/v1", "Thing", ("spec", "items")) is None
    assert list_map_keys("Service", ("spec", "ports")) == ("port", "protocol")


@pytest.mark.parametrize(
    ("version", "type_name", "field", "there"),
    [
        ("1.34", "core.v1.PodSpec", "workloadRef", False),
        ("1.35", "core.v1.PodSpec", "workloadRef", True),
        ("1.36", "core.v1.PodSpec", "workloadRef", False),
        ("1.36", "core.v1.PodSpec", "schedulingGroup", True),
        ("1.36", "batch.v1.JobSpec", "scheduling", False),
        ("1.37", "batch.v1.JobSpec", "scheduling", True),
    ],
)
def test_versions_differ_as_kubernetes_does(version, type_name, field, there):
    assert (field in schema.schemas(version).fields(type_name)) is there


@pytest.mark.parametrize("version", schema.known_versions())
def test_every_shape_of_every_version_can_be_followed(version):
    known = schema.schemas(version)
    seen, pending = set(), [known.type_of(*name.split()) for name in known.kinds()]
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for shape in known.fields(name).values():
            while shape.item is not None:
                shape = shape.item
            if shape.kind == "object":
                pending.append(shape.name)
            elif shape.kind == "enum":
                assert shape.values
    assert {"batch.v1.Job", "core.v1.Container", "core.v1.ConfigMap"} <= seen


def test_enums_come_from_the_types_of_kubernetes():
    fields = schema.schemas("1.34").fields("core.v1.PodSpec")
    assert fields["restartPolicy"].values == ("Always", "Never", "OnFailure")


def test_data_is_compact():
    folder = schema._FOLDER
    assert sum(path.stat().st_size for path in folder.iterdir()) < 200_000
