"""Google's fast networks: TCPX and TCPXO with a daemon beside the task, RDMA without one.

The node pools have the networks and the host's libraries; the daemon is a sidecar, so that it
ends with the task. Each of them takes all eight devices of a node.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from compiler.targets.kubernetes.additions import Addition, variables

DEVICES = 8
_LIBRARIES = "/home/kubernetes/bin/nvidia"
_TCPX_IMAGE = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpx/tcpgpudmarxd-dev:v2.0.15"
_TCPXO_IMAGE = "us-docker.pkg.dev/gce-ai-infra/gpudirect-tcpxo/tcpgpudmarxd-dev:v1.0.17"
_CPUS_TX = "eth1:8-21,112-125;eth2:8-21,112-125;eth3:60-73,164-177;eth4:60-73,164-177"
_CPUS_RX = "eth1:22-35,126-139;eth2:22-35,126-139;eth3:74-87,178-191;eth4:74-87,178-191"

_TCPX_ENV = {
    "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_ALGO": "Ring",
    "NCCL_PROTO": "Simple",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_P2P_PXN_LEVEL": "0",
    "NCCL_MAX_NCHANNELS": "8",
    "NCCL_MIN_NCHANNELS": "8",
    "NCCL_NSOCKS_PERTHREAD": "4",
    "NCCL_SOCKET_NTHREADS": "1",
    "NCCL_DYNAMIC_CHUNK_SIZE": "524288",
    "NCCL_P2P_NET_CHUNKSIZE": "524288",
    "NCCL_P2P_PCI_CHUNKSIZE": "524288",
    "NCCL_P2P_NVL_CHUNKSIZE": "1048576",
    "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME": "eth1,eth2,eth3,eth4",
    "NCCL_GPUDIRECTTCPX_CTRL_DEV": "eth0",
    "NCCL_GPUDIRECTTCPX_TX_BINDINGS": _CPUS_TX,
    "NCCL_GPUDIRECTTCPX_RX_BINDINGS": _CPUS_RX,
    "NCCL_GPUDIRECTTCPX_PROGRAM_FLOW_STEERING_WAIT_MICROS": "1000000",
    "NCCL_GPUDIRECTTCPX_UNIX_CLIENT_PREFIX": "/run/tcpx",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7",
}
_FASTRAK_INTERFACES = ",".join(f"eth{index}" for index in range(1, 9))
_TCPXO_ENV = {
    "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64",
    "NCCL_SOCKET_IFNAME": "eth0",
    "NCCL_FASTRAK_CTRL_DEV": "eth0",
    "NCCL_FASTRAK_IFNAME": _FASTRAK_INTERFACES,
    "NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices",
    "NCCL_FASTRAK_NUM_FLOWS": "2",
    "NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL": "0",
    "NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING": "0",
    "NCCL_FASTRAK_USE_LLCM": "1",
    "NCCL_FASTRAK_USE_SNAP": "1",
    "NCCL_CROSS_NIC": "0",
    "NCCL_NET_GDR_LEVEL": "PIX",
    "NCCL_TUNER_PLUGIN": "libnccl-tuner.so",
    "NCCL_TUNER_CONFIG_PATH": "/usr/local/nvidia/lib64/a3plus_tuner_config.textproto",
    "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE": "/usr/local/nvidia/lib64/"
    "a3plus_guest_config.textproto",
}


def _rdma_env(tuner: str) -> dict[str, str]:
    return {
        "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64:/usr/local/gib/lib64",
        "NCCL_NET": "gIB",
        "NCCL_CROSS_NIC": "0",
        "NCCL_NET_GDR_LEVEL": "PIX",
        "NCCL_P2P_NET_CHUNKSIZE": "131072",
        "NCCL_NVLS_CHUNKSIZE": "524288",
        "NCCL_IB_ADAPTIVE_ROUTING": "1",
        "NCCL_IB_QPS_PER_CONNECTION": "4",
        "NCCL_IB_TC": "52",
        "NCCL_IB_FIFO_TC": "84",
        "NCCL_TUNER_CONFIG_PATH": f"/usr/local/gib/configs/tuner_config_{tuner}.txtpb",
    }


def _interfaces(networks: list[tuple[str, str]]) -> dict[str, str]:
    """The annotations by which GKE attaches more networks than the pod's own."""
    entries = [
        {"interfaceName": name, "network": network}
        for name, network in [("eth0", "default"), *networks]
    ]
    return {
        "networking.gke.io/default-interface": "eth0",
        "networking.gke.io/interfaces": json.dumps(entries, separators=(",", ":")),
    }


