"""Records of runs in ConfigMaps, one a run; they outlive the objects of the run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.model import names
from compiler.planning.records import Record
from compiler.targets.kubernetes.deployer.client import MERGE, Client
from compiler.targets.kubernetes.deployer.kinds import Kinds, Ref
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.metadata import DOMAIN, MANAGED_BY, SET_LABEL

RECORD_LABEL = f"{DOMAIN}/record"
_LABEL_LIMIT = 63
_RECORD, _OBJECTS = "record.json", "objects.json"


@dataclass(frozen=True, slots=True)
class Stored:
    """A record as it was read: `version` is the ConfigMap's, `objects` what the run consists of."""

    name: str
    version: str
    record: Record
    objects: tuple[Ref, ...]


class Records:
    """The records of one set on one target, in the target's own namespace."""

    def __init__(self, client: Client, kinds: Kinds, set_name: str, namespace: str) -> None:
        self._client, self._kinds = client, kinds
        self.set_name, self.namespace = set_name, namespace

    def all(self) -> list[Stored]:
        """Every record, in the order (work, run). Raise WorkFailed for one that is damaged."""
        path = self._kinds.collection("v1", "ConfigMap", self.namespace)
        selector = f"{RECORD_LABEL},{SET_LABEL}={names.cut(self.set_name, _LABEL_LIMIT)}"
        found = [self._read(item) for item in self._client.items(path, labelSelector=selector)]
        ours = [
            item
            for item in found
            if item.record.set == self.set_name and item.record.target == self._client.target
        ]
        return sorted(ours, key=lambda item: (item.record.work, item.record.run))

    def find(self, work: str, run: int) -> Stored | None:
        body = self._client.find(self._path(self._name(work, run)))
        return None if body is None else self._read(body)

    def create(self, record: Record, objects: Iterable[Ref]) -> Stored | None:
        """Reserve the run's number; None if it is taken."""
        name = self._name(record.work, record.run)
        labels = {
            MANAGED_BY: "triplane",
            SET_LABEL: names.cut(self.set_name, _LABEL_LIMIT),
            RECORD_LABEL: "run",
        }
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
            "data": _data(record, objects),
        }
        try:
            path = self._kinds.collection("v1", "ConfigMap", self.namespace)
            return self._read(self._client.call("POST", path, body, fieldManager="triplane"))
        except ApiRefused as error:
            if error.status == 409 and error.reason == "AlreadyExists":
                return None
            raise

    def write(self, stored: Stored, record: Record, objects: Iterable[Ref] | None = None) -> Stored:
        """Replace what was read; PlanOutdated if it is another by now."""
        kept = stored.objects if objects is None else tuple(objects)
        body = {
            "metadata": {"resourceVersion": stored.version},
            "data": _data(record, kept),
        }
        try:
            answer = self._client.call("PATCH", self._path(stored.name), body, MERGE)
        except ApiRefused as error:
            if error.status in (404, 409):
                raise PlanOutdated(
                    [f"{self._client.target}: the record of {record.run_key} was changed"]
                ) from None
            raise
        return self._read(answer)

    def _path(self, name: str) -> str:
        return self._kinds.path(Ref("v1", "ConfigMap", self.namespace, name))

    def _name(self, work: str, run: int) -> str:
        return f"triplane-{names.run_label(self.set_name, work, run)}"

    def _read(self, body: Mapping[str, Any]) -> Stored:
        meta, data = body["metadata"], body.get("data") or {}
        try:
            record = Record.from_json(data.get(_RECORD, ""))
            objects = tuple(Ref(**item) for item in json.loads(data.get(_OBJECTS, "[]")))
        except (ValueError, TypeError) as error:
            raise WorkFailed(
                f"{self._client.target}: the record ConfigMap/{meta['name']} in namespace "
                f"{self.namespace} cannot be read: {error}"
            ) from None
        return Stored(meta["name"], meta["resourceVersion"], record, objects)


def _data(record: Record, objects: Iterable[Ref]) -> dict[str, str]:
    listed = [dataclasses.asdict(item) for item in objects]
    return {
        _RECORD: record.to_json(),
        _OBJECTS: json.dumps(listed, sort_keys=True, indent=1) + "\n",
    }
