"""Layers of SkyPilot's configuration, and questions about what holds where they meet."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.dialect.asking import Question

_TOLERATION = {"key": "spot", "operator": "Exists"}
LAYERS: tuple[dict[str, Any], ...] = (
    {
        "kubernetes": {
            "namespace": "ml",
            "provision_timeout": 10,
            "allowed_contexts": ["a", "b"],
            "pod_config": {
                "metadata": {"labels": {"team": "nlp", "tier": "low"}},
                "spec": {
                    "containers": [
                        {
                            "name": "ray-node",
                            "args": ["one", "two"],
                            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                            "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                            "ports": [{"containerPort": 80}],
                        }
                    ],
                    "tolerations": [_TOLERATION],
                    "imagePullSecrets": [{"name": "one"}],
                    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
                },
            },
        },
        "slurm": {"sbatch_options": {"qos": "low", "time": "1:00:00"}},
    },
    {
        "kubernetes": {
            "allowed_contexts": ["c"],
            "pod_config": {
                "metadata": {"labels": {"tier": "high"}, "annotations": {"a": "b"}},
                "spec": {
                    "containers": [
                        {
                            "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}],
                            "args": ["three"],
                            "command": ["sh"],
                        },
                        {"name": "side", "image": "x"},
                    ],
                    "tolerations": [{"key": "gpu", "operator": "Exists"}],
                    "imagePullSecrets": [{"name": "two"}],
                    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
                },
            },
            "custom_metadata": {"labels": {"x": "1"}},
        },
        "aws": {"labels": {"a": "1"}, "vpc_name": "one"},
    },
    {
        "kubernetes": {
            "pod_config": {
                "spec": {
                    "containers": [
                        {
                            "name": "ray-node",
                            "volumeMounts": [
                                {"name": "data", "mountPath": "/dev/shm"},
                                {"name": "shm", "mountPath": "/other"},
                            ],
                            "resources": {"limits": {"cpu": "4"}, "claims": [{"name": "gpu"}]},
                            "securityContext": None,
                        }
                    ],
                    "volumes": [{"name": "shm", "emptyDir": {"sizeLimit": "1Gi"}}],
                    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["b"]}],
                    "nodeSelector": {"pool": "a"},
                }
            },
            "custom_metadata": {"labels": {"x": "2", "y": "3"}, "annotations": {"z": "0"}},
        },
        "aws": {"labels": {"b": "2"}, "vpc_name": None},
        "slurm": {"sbatch_options": {"qos": "high"}, "quota": {"account": "team"}},
    },
    {
        "kubernetes": {
            "namespace": None,
            "pod_config": {
                "spec": {
                    "tolerations": [_TOLERATION, {"key": "x"}],
                    "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1}],
                    "nodeSelector": {"pool": None, "zone": "b"},
                    "priority": 3,
                }
            },
        },
        "jobs": {"controller": {"resources": {"cpus": "4+"}}},
        "allowed_clouds": ["aws"],
    },
    {
        "kubernetes": {
            "pod_config": {
                "spec": {
                    "topologySpreadConstraints": [
                        {"topologyKey": "zone", "maxSkew": 2},
                        {"topologyKey": "host", "maxSkew": 1},
                    ],
                    "initContainers": [{"name": "first", "image": "y"}],
                }
            }
        },
        "jobs": {"controller": {"resources": {"memory": "8+"}}},
        "allowed_clouds": ["kubernetes", "slurm"],
    },
)

CONFIG: dict[str, Any] = {
    "kubernetes": {
        "namespace": "wide",
        "provision_timeout": 600,
        "kueue": {"local_queue_name": "wide"},
        "pod_config": LAYERS[0]["kubernetes"]["pod_config"],
        "context_configs": {
            "near": {
                "namespace": "near",
                "provision_timeout": 60,
                "pod_config": LAYERS[1]["kubernetes"]["pod_config"],
            },
            "far": {"kueue": {"local_queue_name": "far"}},
        },
    },
    "slurm": {
        "cpu_partition": "wide",
        "sbatch_options": {"qos": "wide", "time": "1:00"},
        "cluster_configs": {"near": {"cpu_partition": "near", "provision_timeout": 9}},
    },
    "workspaces": {
        "team": {
            "kubernetes": {
                "namespace": "team",
                "context_configs": {"near": {"namespace": "team-near"}},
            }
        },
        "other": {"kubernetes": {"kueue": {"local_queue_name": "other"}}},
    },
}
_KEYS = (
    ("kubernetes", "namespace"),
    ("kubernetes", "kueue"),
    ("kubernetes", "provision_timeout"),
    ("kubernetes", "pod_config"),
    ("slurm", "cpu_partition"),
    ("slurm", "provision_timeout"),
)
_TASKS = (
    {},
    {
        "kubernetes": {
            "provision_timeout": 5,
            "kueue": {"local_queue_name": "task"},
            "pod_config": LAYERS[2]["kubernetes"]["pod_config"],
        },
        "slurm": {"cpu_partition": "task"},
    },
)


def questions() -> list[Question]:
    """Every pair of layers and every row of three, and every key in every scope."""
    return [*_of_layers(), *_of_scopes()]


def _of_layers() -> Iterator[Question]:
    numbers = range(len(LAYERS))
    rows = [*itertools.product(numbers, repeat=2), *itertools.permutations(numbers, 3)]
    for row in rows:
        name = "layers/" + "-".join(map(str, row))
        yield Question(name, json.dumps([LAYERS[at] for at in row]), "layers")


def _of_scopes() -> Iterator[Question]:
    places = itertools.product(
        _KEYS, ("near", "far", "none"), ("default", "team", "other"), range(len(_TASKS))
    )
    for (cloud, key), region, workspace, task in places:
        body = {
            "config": CONFIG,
            "cloud": cloud,
            "key": key,
            "region": region,
            "workspace": workspace,
            "task": _TASKS[task],
        }
        name = f"scope/{cloud}.{key}/{region}/{workspace}/{task}"
        yield Question(name, json.dumps(body), "scope")