def _devices_for(container: str, *more: str) -> dict[str, str]:
    """The annotation by which GKE hands the node's devices to a sidecar that asks for none."""
    nodes = [f"/dev/nvidia{index}" for index in range(DEVICES)]
    nodes += ["/dev/nvidiactl", "/dev/nvidia-uvm", *more]
    lines = "".join(f"- path: {node}\n" for node in nodes)
    return {f"devices.gke.io/container.{container}": lines}


def _host(name: str, path: str) -> dict[str, object]:
    return {"name": f"triplane-{name}", "hostPath": {"path": path}}


def _mount(name: str, path: str) -> dict[str, object]:
    return {"name": f"triplane-{name}", "mountPath": path}


def _daemon(
    name: str,
    image: str,
    command: list[str],
    capabilities: list[str],
    mounts: list[dict[str, object]],
) -> dict[str, object]:
    library_path = {"name": "LD_LIBRARY_PATH", "value": "/usr/local/nvidia/lib64"}
    return {
        "name": name,
        "image": image,
        "restartPolicy": "Always",
        "command": command,
        "env": [library_path],
        "securityContext": {"capabilities": {"add": capabilities}},
        "volumeMounts": mounts,
    }


def _tcpx() -> Addition:
    mounts = [
        _mount("libraries", "/usr/local/nvidia/lib64"),
        _mount("tcpx", "/run/tcpx"),
    ]
    daemon = _daemon(
        "tcpx-daemon",
        _TCPX_IMAGE,
        [
            "/tcpgpudmarxd/build/app/tcpgpudmarxd",
            *("--gpu_nic_preset", "a3vm"),
            *("--gpu_shmem_type", "fd"),
            *("--uds_path", "/run/tcpx"),
            *("--setup_param", "--verbose 128 2 0"),
        ],
        ["NET_ADMIN"],
        [*mounts, _mount("sys", "/hostsysfs"), _mount("proc-sys", "/hostprocsysfs")],
    )
    return Addition(
        annotations={
            **_interfaces([(f"eth{index}", f"vpc{index}") for index in range(1, 5)]),
            **_devices_for("tcpx-daemon"),
        },
        env=variables(_TCPX_ENV),
        init_containers=(daemon,),
        volumes=(
            _host("libraries", f"{_LIBRARIES}/lib64"),
            {"name": "triplane-tcpx", "emptyDir": {}},
            _host("sys", "/sys"),
            _host("proc-sys", "/proc/sys"),
        ),
        mounts=tuple(mounts),
    )


def _tcpxo() -> Addition:
    entry = "/fts/entrypoint_rxdm_container.sh"
    daemon = _daemon(
        "tcpxo-daemon",
        _TCPXO_IMAGE,
        [
            "/bin/sh",
            "-c",
            f"chmod 755 {entry} && exec {entry} --num_hops=2 --num_nics=8 --uid= --alsologtostderr",
        ],
        ["NET_ADMIN", "NET_BIND_SERVICE"],
        [
            _mount("libraries", "/usr/local/nvidia/lib64"),
            _mount("sys", "/hostsysfs"),
            _mount("proc-sys", "/hostprocsysfs"),
        ],
    )
    return Addition(
        annotations={
            **_interfaces([(f"eth{index}", f"vpc{index}") for index in range(1, 9)]),
            **_devices_for("tcpxo-daemon", "/dev/dmabuf_import_helper"),
        },
        env=variables(_TCPXO_ENV),
        init_containers=(daemon,),
        volumes=(
            _host("libraries", f"{_LIBRARIES}/lib64"),
            _host("sys", "/sys"),
            _host("proc-sys", "/proc/sys"),
            _host("aperture", "/dev/aperture_devices"),
        ),
        mounts=(
            _mount("libraries", "/usr/local/nvidia/lib64"),
            _mount("aperture", "/dev/aperture_devices"),
        ),
    )


def _rdma(tuner: str) -> Addition:
    networks = [("eth1", "gvnic-1"), *((f"eth{index + 2}", f"rdma-{index}") for index in range(8))]
    return Addition(
        annotations=_interfaces(networks),
        env=variables(_rdma_env(tuner)),
        volumes=(_host("libraries", _LIBRARIES), _host("gib", "/home/kubernetes/bin/gib")),
        mounts=(_mount("libraries", "/usr/local/nvidia"), _mount("gib", "/usr/local/gib")),
    )


GKE_FABRICS: Mapping[str, Addition] = {
    "gke-tcpx": _tcpx(),
    "gke-tcpxo": _tcpxo(),
    "gke-rdma-a3u": _rdma("a3u"),
    "gke-rdma-a4": _rdma("a4"),
}
# The machines of GKE that have a fast network are known by their accelerator.
GKE_FABRIC_OF: Mapping[str, str] = {
    "H100": "gke-tcpx",
    "H100-MEGA": "gke-tcpxo",
    "H200": "gke-rdma-a3u",
    "B200": "gke-rdma-a4",
}
