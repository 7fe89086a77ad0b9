"""The manifests of golden cases, brought to the real API server as they are but for a namespace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.golden_harness import expanded
from tests.kubernetes_site import Api, path_of

GOLDEN = Path(__file__).parents[1] / "golden"
# Kinds whose definitions are not installed here; docs/testing.md says what checks them.
NOT_SERVED = frozenset(("ExternalSecret", "PodGroup", "PodMonitor", "Workload"))
# Jobs with fields that the running version has no longer, or not yet.
OF_OTHER_VERSIONS = frozenset(("kubernetes-gangs/core-35", "kubernetes-gangs/core-37"))
WORKLOADS = ("job.yaml", "jobset.yaml", "deployment.yaml", "claim.yaml", "volume.yaml")


@dataclass(frozen=True)
class Rendered:
    """One job of a golden case: the folder with its manifests."""

    case: str
    folder: Path

    @property
    def id(self) -> str:
        return f"{self.case}/{self.folder.parent.name}/{self.folder.name}"

    def objects(self, namespace: str) -> list[dict]:
        """The objects, those that others need first."""
        found = []
        for path in sorted(self.folder.glob("*.yaml")):
            text = expanded(path.read_text(encoding="utf-8"))
            body = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            body["metadata"]["namespace"] = namespace
            if body["kind"] not in NOT_SERVED:
                found.append(body)
        return sorted(found, key=lambda body: body["kind"] in ("Job", "JobSet", "Deployment"))


def all_rendered() -> list[Rendered]:
    return list(_find())


def rendered(place: str) -> Rendered:
    """`<case>/<target>/<job>`."""
    case, target, job = place.split("/")
    folder = GOLDEN / case / "expected" / "kubernetes" / target / job
    assert folder.is_dir(), f"no golden {place}"
    return Rendered(case, folder)


def send(api: Api, body: dict, *, dry: bool = False) -> dict:
    """Server-side apply with strict field validation."""
    meta = body["metadata"]
    path = path_of(body["apiVersion"], body["kind"], meta["name"], meta["namespace"])
    query = {"fieldManager": "golden", "fieldValidation": "Strict"}
    if dry:
        query["dryRun"] = "All"
    return api.call("PATCH", path, body, "application/apply-patch+yaml", **query)


def secrets_of(job: dict) -> dict[str, dict[str, str]]:
    """The Secrets that a Job expects to be there, with values for all their keys."""
    spec = job["spec"]["template"]["spec"]
    wanted: dict[str, dict[str, str]] = {}
    for item in spec["containers"][0].get("env", ()):
        if ref := item.get("valueFrom", {}).get("secretKeyRef"):
            wanted.setdefault(ref["name"], {})[ref["key"]] = f"value of {ref['key']}"
    for volume in spec.get("volumes", ()):
        for item in volume.get("secret", {}).get("items", ()):
            keys = wanted.setdefault(volume["secret"]["secretName"], {})
            keys[item["key"]] = f"value of {item['key']}"
    return wanted


def prepare(api: Api, namespace: str, job: dict) -> None:
    """Make what a Job expects to be there: secrets, a service account, a priority class."""
    spec = job["spec"]["template"]["spec"]
    for name, data in secrets_of(job).items():
        meta = {"name": name, "namespace": namespace}
        api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": data})
    if name := spec.get("serviceAccountName"):
        meta = {"name": name, "namespace": namespace}
        api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    if name := spec.get("priorityClassName"):
        body = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 7}
        api.apply({**body, "metadata": {"name": name}})


def _find() -> Iterator[Rendered]:
    for case in sorted(GOLDEN.iterdir()):
        for folder in sorted((case / "expected" / "kubernetes").glob("*/*/")):
            there = any((folder / name).exists() for name in WORKLOADS)
            if there and f"{case.name}/{folder.parent.name}" not in OF_OTHER_VERSIONS:
                yield Rendered(case.name, folder)
