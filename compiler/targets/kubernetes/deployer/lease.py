"""The lock of a set: a Lease that one apply creates and removes."""

from __future__ import annotations

from typing import Any

from compiler.diagnostics import LockHeld
from compiler.model import names
from compiler.targets.kubernetes.deployer.client import Client
from compiler.targets.kubernetes.deployer.kinds import Kinds, Ref
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.metadata import DOMAIN, MANAGED_BY, SET_LABEL

_VERSION = "coordination.k8s.io/v1"
# The holder identity of a Lease is short; the whole of ours stands in an annotation.
_HOLDER = f"{DOMAIN}/holder"
_LIMIT = 128


class Lock:
    def __init__(self, client: Client, kinds: Kinds, set_name: str, namespace: str) -> None:
        self._client, self._kinds, self._set = client, kinds, set_name
        self._ref = Ref(_VERSION, "Lease", namespace, f"triplane-{names.dns_label(set_name)}")
        self._uid: str | None = None

    def take(self, holder: str) -> None:
        """Raise LockHeld, which names the holder, if another has it."""
        path = self._kinds.collection(_VERSION, "Lease", self._ref.namespace)
        try:
            made = self._client.call("POST", path, self._body(holder))
        except ApiRefused as error:
            if error.status != 409:
                raise
            there = self._client.find(self._kinds.path(self._ref))
            if there is None:  # given back in this very moment
                made = self._client.call("POST", path, self._body(holder))
            elif _holder(there) == holder.strip():
                made = there
            else:
                raise LockHeld(
                    f"{self._client.target}: set {self._set!r} is locked by {_holder(there)}; "
                    "if that apply is gone: triplane unlock"
                ) from None
        self._uid = made["metadata"]["uid"]

    def give_back(self) -> None:
        """Remove the lock that was taken; another's stays."""
        if self._uid is None:
            return
        uid, self._uid = self._uid, None
        try:
            body = {"preconditions": {"uid": uid}}
            self._client.call("DELETE", self._kinds.path(self._ref), body)
        except ApiRefused as error:
            if error.status not in (404, 409):
                raise

    def break_(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        there = self._client.find(self._kinds.path(self._ref))
        if there is None:
            return None
        self._client.call("DELETE", self._kinds.path(self._ref))
        return _holder(there)

    def _body(self, holder: str) -> dict[str, Any]:
        return {
            "apiVersion": _VERSION,
            "kind": "Lease",
            "metadata": {
                "name": self._ref.name,
                "namespace": self._ref.namespace,
                "labels": {MANAGED_BY: "triplane", SET_LABEL: names.cut(self._set, 63)},
                "annotations": {_HOLDER: holder.strip()},
            },
            "spec": {"holderIdentity": holder.strip()[:_LIMIT]},
        }


def _holder(lease: dict[str, Any]) -> str:
    annotations = lease["metadata"].get("annotations") or {}
    return annotations.get(_HOLDER) or lease.get("spec", {}).get("holderIdentity") or "somebody"
