"""A few lines of HTTP to the site's API server, apart from the client that is under test."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

_APPLY = "application/apply-patch+yaml"
_KINDS = {
    "NetworkPolicy": "networkpolicies",
    "PriorityClass": "priorityclasses",
    "StorageClass": "storageclasses",
    "Ingress": "ingresses",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}
_CLUSTER_WIDE = frozenset(
    [
        "Namespace",
        "Node",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "ResourceFlavor",
        "ClusterQueue",
        "PriorityClass",
        "StorageClass",
        "PersistentVolume",
        "WorkloadPriorityClass",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]
)


class Refused(Exception):
    """The server's answer with a status from 400 on."""

    def __init__(self, status: int, body: Mapping) -> None:
        super().__init__(f"{status}: {body.get('message', body)}")
        self.status = status
        self.body = body


class Api:
    """Calls as one user of the site; a connection a call, so that it may be used anywhere."""

    def __init__(self, port: int, authority: Path, certificate: Path, key: Path) -> None:
        self.port = port
        self._context = ssl.create_default_context(cafile=authority)
        self._context.load_cert_chain(certificate, key)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        content_type: str = "application/json",
        **query: str,
    ) -> dict:
        """The JSON answer. Raise Refused, or OSError where nobody answers."""
        text = self.text(method, path, body, content_type, **query)
        return json.loads(text) if text.startswith("{") else {}

    def text(
        self,
        method: str,
        path: str,
        body: object = None,
        content_type: str = "application/json",
        **query: str,
    ) -> str:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self._context, timeout=30
        )
        try:
            connection.request(
                method,
                path + (f"?{urlencode(query)}" if query else ""),
                None if body is None else json.dumps(body, ensure_ascii=False).encode(),
                {"Content-Type": content_type, "Accept": "application/json, */*"},
            )
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
        if answer.status >= 400:
            try:
                raise Refused(answer.status, json.loads(text))
            except ValueError:
                raise Refused(answer.status, {"message": text}) from None
        return text

    def ready(self) -> bool:
        try:
            return self.text("GET", "/readyz") == "ok"
        except (OSError, Refused, http.client.HTTPException):
            return False

    def get(self, api_version: str, kind: str, name: str = "", namespace: str | None = None):
        return self.call("GET", path_of(api_version, kind, name, namespace))

    def find(self, api_version: str, kind: str, name: str, namespace: str | None = None):
        """The object, None if there is none."""
        try:
            return self.get(api_version, kind, name, namespace)
        except Refused as error:
            if error.status != 404:
                raise
            return None

    def items(self, api_version: str, kind: str, namespace: str | None = None, labels: str = ""):
        path = path_of(api_version, kind, "", namespace)
        return self.call("GET", path, **({"labelSelector": labels} if labels else {}))["items"]

    def apply(self, *objects: Mapping, manager: str = "site") -> None:
        """Server-side apply, by force."""
        for item in objects:
            meta = item["metadata"]
            path = path_of(
                item["apiVersion"], item["kind"], meta["name"], meta.get("namespace", "default")
            )
            self.call("PATCH", path, item, _APPLY, fieldManager=manager, force="true")

    def patch(self, api_version, kind, name, body, namespace="default", sub="", manager="hand"):
        """A JSON merge patch, as a person's `kubectl patch` sends it."""
        path = path_of(api_version, kind, name, namespace) + (f"/{sub}" if sub else "")
        return self.call("PATCH", path, body, "application/merge-patch+json", fieldManager=manager)

    def delete(self, api_version, kind, name, namespace="default", policy="Background"):
        body = {"propagationPolicy": policy}
        try:
            self.call("DELETE", path_of(api_version, kind, name, namespace), body)
        except Refused as error:
            if error.status != 404:
                raise

    def until(self, what: str, holds: Callable[[], object], seconds: float = 60):
        """The first true value of `holds()`; AssertionError after the time given."""
        deadline = time.monotonic() + seconds
        while not (value := holds()):
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
            time.sleep(0.2)
        return value


def path_of(api_version: str, kind: str, name: str = "", namespace: str | None = None) -> str:
    """The API's path of an object or, without a name, of a collection."""
    parts = ["apis" if "/" in api_version else "api", api_version]
    if namespace is not None and kind not in _CLUSTER_WIDE:
        parts += ["namespaces", namespace]
    parts.append(_KINDS.get(kind) or _plural(kind))
    if name:
        parts.append(quote(name))
    return "/" + "/".join(parts)


def _plural(kind: str) -> str:
    word = kind.lower()
    if word.endswith("y"):
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith("s") else f"{word}s"


def documents(paths: Iterable[Path]) -> list[dict]:
    """All YAML documents of these files."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = []
    for path in paths:
        found += [item for item in yaml.load_all(path.read_text(), Loader=loader) if item]
    return found
