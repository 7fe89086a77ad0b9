"""Objects of a run on their way to the server: as they are sent, and whose they are."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from compiler.diagnostics import WorkFailed
from compiler.diagnostics.codes.kubernetes_deploy import OWNED
from compiler.model import names
from compiler.planning.records import Record
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Progress, Step
from compiler.targets.kubernetes.deployer import owned
from compiler.targets.kubernetes.deployer.client import APPLY, MANAGER
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.workloads import is_workload
from compiler.targets.kubernetes.metadata import MANAGED_BY, SET_LABEL, WORK_LABEL

Body = dict[str, Any]


def bodies(cluster: Cluster, artifacts: Iterable[Artifact]) -> list[tuple[Ref, Body]]:
    """The objects as they are sent: with their namespace, and marked as members of the set."""
    found = []
    for artifact in artifacts:
        body = yaml.load(artifact.text, Loader=_Loader)
        ref = Ref.of(body, cluster.home, artifact.path)
        meta = body["metadata"]
        meta["namespace"] = ref.namespace
        meta["labels"] = {**(meta.get("labels") or {}), owned.PART_OF: cluster.inventory.id}
        found.append((ref, body))
    return found


def send(cluster: Cluster, ref: Ref, body: Body, *, dry: bool = False, force: bool = False):
    """Apply one object; the answer is the object as it then is (or would be)."""
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    if dry:
        query["dryRun"] = "All"
    if force:
        query["force"] = "true"
    return cluster.client.call("PATCH", cluster.kinds.path(ref), body, APPLY, **query)


def require_ours(cluster: Cluster, ref: Ref) -> Body | None:
    """The live object, None for none. Raise WorkFailed if it is somebody else's."""
    there = cluster.client.find(cluster.kinds.path(ref))
    if there is None:
        return None
    labels = there["metadata"].get("labels") or {}
    if labels.get(owned.PART_OF) == cluster.inventory.id:
        return there
    owner = labels.get(SET_LABEL) or labels.get(owned.PART_OF)
    who = f"set {owner!r}" if labels.get(SET_LABEL) else owner
    who = who or ", ".join(owned.other_managers(there)) or "somebody else"
    words = f"{ref.address} in namespace {ref.namespace} exists and belongs to {who}"
    said = OWNED.at(None, words, target=cluster.target)
    raise WorkFailed(f"{cluster.target}: {words}", diagnostics=(said,))


def hand_over(cluster: Cluster, step: Step, refs: list[Ref], progress: Progress) -> None:
    """The Secret with the values of this apply, beside the Job; outside every record."""
    if not step.secret_values:
        return
    namespace = next((ref.namespace for ref in refs if is_workload(ref)), cluster.home)
    name = secret_name(cluster, step.record)
    ref = Ref("v1", "Secret", namespace, name)
    require_ours(cluster, ref)
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {
                MANAGED_BY: "triplane",
                SET_LABEL: names.cut(cluster.set_name, 63),
                WORK_LABEL: names.cut(step.record.work, 63),
                owned.PART_OF: cluster.inventory.id,
            },
        },
        "data": _encoded(step.secret_values),
    }
    progress(f"hand over {ref.address}")
    cluster.inventory.include([*refs, ref])
    send(cluster, ref, body, force=True)


def _encoded(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: base64.b64encode(value.encode()).decode() for name, value in sorted(values.items())
    }


def secret_name(cluster: Cluster, record: Record) -> str:
    return f"{names.work_label(cluster.set_name, record.work)}-secrets"


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
