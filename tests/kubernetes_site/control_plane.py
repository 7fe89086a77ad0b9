"""etcd, the API server, the controllers, the scheduler, and kwok, which plays the nodes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from .api import Api
from .build import binary, shared
from .certificates import Authority
from .model import Folder, SiteError, free_port, listens

# A test waits for what a controller would otherwise spread over seconds.
_IN_A_HURRY = ("--kube-api-qps=500", "--kube-api-burst=1000")
_STAGES = ("node/fast/node-*.yaml", "pod/fast/pod-*.yaml", "pod/chaos/pod-*.yaml")


def program(name: str) -> Path:
    found = binary(name)
    if found is None:
        raise SiteError(f"{name} is not built (python -m tests.kubernetes_site build)")
    return found


def start(folder: Folder) -> dict[str, object]:
    """Bring the control plane up; returns what is needed to reach it."""
    ports = {name: free_port() for name in ("etcd", "peer", "api", "manager", "scheduler", "kwok")}
    authority = Authority(folder.path / "certs")
    authority.issue(
        "server",
        "kube-apiserver",
        hosts=("127.0.0.1", "localhost", "kubernetes.default.svc"),
    )
    authority.issue("admin", "admin", group="system:masters")
    authority.issue("service-accounts", "service-accounts")
    write_kubeconfig(folder, authority, ports["api"], "admin")
    start_etcd(folder, ports)
    start_api_server(folder, ports)
    config = folder.path / "admin.kubeconfig"
    folder.start(
        "controller-manager",
        program("kube-controller-manager"),
        f"--kubeconfig={config}",
        "--leader-elect=false",
        f"--service-account-private-key-file={authority.folder}/service-accounts.key",
        f"--root-ca-file={authority.certificate}",
        "--use-service-account-credentials",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports['manager']}",
        "--controllers=*",
        *_IN_A_HURRY,
    )
    folder.start(
        "scheduler",
        program("kube-scheduler"),
        f"--kubeconfig={config}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={ports['scheduler']}",
        *_IN_A_HURRY,
    )
    _start_kwok(folder, config, ports["kwok"])
    return {"ports": ports}


def api_of(folder: Folder, port: int, user: str = "admin") -> Api:
    certs = folder.path / "certs"
    return Api(port, certs / "ca.crt", certs / f"{user}.crt", certs / f"{user}.key")


def start_etcd(folder: Folder, ports: dict[str, int]) -> None:
    client, peer = (f"http://127.0.0.1:{ports[name]}" for name in ("etcd", "peer"))
    folder.start(
        "etcd",
        program("etcd"),
        f"--data-dir={folder.path}/etcd-data",
        "--unsafe-no-fsync",
        "--log-level=warn",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    )
    folder.wait("etcd", lambda: listens(ports["etcd"]), "etcd")


def start_api_server(folder: Folder, ports: dict[str, int]) -> None:
    certs = folder.path / "certs"
    folder.start(
        "apiserver",
        program("kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{ports['etcd']}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={ports['api']}",
        f"--cert-dir={certs}",
        f"--tls-cert-file={certs}/server.crt",
        f"--tls-private-key-file={certs}/server.key",
        f"--client-ca-file={certs}/ca.crt",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={certs}/service-accounts.key",
        f"--service-account-signing-key-file={certs}/service-accounts.key",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={certs}/admin.crt",
        f"--kubelet-client-key={certs}/admin.key",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged",
    )
    folder.wait("the API server", api_of(folder, ports["api"]).ready, "apiserver")


def write_kubeconfig(
    folder: Folder, authority: Authority, port: int, user: str, namespace: str = "default"
) -> Path:
    """`<user>.kubeconfig` with one context, called `site`."""
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(authority.certificate),
    }
    identity = {
        "client-certificate": str(authority.folder / f"{user}.crt"),
        "client-key": str(authority.folder / f"{user}.key"),
    }
    context = {"cluster": "site", "user": user, "namespace": namespace}
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "site",
        "clusters": [{"name": "site", "cluster": cluster}],
        "users": [{"name": user, "user": identity}],
        "contexts": [{"name": "site", "context": context}],
    }
    path = folder.path / f"{user}.kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(body, indent=1))
    return path


def _start_kwok(folder: Folder, config: Path, port: int) -> None:
    base = shared("sigs.k8s.io/kwok") / "kustomize" / "stage"
    stages = [path for pattern in _STAGES for path in sorted(base.glob(pattern))]
    if not stages:
        raise SiteError(f"no stages for kwok in {base}")
    folder.start(
        "kwok",
        program("kwok"),
        f"--kubeconfig={config}",
        "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
        "--node-ip=127.0.0.1",
        f"--server-address=127.0.0.1:{port}",
        *(f"--config={path}" for path in stages),
        environment={"HOME": os.environ.get("HOME", str(folder.path))},
    )
