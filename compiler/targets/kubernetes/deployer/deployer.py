"""The Kubernetes deployer: one set on one cluster, by server-side apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.diagnostics import WorkFailed
from compiler.model import Stack, TargetSpec
from compiler.planning.changes import Preview
from compiler.planning.records import Record
from compiler.planning.states import Observation, ObservedRun
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Capacity, Progress, Step, StepRefused, Streams
from compiler.targets.kubernetes.deployer import (
    attach,
    capacity,
    ending,
    execute,
    logs,
    observe,
    pending,
    reach,
    uploads,
)
from compiler.targets.kubernetes.deployer import preview as previewing
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.settings import scheme_of


class KubernetesDeployer:
    """Deploys one target of a stack to a cluster.

    The connection is made by the first call that needs it and kept until `close`. `read_only`:
    looking asks by get and list alone, and writes nothing down.
    """

    def __init__(self, stack: Stack, target: TargetSpec, *, read_only: bool = False) -> None:
        self.target = target.key
        self._target = target
        self._read_only = read_only
        self._cluster = Cluster(stack, target)
        self._scheme = scheme_of(target)

    def close(self) -> None:
        self._cluster.client.close()

    def check(self) -> str:
        return reach.describe(self._cluster)

    def observe(self, with_artifacts: bool = True) -> Observation:
        return observe.observation(
            self._cluster, artifacts=with_artifacts, writes=not self._read_only
        )

    def preview(self, artifacts: Iterable[Artifact]) -> Preview:
        """What the objects would be on the server."""
        if self._read_only:
            return Preview(notes=("not compared by the server (--read-only)",))
        return previewing.preview(self._cluster, artifacts)

    def pending_fields(
        self, run: ObservedRun, artifacts: Iterable[Artifact]
    ) -> dict[str, str] | None:
        """What is changed on a pending run to make it one of these artifacts; None where it has
        to be replaced."""
        return None if self._read_only else pending.fields(self._cluster, run, artifacts)

    def capacity(self) -> Capacity | None:
        """None for whoever may not list nodes and pods of the whole cluster."""
        kinds, client = self._cluster.kinds, self._cluster.client
        try:
            nodes = client.items(kinds.collection("v1", "Node", None))
            pods = client.items(kinds.collection("v1", "Pod", None))
        except ApiRefused as error:
            if error.is_forbidden:
                return None
            raise
        return capacity.free(nodes, pods, self._scheme)

    def lock(self, holder: str) -> None:
        self._cluster.lock.take(holder)

    def unlock(self) -> None:
        """Give back the lock that this deployer took; another's stays."""
        self._cluster.lock.give_back()

    def break_lock(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        return self._cluster.lock.break_()

    def execute(self, step: Step, progress: Progress) -> Record:
        """Raise StepRefused, with the field that the server names, for what it does not take."""
        try:
            if step.action != "delete":
                trees = step.uploads
                uploads.upload(self._cluster, self._target, trees, step.artifacts, progress)
            return execute.execute(self._cluster, step, progress)
        except ApiRefused as error:
            if not error.diagnostics:
                raise
            fields = (error.field,) if error.field else ()
            raise StepRefused(str(error), error.diagnostics, fields) from None

    def cancel(self, run: ObservedRun) -> None:
        """End the run, pending or running, and write down how it ended."""
        record = run.record
        seen = ending.end_run(
            self._cluster,
            record.work,
            record.run,
            only_pending=False,
            progress=lambda _: None,
        )
        if seen is None:
            raise WorkFailed(f"{self.target}: nothing is known of {record.run_key}")

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterator[str]:
        return logs.lines(self._cluster, run.record, follow=follow, tail=tail)

    def exec(self, run: ObservedRun, command: Sequence[str], streams: Streams, *, rank: int) -> int:
        return attach.execute(self._cluster, run.record, command, streams, rank=rank)
