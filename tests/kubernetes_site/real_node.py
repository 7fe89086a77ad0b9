"""One real node: containerd, kubelet and CoreDNS, so that pods in chosen namespaces really run.

Pods of a namespace with the label `tests.triplane.dev/real: "true"` are sent there whatever they
select and ask for, as this machine has neither accelerators nor many CPUs; images other than
`localhost/...` become one that is made of this machine's files.
"""

from __future__ import annotations

import ipaddress
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import cgroups, image
from .api import Api
from .control_plane import program
from .model import Folder, SiteError, free_port

NODE = "real-0"
REAL = "tests.triplane.dev/real"
SHELL_IMAGE = "localhost/shell:1"
_PAUSE = "localhost/pause:1"


def start(folder: Folder, api: Api) -> dict[str, str]:
    """Bring the node up; returns its bridge, which `stop` removes."""
    home = folder.path / "node"
    (home / "cni").mkdir(parents=True, exist_ok=True)
    network = _free_network()
    gateway = str(next(network.hosts()))
    bridge = f"tp{network.network_address.packed[1]:02x}{network.network_address.packed[2]:02x}"
    _ip("link", "add", bridge, "type", "bridge")
    _ip("addr", "add", f"{gateway}/24", "dev", bridge)
    _ip("link", "set", bridge, "up")
    _start_containerd(folder, home, bridge, network)
    _import_images(home)
    _start_dns(folder, home, gateway)
    api.apply(*_sending_rules())
    cgroups.create(bridge)
    _start_kubelet(folder, home, gateway, group=bridge)
    folder.wait("the real node", lambda: _is_ready(api), "kubelet")
    return {"bridge": bridge, "gateway": gateway}


def stop(folder: Folder, bridge: str) -> None:
    """End the node with everything that runs on it."""
    home = folder.path / "node"
    folder.stop(["kubelet"])
    cgroups.kill(bridge)
    if folder.running("containerd"):
        for task in _ctr(home, "containers", "ls", "-q").split():
            _ctr(home, "tasks", "rm", "--force", task)
            _ctr(home, "containers", "rm", task)
    folder.stop(["containerd", "coredns"])
    _unmount(folder.path)
    for state in sorted((home / "cni-state").glob("*/*")):
        _remove_namespace(state)
    subprocess.run(["ip", "link", "del", bridge], capture_output=True)
    cgroups.remove(bridge)


