"""What each fast network wants of a pod, apart from Google's (gke_fabrics.py).

A fabric is a function from the devices of a pod to its Addition. The capability IPC_LOCK, which
all of them need to pin memory, and the rule of one zone are added where they are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compiler.targets.kubernetes.additions import Addition, variables
from compiler.targets.kubernetes.gke_fabrics import GKE_FABRICS

MULTUS = "k8s.v1.cni.cncf.io/networks"
# NVIDIA's adapters, as Nebius and Together have them: one for each of eight devices.
_MELLANOX = {
    "NCCL_IB_HCA": "mlx5",
    "UCX_NET_DEVICES": ",".join(f"mlx5_{index}:1" for index in range(8)),
}
_COREWEAVE = {
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_IB_HCA": "ibp",
    "UCX_TLS": "tcp",
    "UCX_NET_DEVICES": "eth0",
}
_ROCE = {
    "NCCL_IB_HCA": "mlx5",
    "NCCL_IB_GID_INDEX": "3",
    "NCCL_IB_TC": "41",
    "NCCL_SOCKET_IFNAME": "eth0",
    "UCX_TLS": "tcp",
    "UCX_NET_DEVICES": "eth0",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a fabric is asked for: `devices` of a pod, `efa` interfaces, the stack's `rdma`
    section and the amount of huge pages (None: none)."""

    devices: int
    efa: int | None
    rdma: Mapping[str, object]
    hugepages: str | None


Fabric = Callable[[Wanted], Addition]


def _efa(wanted: Wanted) -> Addition:
    devices = {"vpc.amazonaws.com/efa": str(wanted.efa)}
    if wanted.hugepages is not None:
        devices["hugepages-2Mi"] = wanted.hugepages
    # with the provider named, libfabric fails where there is no EFA instead of using TCP
    return Addition(devices=devices, env=variables({"FI_PROVIDER": "efa"}))


def _coreweave(wanted: Wanted) -> Addition:
    return Addition(devices={"rdma/ib": "1"}, env=variables(_COREWEAVE))


def _nebius(wanted: Wanted) -> Addition:
    return Addition(env=variables(_MELLANOX))


def _together(wanted: Wanted) -> Addition:
    devices = {"nvidia.com/rdma_ib": str(max(1, wanted.devices))}
    return Addition(devices=devices, env=variables(_MELLANOX))


def _oci(wanted: Wanted) -> Addition:
    rdma = wanted.rdma
    if str(rdma.get("mode") or "").lower() == "sriov" and rdma.get("resource"):
        count = max(1, wanted.devices)
        networks = str(rdma["networks"]) if rdma.get("networks") else ""
        return Addition(
            devices={str(rdma["resource"]): str(count)},
            annotations={MULTUS: ",".join([networks] * count)} if networks else {},
            env=variables(_ROCE),
        )
    # the adapters are the node's own
    device = {"name": "triplane-infiniband", "hostPath": {"path": "/dev/infiniband"}}
    return Addition(
        env=variables(_ROCE),
        privileged=True,
        volumes=(device,),
        mounts=({"name": "triplane-infiniband", "mountPath": "/dev/infiniband"},),
        spec={"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"},
    )


def _always(made: Addition) -> Fabric:
    return lambda wanted: made


FABRICS: Mapping[str, Fabric] = {
    "efa": _efa,
    "coreweave": _coreweave,
    "nebius": _nebius,
    "together": _together,
    "oci": _oci,
    **{name: _always(made) for name, made in GKE_FABRICS.items()},
}
