"""Where a cluster is and who we are there: kubeconfig files, exec plugins, service accounts."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from compiler.diagnostics import TargetUnreachable

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
# Members that name files, relative to the kubeconfig that they stand in.
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_EXEC_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Access:
    """One context: its namespace, the `cluster` and `user` sections, files made absolute."""

    context: str
    namespace: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]


def access(target: str, context: str, *, named: bool) -> Access:
    """The access to a context; inside a pod the pod's own where no kubeconfig has it.

    `named` says that the stack names the context; otherwise it is a target's key, and without
    a context of that name the current one is used where there is only one cluster.
    """
    merged = _merged(target)
    contexts = _by_name(merged, "contexts", "context")
    if context in contexts:
        return _of(target, context, contexts[context], merged)
    if not contexts and _in_cluster():
        return _of_pod(context)
    current = merged.get("current-context")
    if not named and len(contexts) == 1 and current in contexts:
        return _of(target, str(current), contexts[str(current)], merged)
    known = ", ".join(sorted(contexts)) or "none"
    raise TargetUnreachable(
        target, f"the kubeconfig has no context {context!r} (known: {known}); set `context:`"
    )


def credentials(target: str, user: Mapping[str, Any]) -> dict[str, Any]:
    """The `user` section with what its exec plugin says laid over it."""
    plugin = user.get("exec")
    if not isinstance(plugin, Mapping):
        return dict(user)
    status = _run_plugin(target, plugin)
    result = {key: value for key, value in user.items() if key != "exec"}
    if status.get("token"):
        result["token"] = str(status["token"])
    if status.get("clientCertificateData"):
        result["certificate-text"] = str(status["clientCertificateData"])
        result["key-text"] = str(status.get("clientKeyData", ""))
    return result


def _run_plugin(target: str, plugin: Mapping[str, Any]) -> Mapping[str, Any]:
    version = str(plugin.get("apiVersion", "client.authentication.k8s.io/v1"))
    info = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
    environment = {**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(info)}
    for item in plugin.get("env") or ():
        environment[str(item["name"])] = str(item["value"])
    command = [str(plugin.get("command")), *map(str, plugin.get("args") or ())]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_EXEC_SECONDS,
        )
    except FileNotFoundError:
        hint = plugin.get("installHint")
        words = f"{command[0]} is not installed" + (f": {hint}" if hint else "")
        raise TargetUnreachable(target, words) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetUnreachable(target, f"{command[0]}: {error}") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise TargetUnreachable(target, f"{command[0]} gives no credentials: {said[0]}")
    try:
        return json.loads(done.stdout)["status"]
    except (ValueError, KeyError, TypeError):
        raise TargetUnreachable(target, f"{command[0]} printed no ExecCredential") from None


def _merged(target: str) -> dict[str, Any]:
    """All files of $KUBECONFIG as one; of two entries of a name the first counts."""
    given = os.environ.get("KUBECONFIG")
    paths = [Path(item) for item in (given or "").split(os.pathsep) if item]
    if not paths:
        paths = [Path("~/.kube/config").expanduser()]
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            body = yaml.safe_load(path.read_text())
        except FileNotFoundError:
            continue
        except (OSError, yaml.YAMLError) as error:
            raise TargetUnreachable(target, f"cannot read {path}: {error}") from None
        if not isinstance(body, dict):
            continue
        if body.get("current-context"):
            merged.setdefault("current-context", body["current-context"])
        for list_name, member in (("clusters", "cluster"), ("users", "user")):
            for entry in _by_name(body, list_name, member).values():
                for key in _FILES:
                    if entry.get(key):
                        entry[key] = str(path.parent.absolute() / str(entry[key]))
        for list_name in ("clusters", "users", "contexts"):
            merged.setdefault(list_name, []).extend(body.get(list_name) or ())
    return merged


def _by_name(body: Mapping[str, Any], list_name: str, member: str) -> dict[str, dict]:
    found: dict[str, dict] = {}
    for item in body.get(list_name) or ():
        if isinstance(item, dict) and isinstance(item.get(member), dict):
            found.setdefault(str(item.get("name")), item[member])
    return found


def _of(target: str, name: str, context: Mapping[str, Any], merged: Mapping[str, Any]) -> Access:
    clusters = _by_name(merged, "clusters", "cluster")
    users = _by_name(merged, "users", "user")
    cluster = clusters.get(str(context.get("cluster")))
    if cluster is None or not cluster.get("server"):
        raise TargetUnreachable(target, f"context {name!r} names no cluster of the kubeconfig")
    user = users.get(str(context.get("user")), {})
    return Access(name, str(context.get("namespace") or "default"), cluster, user)


def _in_cluster() -> bool:
    return "KUBERNETES_SERVICE_HOST" in os.environ and (SERVICE_ACCOUNT / "token").exists()


def _of_pod(context: str) -> Access:
    host = os.environ["KUBERNETES_SERVICE_HOST"]
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    shown = f"[{host}]" if ":" in host else host
    return Access(
        context,
        (SERVICE_ACCOUNT / "namespace").read_text().strip() or "default",
        {
            "server": f"https://{shown}:{port}",
            "certificate-authority": str(SERVICE_ACCOUNT / "ca.crt"),
        },
        {"tokenFile": str(SERVICE_ACCOUNT / "token")},
    )
