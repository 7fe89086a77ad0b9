"""SkyPilot's configuration: how its layers merge, and which scope's value holds."""

import copy

import pytest

from compiler.model import TargetKind, local_queue, merge_config, merge_pod_config, scoped
from compiler.model.config import ConfigClash


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}}, {"a": {"b": 1, "c": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        (
            {"kubernetes": {"pod_config": {"spec": {"tolerations": [{"key": "a"}]}}}},
            {"kubernetes": {"pod_config": {"spec": {"tolerations": [{"key": "b"}]}}}},
            {"kubernetes": {"pod_config": {"spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}}}},
        ),
        (
            {"ssh": {"pod_config": {"spec": {"tolerations": [{"key": "a"}]}}}},
            {"ssh": {"pod_config": {"spec": {"tolerations": [{"key": "b"}]}}}},
            {"ssh": {"pod_config": {"spec": {"tolerations": [{"key": "b"}]}}}},
        ),
    ],
)
def test_layers(low, high, expected):
    before = copy.deepcopy((low, high))
    assert merge_config((low, high)) == expected
    assert (low, high) == before


def test_three_layers_low_to_high():
    assert merge_config(({"a": 1, "b": 1, "c": 1}, {"b": 2, "c": 2}, {"c": 3})) == {
        "a": 1,
        "b": 2,
        "c": 3,
    }


def test_objects_below_contexts_are_merged_as_objects():
    def layer(image):
        containers = [{"name": "side", "image": image}]
        pod = {"spec": {"containers": containers, "hostNetwork": True}}
        return {"kubernetes": {"context_configs": {"prod": {"pod_config": pod}}}}

    merged = merge_config((layer("a"), layer("b")))
    pod = merged["kubernetes"]["context_configs"]["prod"]["pod_config"]
    assert pod["spec"]["containers"] == [{"name": "side", "image": "b"}]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        # By name.
        (
            {"containers": [{"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}]}]},
            {"containers": [{"name": "a", "env": [{"name": "E", "value": "2"}, {"name": "F"}]}]},
            {
                "containers": [
                    {
                        "name": "a",
                        "image": "x",
                        "env": [{"name": "E", "value": "2"}, {"name": "F"}],
                    }
                ]
            },
        ),
        # Without a partner: appended.
        (
            {"volumes": [{"name": "a"}]},
            {"volumes": [{"name": "b"}]},
            {"volumes": [{"name": "a"}, {"name": "b"}]},
        ),
        # Two mounts of one volume are two mounts.
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/a"}]},
            {"volumeMounts": [{"name": "v", "mountPath": "/b"}]},
            {"volumeMounts": [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/b"}]},
        ),
        (
            {"ports": [{"containerPort": 80, "name": "x"}]},
            {"ports": [{"containerPort": 80, "name": "y"}]},
            {"ports": [{"containerPort": 80, "name": "y"}]},
        ),
        # A container without a name goes into the first.
        (
            {"containers": [{"name": "task", "image": "x"}, {"name": "side"}]},
            {"containers": [{"resources": {"limits": {"efa": 4}}}]},
            {
                "containers": [
                    {"name": "task", "image": "x", "resources": {"limits": {"efa": 4}}},
                    {"name": "side"},
                ]
            },
        ),
        # Replaced as a whole.
        ({"args": ["a", "b"]}, {"args": ["c"]}, {"args": ["c"]}),
        (
            {"imagePullSecrets": [{"name": "a"}]},
            {"imagePullSecrets": [{"name": "b"}]},
            {"imagePullSecrets": [{"name": "b"}]},
        ),
        # Appended, equal items once.
        (
            {"tolerations": [{"key": "a"}, {"key": "b"}]},
            {"tolerations": [{"key": "b"}, {"key": "c"}]},
            {"tolerations": [{"key": "a"}, {"key": "b"}, {"key": "c"}]},
        ),
        # Scalars and null win.
        ({"a": {"b": 1}}, {"a": {"b": None}}, {"a": {"b": None}}),
        ({"a": {"b": 1}}, {"a": 2}, {"a": 2}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_objects(low, high, expected):
    low, high = {"spec": low}, {"spec": high}
    before = copy.deepcopy((low, high))
    assert merge_pod_config((low, high)) == {"spec": expected}
    assert (low, high) == before


def test_merging_is_idempotent():
    pod = {
        "spec": {
            "tolerations": [{"key": "a"}, {"key": "a"}],
            "containers": [{"name": "t", "args": ["x"], "env": [{"name": "E", "value": "1"}]}],
            "volumes": [{"name": "v", "emptyDir": {}}],
        }
    }
    once = merge_pod_config((pod,))
    assert merge_pod_config((once, pod)) == once
    assert merge_pod_config((once, once, pod)) == once
    assert once["spec"]["tolerations"] == [{"key": "a"}]


@pytest.mark.parametrize(
    ("low", "high"), [({"a": {"b": 1}}, {"a": [1]}), ({"a": [1]}, {"a": {"b": 1}})]
)
def test_a_map_and_a_list_clash(low, high):
    with pytest.raises(ConfigClash) as caught:
        merge_pod_config(({"spec": low}, {"spec": high}))
    assert caught.value.path == ("spec", "a")


def test_merge_keys_can_come_from_elsewhere():
    def key(path):
        return "id" if path == ("spec", "things") else None

    merged = merge_pod_config(
        (
            {"spec": {"things": [{"id": 1, "a": 1}], "env": [{"name": "E", "value": "1"}]}},
            {"spec": {"things": [{"id": 1, "b": 2}], "env": [{"name": "E", "value": "2"}]}},
        ),
        key,
    )
    assert merged["spec"]["things"] == [{"id": 1, "a": 1, "b": 2}]
    assert len(merged["spec"]["env"]) == 2


KUBERNETES = {
    "kubernetes": {
        "namespace": "global",
        "kueue": {"local_queue_name": "global"},
        "provision_timeout": 10,
        "custom_metadata": {"labels": {"a": "global", "b": "global"}},
        "context_configs": {
            "prod": {
                "namespace": "context",
                "provision_timeout": 20,
                "custom_metadata": {"labels": {"b": "context"}},
            },
        },
    },
    "workspaces": {
        "research": {
            "kubernetes": {
                "namespace": "workspace",
                "quota": {"queue": "workspace"},
                "context_configs": {"prod": {"namespace": "both"}},
            }
        },
        "other": {},
    },
}


@pytest.mark.parametrize(
    ("context", "workspace", "task", "key", "expected"),
    [
        ("prod", "research", {}, "namespace", "both"),
        ("dev", "research", {}, "namespace", "workspace"),
        ("prod", "other", {}, "namespace", "context"),
        ("prod", None, {}, "namespace", "context"),
        ("dev", None, {}, "namespace", "global"),
        ("dev", None, {"active_workspace": "research"}, "namespace", "workspace"),
        ("prod", None, {}, "provision_timeout", 20),
        ("prod", None, {"kubernetes": {"provision_timeout": 30}}, "provision_timeout", 30),
        ("dev", None, {}, "provision_timeout", 10),
        (
            "prod",
            None,
            {"kubernetes": {"custom_metadata": {"labels": {"c": "task"}}}},
            "custom_metadata",
            {"labels": {"a": "global", "b": "context", "c": "task"}},
        ),
        ("prod", "research", {}, "quota", {"queue": "workspace"}),
        ("prod", None, {}, "autoscaler", None),
    ],
)
def test_scopes_on_kubernetes(context, workspace, task, key, expected):
    found = scoped(KUBERNETES, TargetKind.KUBERNETES, context, workspace, task, key)
    assert found == expected


@pytest.mark.parametrize(
    ("context", "workspace", "task", "queue"),
    [
        ("prod", None, {}, "global"),
        ("prod", "research", {}, "workspace"),
        ("prod", "research", {"kubernetes": {"kueue": {"local_queue_name": "task"}}}, "task"),
        (
            "prod",
            None,
            {"kubernetes": {"kueue": {"local_queue_name": "k"}, "quota": {"queue": "q"}}},
            "q",
        ),
    ],
)
def test_the_local_queue(context, workspace, task, queue):
    assert local_queue(KUBERNETES, context, workspace, task) == queue
    assert local_queue({}, context, workspace, {}) is None


SLURM = {
    "slurm": {
        "cpu_partition": "global",
        "provision_timeout": 5,
        "gpu_partition_map": {"H100": "g", "A100": "g"},
        "sbatch_options": {"a": "global", "b": "global", "c": "global", "d": "g", "e": "g"},
        "quota": {"account": "global"},
        "cluster_configs": {
            "alpha": {
                "cpu_partition": "cluster",
                "gpu_partition_map": {"A100": "cluster"},
                "sbatch_options": {"b": "cluster", "c": "cluster", "d": "cluster", "e": "c"},
                "partition_configs": {
                    "gpu": {"sbatch_options": {"c": "partition", "d": "partition", "e": "p"}}
                },
            }
        },
    },
    "workspaces": {
        "research": {
            "slurm": {
                "sbatch_options": {"d": "workspace", "e": "workspace"},
                "quota": {"account": "workspace"},
            }
        }
    },
}


@pytest.mark.parametrize(
    ("cluster", "key", "expected"),
    [
        ("alpha", "cpu_partition", "cluster"),
        ("beta", "cpu_partition", "global"),
        ("alpha", "provision_timeout", 5),
        ("alpha", "gpu_partition_map", {"H100": "g", "A100": "cluster"}),
        ("alpha", "quota", {"account": "workspace"}),
    ],
)
def test_scopes_on_slurm(cluster, key, expected):
    assert scoped(SLURM, TargetKind.SLURM, cluster, "research", {}, key) == expected


def test_sbatch_options_are_laid_over_one_another():
    task = {"slurm": {"sbatch_options": {"e": "task", "f": None}}}
    found = scoped(
        SLURM, TargetKind.SLURM, "alpha", "research", task, "sbatch_options", partition="gpu"
    )
    assert found == {
        "a": "global",
        "b": "cluster",
        "c": "partition",
        "d": "workspace",
        "e": "task",
        "f": None,
    }


def test_scopes_on_aws():
    config = {
        "aws": {"vpc_name": "global", "remote_identity": "role"},
        "workspaces": {"research": {"aws": {"remote_identity": "research-role"}}},
    }
    aws = (config, TargetKind.AWS, "us-east-1", "research", {})
    assert scoped(*aws, "remote_identity") == "research-role"
    assert scoped(*aws, "vpc_name") == "global"
    assert scoped(*aws, "use_ssm", default=False) is False