def _start_containerd(folder: Folder, home: Path, bridge: str, network) -> None:
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    (home / "containerd.toml").write_text(
        f'version = 2\nroot = "{home}/containerd"\nstate = "{home}/containerd-state"\n'
        f'[grpc]\n  address = "{home}/containerd.sock"\n'
        f'[{cri}]\n  sandbox_image = "{_PAUSE}"\n  restrict_oom_score_adj = true\n'
        f'[{cri}.cni]\n  bin_dir = "/usr/lib/cni"\n  conf_dir = "{home}/cni"\n'
        f'[{cri}.containerd]\n  snapshotter = "overlayfs"\n'
    )
    plugin = {
        "type": "bridge",
        "bridge": bridge,
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {
            "type": "host-local",
            "dataDir": str(home / "cni-state"),
            "ranges": [[{"subnet": str(network)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    body = {"cniVersion": "0.4.0", "name": "site", "plugins": [plugin]}
    (home / "cni" / "10-site.conflist").write_text(json.dumps(body))
    folder.start("containerd", "containerd", "-c", home / "containerd.toml")
    folder.wait("containerd", lambda: bool(_ctr(home, "version")), "containerd")


def _import_images(home: Path) -> None:
    for name, tags, entrypoint in (
        ("pause", (_PAUSE,), ("/bin/sleep", "infinity")),
        ("shell", (SHELL_IMAGE,), ()),
    ):
        archive = home / f"{name}.tar"
        image.write(archive, tags, entrypoint)
        if not _ctr(home, "images", "import", str(archive)):
            raise SiteError(f"containerd does not take the image {name}")
        archive.unlink()


def _start_dns(folder: Folder, home: Path, gateway: str) -> None:
    config = folder.path / "admin.kubeconfig"
    zones = "cluster.local in-addr.arpa ip6.arpa"  # as kubeadm has it: addresses have names, too
    served = " ".join(f"{zone}:53" for zone in zones.split())
    (home / "Corefile").write_text(
        f"{served} {{\n  bind {gateway}\n  errors\n"
        f"  kubernetes {zones} {{\n    kubeconfig {config}\n    ttl 2\n  }}\n}}\n"
    )
    folder.start("coredns", program("coredns"), "-conf", home / "Corefile")


def _start_kubelet(folder: Folder, home: Path, gateway: str, group: str) -> None:
    body = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": gateway,
        "port": free_port(),
        "healthzPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": str(folder.path / "certs" / "ca.crt")},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{group}",
        # a kubelet removes the logs of pods that it does not know, another site's among them
        "podLogsDir": str(home / "logs"),
        "failSwapOn": False,
        "failCgroupV1": False,
        "oomScoreAdj": 0,  # a container may not be allowed to lower it
        "clusterDNS": [gateway],
        "clusterDomain": "cluster.local",
        "containerRuntimeEndpoint": f"unix://{home}/containerd.sock",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "0%",
            "imagefs.available": "0%",
            "nodefs.inodesFree": "0%",
        },
        "registerWithTaints": [{"key": "pool", "value": "real", "effect": "NoSchedule"}],
        "syncFrequency": "2s",
        "nodeStatusUpdateFrequency": "2s",
    }
    (home / "kubelet.json").write_text(json.dumps(body))
    folder.start(
        "kubelet",
        program("kubelet"),
        f"--config={home}/kubelet.json",
        f"--kubeconfig={folder.path}/admin.kubeconfig",
        f"--root-dir={home}/kubelet",
        f"--hostname-override={NODE}",
        f"--node-ip={gateway}",
        "--node-labels=pool=real",
    )


def _sending_rules() -> tuple[dict, dict]:
    """A policy that sends the pods of marked namespaces to the real node, small."""
    version = "admissionregistration.k8s.io/v1"
    patches = (
        "["
        'JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"pool": "real"}}, '
        # a list as a value makes this version of the server panic
        'JSONPatch{op: "add", path: "/spec/tolerations/-", '
        'value: Object.spec.tolerations{key: "pool", operator: "Exists"}}, '
        'JSONPatch{op: "add", path: "/spec/affinity", value: Object.spec.affinity{}}, '
        'JSONPatch{op: "replace", path: "/spec/containers/0/image", '
        'value: object.spec.containers[0].image.startsWith("localhost/") '
        f'? object.spec.containers[0].image : "{SHELL_IMAGE}"}}, '
        'JSONPatch{op: "add", path: "/spec/containers/0/resources", '
        'value: Object.spec.containers.resources{requests: {"cpu": "30m", "memory": "16Mi"}}}'
        "] + (has(object.spec.initContainers) && "
        'object.spec.initContainers[0].name == "triplane-hosts" ? ['
        'JSONPatch{op: "replace", path: "/spec/initContainers/0/image", '
        f'value: "{SHELL_IMAGE}"}}, '
        'JSONPatch{op: "add", path: "/spec/initContainers/0/resources", '
        'value: Object.spec.initContainers.resources{requests: {"cpu": "30m"}}}'
        "] : [])"
    )
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    policy = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "real-node"},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {
                "resourceRules": [rule],
                "namespaceSelector": {"matchLabels": {REAL: "true"}},
            },
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patches}}],
        },
    }
    binding = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": "real-node"},
        "spec": {"policyName": "real-node"},
    }
    return policy, binding


def _is_ready(api: Api) -> bool:
    node = api.find("v1", "Node", NODE)
    conditions = node["status"].get("conditions", []) if node else []
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def _free_network() -> ipaddress.IPv4Network:
    """A /24 that no interface of this machine is in."""
    shown = json.loads(_ip("-j", "addr"))
    taken = [
        ipaddress.ip_address(item["local"])
        for link in shown
        for item in link.get("addr_info", ())
        if item["family"] == "inet"
    ]
    for third in range(256):
        network = ipaddress.ip_network(f"10.211.{third}.0/24")
        if not any(address in network for address in taken):
            return network
    raise SiteError("no free network 10.211.x.0/24")


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise SiteError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def _ctr(home: Path, *words: str) -> str:
    command: Sequence[str] = ("ctr", "-a", f"{home}/containerd.sock", "-n", "k8s.io", *words)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""


def _unmount(below: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for place in sorted((item for item in mounts if item.startswith(f"{below}/")), reverse=True):
        subprocess.run(["umount", "-l", place], capture_output=True)


def _remove_namespace(state: Path) -> None:
    """The network namespace of a pod's address that is still handed out."""
    if not state.is_file() or not state.name[0].isdigit():
        return
    owner = state.read_text().split()[0] if state.read_text().split() else ""
    for place in Path("/var/run/netns").glob("cni-*") if owner else ():
        shown = subprocess.run(
            ["ip", "netns", "exec", place.name, "ip", "-j", "addr"], capture_output=True, text=True
        )
        if state.name in shown.stdout:
            subprocess.run(["ip", "netns", "del", place.name], capture_output=True)
