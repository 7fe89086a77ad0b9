"""The inventory of a set, in the labels and annotations of Kubernetes' ApplySet format."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

from compiler import __version__
from compiler.diagnostics import WorkFailed
from compiler.model import names
from compiler.targets.kubernetes.deployer.client import APPLY, MANAGER, Client
from compiler.targets.kubernetes.deployer.kinds import Kinds, Ref
from compiler.targets.kubernetes.metadata import MANAGED_BY, SET_LABEL

_DOMAIN = "applyset.kubernetes.io"
_ID = f"{_DOMAIN}/id"
_TOOLING = f"{_DOMAIN}/tooling"
_KINDS = f"{_DOMAIN}/contains-group-kinds"
_NAMESPACES = f"{_DOMAIN}/additional-namespaces"


class ApplySet:
    """The parent object of a set: a ConfigMap in the target's own namespace."""

    def __init__(self, client: Client, kinds: Kinds, set_name: str, namespace: str) -> None:
        self._client, self._kinds = client, kinds
        self._set = set_name
        # what the parent is known to name; only whoever has the set's lock includes anything
        self._named: set[tuple[str, str]] = set()
        self._ref = Ref("v1", "ConfigMap", namespace, f"triplane-{names.dns_label(set_name)}")

    @property
    def id(self) -> str:
        """What members carry as `applyset.kubernetes.io/part-of`."""
        text = f"{self._ref.name}.{self._ref.namespace}.{self._ref.kind}."
        hashed = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
        return f"applyset-{hashed.decode().rstrip('=')}-v1"

    def include(self, objects: Iterable[Ref]) -> None:
        """See to it that the parent names the kinds and namespaces of these objects.

        Raise WorkFailed if the parent is another tool's.
        """
        objects = tuple(objects)
        named = {(item.group_kind, item.namespace) for item in objects}
        if named <= self._named:
            return
        path = self._kinds.path(self._ref)
        there = self._client.find(path)
        annotations = (there or {}).get("metadata", {}).get("annotations") or {}
        tooling = annotations.get(_TOOLING, "triplane/")
        if there is not None and not tooling.startswith("triplane/"):
            raise WorkFailed(
                f"{self._client.target}: ConfigMap/{self._ref.name} in namespace "
                f"{self._ref.namespace} is the ApplySet of {tooling}"
            )
        kinds = _listed(annotations.get(_KINDS)) | {item.group_kind for item in objects}
        spaces = _listed(annotations.get(_NAMESPACES)) | {item.namespace for item in objects}
        spaces.discard(self._ref.namespace)
        wanted = {
            _TOOLING: f"triplane/v{__version__}",
            _KINDS: ",".join(sorted(kinds)),
            _NAMESPACES: ",".join(sorted(spaces)),
        }
        if there is not None and all(annotations.get(key, "") == wanted[key] for key in wanted):
            self._named |= named
            return
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": self._ref.name,
                "namespace": self._ref.namespace,
                "labels": {
                    MANAGED_BY: "triplane",
                    SET_LABEL: names.cut(self._set, 63),
                    _ID: self.id,
                },
                "annotations": wanted,
            },
        }
        self._client.call("PATCH", path, body, APPLY, fieldManager=MANAGER)
        self._named |= named


def _listed(text: str | None) -> set[str]:
    return {item for item in (text or "").split(",") if item}
