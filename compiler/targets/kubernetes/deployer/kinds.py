"""From an object to its place in the API: known kinds by a table, others by asking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics import WorkFailed
from compiler.targets.kubernetes.deployer.client import Client, segment

# (apiVersion, kind) -> (resource, namespaced)
_KNOWN = {
    ("v1", "ConfigMap"): ("configmaps", True),
    ("v1", "Secret"): ("secrets", True),
    ("v1", "Service"): ("services", True),
    ("v1", "PersistentVolumeClaim"): ("persistentvolumeclaims", True),
    ("v1", "Pod"): ("pods", True),
    ("v1", "Event"): ("events", True),
    ("v1", "Node"): ("nodes", False),
    ("apps/v1", "Deployment"): ("deployments", True),
    ("autoscaling/v2", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", True),
    ("networking.k8s.io/v1", "Ingress"): ("ingresses", True),
    ("batch/v1", "Job"): ("jobs", True),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): ("jobsets", True),
    ("coordination.k8s.io/v1", "Lease"): ("leases", True),
}


@dataclass(frozen=True, slots=True)
class Ref:
    """An object's address. `path` is the artifact that it was made of, if any."""

    api_version: str
    kind: str
    namespace: str
    name: str
    path: str = ""

    @property
    def group_kind(self) -> str:
        """`Job.batch`, as ApplySets name kinds."""
        group = self.api_version.rpartition("/")[0]
        return f"{self.kind}.{group}" if group else self.kind

    @property
    def address(self) -> str:
        return f"{self.kind}/{self.name}"

    @classmethod
    def of(cls, body: Mapping[str, Any], namespace: str, path: str = "") -> Ref:
        meta = body["metadata"]
        return cls(
            str(body["apiVersion"]),
            str(body["kind"]),
            str(meta.get("namespace") or namespace),
            str(meta["name"]),
            path,
        )


class Kinds:
    """Paths of the API for one server; what is not known is asked once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked: dict[str, dict[str, tuple[str, bool]]] = {}

    def path(self, ref: Ref) -> str:
        return f"{self.collection(ref.api_version, ref.kind, ref.namespace)}/{segment(ref.name)}"

    def collection(self, api_version: str, kind: str, namespace: str | None) -> str:
        """The path of all objects of a kind, of all namespaces for None."""
        resource, namespaced = self._resource(api_version, kind)
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        if namespaced and namespace is not None:
            root += f"/namespaces/{segment(namespace)}"
        return f"{root}/{resource}"

    def _resource(self, api_version: str, kind: str) -> tuple[str, bool]:
        known = _KNOWN.get((api_version, kind))
        if known is not None:
            return known
        served = self._served(api_version)
        if kind not in served:
            raise WorkFailed(
                f"{self._client.target}: the cluster does not serve {kind} of {api_version}; "
                "what brings it (an operator, its CRDs) is not installed"
            )
        return served[kind]

    def _served(self, api_version: str) -> dict[str, tuple[str, bool]]:
        if api_version not in self._asked:
            root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            answer = self._client.find(root) or {}
            self._asked[api_version] = {
                item["kind"]: (item["name"], bool(item["namespaced"]))
                for item in answer.get("resources") or ()
                if "/" not in item["name"]
            }
        return self._asked[api_version]
