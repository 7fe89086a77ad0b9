"""The real JobSet and Kueue controllers beside the control plane, outside the cluster."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

from .api import Api, Refused, documents
from .build import shared
from .control_plane import program
from .model import Folder, free_port, listens

# Where Kueue looks for a certificate that it does not use here, as its metrics are off.
_KUEUE_METRICS = Path("/etc/kueue/metrics/certs")
# Kinds of others: their requests must not fail while a controller restarts.
_FOREIGN = frozenset(("pods", "deployments", "statefulsets", "leaderworkersets"))


def start(folder: Folder, api: Api) -> None:
    """Install the definitions, start both controllers, register their webhooks."""
    for name in ("jobset", "kueue"):
        base = shared(f"sigs.k8s.io/{name}") / "config" / "components"
        api.apply(*documents(sorted((base / "crd" / "bases").glob("*.yaml"))))
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": f"{name}-system"},
        }
        api.apply(namespace)
        _await_definitions(folder, api, base / "crd" / "bases")
    ports = {"jobset": _start_jobset(folder), "kueue": _start_kueue(folder)}
    for name, port in ports.items():
        folder.wait(f"the webhook of {name}", lambda port=port: listens(port), name)
        base = shared(f"sigs.k8s.io/{name}") / "config" / "components" / "webhook"
        for hooks in documents([base / "manifests.yaml"]):
            api.apply(_on_loopback(folder, hooks, name, port))


def _await_definitions(folder: Folder, api: Api, bases: Path) -> None:
    """A controller ends at once if a kind of its own is not served yet."""
    wanted = set()
    for body in documents(sorted(bases.glob("*.yaml"))):
        spec = body["spec"]
        served = [item["name"] for item in spec["versions"] if item["served"]]
        wanted.update((f"{spec['group']}/{name}", spec["names"]["plural"]) for name in served)

    def all_served() -> bool:
        for version in sorted({version for version, _ in wanted}):
            try:
                listed = api.call("GET", f"/apis/{version}")["resources"]
            except Refused:
                return False
            names = {item["name"] for item in listed}
            if any(version == of and plural not in names for of, plural in wanted):
                return False
        return True

    folder.wait("the definitions", all_served, "apiserver")


def _start_jobset(folder: Folder) -> int:
    port = free_port()
    body = {
        **_common(folder, "jobset", port),
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "featureGates": {"RestartJob": True},  # a Job of a group is started again alone
    }
    _start(folder, "jobset", body)
    return port


def _start_kueue(folder: Folder) -> int:
    port = free_port()
    frameworks = ["batch/job", "jobset.x-k8s.io/jobset"]
    body = {
        **_common(folder, "kueue", port),
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "integrations": {"frameworks": frameworks},
    }
    if not (_KUEUE_METRICS / "tls.crt").exists():
        _KUEUE_METRICS.mkdir(parents=True, exist_ok=True)
        _copy_certificate(folder, _KUEUE_METRICS)
    _start(folder, "kueue", body, "--feature-gates=VisibilityOnDemand=false")
    return port


def _common(folder: Folder, name: str, port: int) -> dict:
    certificates = folder.path / "webhooks" / name
    certificates.mkdir(parents=True, exist_ok=True)
    _copy_certificate(folder, certificates)
    return {
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{free_port()}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"port": port, "host": "127.0.0.1", "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }


def _copy_certificate(folder: Folder, target: Path) -> None:
    for end in ("crt", "key"):
        shutil.copyfile(folder.path / "certs" / f"server.{end}", target / f"tls.{end}")


def _start(folder: Folder, name: str, body: dict, *flags: str) -> None:
    config = folder.path / f"{name}.json"
    config.write_text(json.dumps(body))
    environment = {"KUBECONFIG": str(folder.path / "admin.kubeconfig")}
    folder.start(name, program(name), "--config", config, *flags, environment=environment)


def _on_loopback(folder: Folder, hooks: dict, name: str, port: int) -> dict:
    """A webhook configuration with the service replaced by a URL."""
    bundle = base64.b64encode((folder.path / "certs" / "ca.crt").read_bytes()).decode()
    for hook in hooks["webhooks"]:
        path = hook["clientConfig"]["service"]["path"]
        hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}
        if any(_FOREIGN.intersection(rule["resources"]) for rule in hook["rules"]):
            hook["failurePolicy"] = "Ignore"
    hooks["metadata"] = {"name": f"{name}-{hooks['metadata']['name']}"}
    return hooks
