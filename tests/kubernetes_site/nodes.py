"""The nodes that kwok plays: two zones of p5 (H100, EFA), trn2 (Trainium2) and plain CPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

ZONES = ("us-east-1a", "us-east-1b")
EFA = "vpc.amazonaws.com/efa"

# Instance type -> (nodes a zone, devices, labels): as the vendors' device plugins, GPU feature
# discovery and Karpenter describe such machines.
_TYPES: Mapping[str, tuple[int, dict[str, str], dict[str, str]]] = {
    "p5.48xlarge": (
        4,
        {"nvidia.com/gpu": "8", EFA: "32", "hugepages-2Mi": "64Gi"},
        {
            "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
            "nvidia.com/gpu.count": "8",
            "karpenter.k8s.aws/instance-gpu-name": "h100",
            "karpenter.k8s.aws/instance-gpu-count": "8",
            "skypilot.co/accelerator": "h100",
        },
    ),
    "trn2.48xlarge": (
        2,
        {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "128", EFA: "16"},
        {
            "karpenter.k8s.aws/instance-accelerator-name": "trainium2",
            "skypilot.co/accelerator": "trainium2",
        },
    ),
    "m7i.48xlarge": (2, {}, {}),
}


def nodes() -> Iterator[dict]:
    for zone in ZONES:
        for kind, (count, devices, labels) in _TYPES.items():
            for index in range(count):
                yield _node(
                    f"{kind.partition('.')[0]}-{zone[-1]}{index}", zone, kind, devices, labels
                )


def _node(
    name: str, zone: str, kind: str, devices: Mapping[str, str], labels: Mapping[str, str]
) -> dict:
    size = {"cpu": "192", "memory": "2000Gi", "pods": "250", "ephemeral-storage": "900Gi"}
    capacity = {**size, **devices}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/region": zone[:-1],
                "topology.kubernetes.io/zone": zone,
                "node.kubernetes.io/instance-type": kind,
                **labels,
            },
        },
        "status": {"allocatable": capacity, "capacity": capacity},
    }


def queues() -> tuple[dict, ...]:
    """Kueue's objects: 32 H100 for the LocalQueue `team` of the namespace default."""
    version = "kueue.x-k8s.io/v1beta2"
    resources = ["cpu", "memory", "nvidia.com/gpu"]
    quotas = ["1000", "8000Gi", "32"]
    flavor = {
        "name": "h100",
        "resources": [
            {"name": name, "nominalQuota": quota}
            for name, quota in zip(resources, quotas, strict=True)
        ],
    }
    toleration = {"key": "reserved", "operator": "Exists", "effect": "NoSchedule"}
    return (
        {
            "apiVersion": version,
            "kind": "ResourceFlavor",
            "metadata": {"name": "h100"},
            "spec": {
                "nodeLabels": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
                "tolerations": [toleration],
            },
        },
        {
            "apiVersion": version,
            "kind": "ClusterQueue",
            "metadata": {"name": "gpus"},
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": resources, "flavors": [flavor]}],
            },
        },
        {
            "apiVersion": version,
            "kind": "LocalQueue",
            "metadata": {"name": "team", "namespace": "default"},
            "spec": {"clusterQueue": "gpus"},
        },
    )
