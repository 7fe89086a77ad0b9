"""One set on one cluster: everything that the parts of the deployer share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from compiler.model import Stack, TargetSpec, names
from compiler.model.config import scoped
from compiler.targets.kubernetes.deployer.applyset import ApplySet
from compiler.targets.kubernetes.deployer.client import Client
from compiler.targets.kubernetes.deployer.kinds import Kinds, Ref
from compiler.targets.kubernetes.deployer.lease import Lock
from compiler.targets.kubernetes.deployer.records import Records
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.metadata import SET_LABEL

_KUEUE_VERSIONS = ("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
_LABEL_LIMIT = 63
_AT_ONCE = 6  # requests; the client holds eight connections

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Cluster:
    """`home` is the namespace of records, lock and inventory, and of objects that name none."""

    def __init__(self, stack: Stack, target: TargetSpec) -> None:
        context = target.options.get("context")
        self.target = target.key
        self.set_name = stack.set_name
        self.client = Client(target.key, str(context or target.key), named=context is not None)
        self.kinds = Kinds(self.client)
        configured = target.options.get("namespace") or scoped(
            stack.config, target.kind, str(context or target.key), stack.workspace, {}, "namespace"
        )
        self._configured = str(configured) if configured else None
        self._parts: tuple[Records, ApplySet, Lock] | None = None

    def together(self, ask: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """`ask` of every item, several at a time; answers in order. The first error is raised
        once all have answered."""
        items = tuple(items)
        if len(items) < 2:
            return [ask(item) for item in items]
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            begun = [pool.submit(ask, item) for item in items]
        return [item.result() for item in begun]

    @property
    def home(self) -> str:
        return self._configured or self.client.access.namespace

    @property
    def records(self) -> Records:
        return self._of_set()[0]

    @property
    def inventory(self) -> ApplySet:
        return self._of_set()[1]

    @property
    def lock(self) -> Lock:
        return self._of_set()[2]

    @property
    def selector(self) -> str:
        """The label by which objects of the set are found."""
        return f"{SET_LABEL}={names.cut(self.set_name, _LABEL_LIMIT)}"

    def listed(self, api_version: str, kind: str, namespace: str) -> list[dict[str, Any]]:
        """All objects of the set of one kind, with the two members that lists leave out."""
        path = self.kinds.collection(api_version, kind, namespace)
        items = self.client.items(path, labelSelector=self.selector)
        return [{"apiVersion": api_version, "kind": kind, **item} for item in items]

    def workloads(self, namespace: str) -> dict[str, Mapping[str, Any]]:
        """Kueue's Workloads by the uid of their Jobs; none where Kueue is not to be seen."""
        for version in _KUEUE_VERSIONS:
            path = f"/apis/{version}/namespaces/{namespace}/workloads"
            try:
                items = self.client.items(path)
            except ApiRefused as error:
                if error.status == 404:
                    continue
                if error.is_forbidden:
                    return {}
                raise
            return {
                owner["uid"]: item
                for item in items
                for owner in item["metadata"].get("ownerReferences") or ()
            }
        return {}

    def events_of(self, namespace: str, uid: str) -> list[dict[str, Any]]:
        """What happened to an object lately, oldest first; nothing where we may not ask."""
        path = self.kinds.collection("v1", "Event", namespace)
        try:
            items = self.client.items(path, fieldSelector=f"involvedObject.uid={uid}")
        except ApiRefused as error:
            if error.is_forbidden:
                return []
            raise
        return sorted(items, key=_when)

    def live(self, refs: Iterable[Ref]) -> dict[Ref, dict[str, Any]]:
        """The objects that are there, by a list a kind and namespace."""
        wanted = tuple(refs)
        found: dict[Ref, dict[str, Any]] = {}
        for group in dict.fromkeys((ref.api_version, ref.kind, ref.namespace) for ref in wanted):
            by_name = {item["metadata"]["name"]: item for item in self.listed(*group)}
            for ref in wanted:
                if (ref.api_version, ref.kind, ref.namespace) == group and ref.name in by_name:
                    found[ref] = by_name[ref.name]
        return found

    def _of_set(self) -> tuple[Records, ApplySet, Lock]:
        if self._parts is None:
            place = (self.client, self.kinds, self.set_name, self.home)
            self._parts = (Records(*place), ApplySet(*place), Lock(*place))
        return self._parts


def _when(event: Mapping[str, Any]) -> str:
    series = event.get("series") or {}
    return str(
        series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or ""
    )
