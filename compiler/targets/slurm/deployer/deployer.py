"""The Slurm deployer: one set on one cluster, over SSH or on a login node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.diagnostics import LockHeld, TriplaneError, WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Stack, TargetSpec
from compiler.planning.records import Record
from compiler.planning.states import Observation, ObservedRun
from compiler.targets import locking
from compiler.targets.interface import Capacity, Progress, Step, Streams
from compiler.targets.slurm.deployer import (
    attach,
    batch,
    capacity,
    ending,
    execute,
    logs,
    observe,
    quotas,
    stopping,
)
from compiler.targets.slurm.deployer.local import LocalTransport
from compiler.targets.slurm.deployer.remote import Remote, decoded
from compiler.targets.slurm.deployer.requester import CHECK, account_of
from compiler.targets.slurm.deployer.ssh import SshTransport
from compiler.targets.slurm.deployer.transport import Transport, as_account


class SlurmDeployer:
    """Deploys one target of a stack to a Slurm cluster.

    The connection is made by the first call that needs it and kept until `close`.
    """

    def __init__(
        self, stack: Stack, target: TargetSpec, transport: Transport | None = None
    ) -> None:
        self.target = target.key
        account = account_of(stack, target)
        self._transport = transport or transport_of(target, account)
        workdir = str(target.options.get("workdir") or "")
        self._remote = Remote(
            target.key, stack.set_name, workdir, self._transport, CHECK if account else ""
        )
        names = target.options.get("gres_types")
        self._gres_types = dict(names) if isinstance(names, Mapping) else {}
        self._accounting = target.options.get("accounting") is not False
        self._charged = quotas.charged(stack, target)
        self._holder: bytes | None = None

    def close(self) -> None:
        self._transport.close()

    def check(self) -> str:
        """Version, user, host, partitions, limits. Raise WorkFailed if the base is not usable."""
        answer = self._remote.call_at_base("check", "01"[self._accounting])
        partitions = [line.partition("|") for line in answer.of("partition")]
        down = {name for name, _, available in partitions if available != "up"}
        limits = quotas.said(quotas.room(answer, self._charged))
        shown = [f"{name} (down)" if name in down else name for name, _, _ in partitions]
        return (
            f"{answer.first('version')}, {answer.first('user')} on {answer.first('host')}, "
            f"partitions {', '.join(shown) or 'none'}, base {answer.first('base')}"
            f"{', ' * bool(limits)}{limits}"
        )

    def observe(self, with_artifacts: bool = True) -> Observation:
        return observe.observation(
            self._remote, artifacts=with_artifacts, accounting=self._accounting
        )

    def capacity(self) -> Capacity | None:
        answer = self._remote.call("capacity", "01"[self._accounting])
        return capacity.parse(answer.text, self._gres_types, quotas.room(answer, self._charged))

    def lock(self, holder: str) -> None:
        mine = locking.signed(holder)
        for _ in range(2):
            held = self._remote.call_in_set("lock", data=mine).first("held")
            # Clusters that share a file system share the lock of the set.
            if held is None or decoded(held) == mine:
                self._holder = mine
                return
            theirs = decoded(held)
            if not locking.is_left_over(theirs):
                break
            self._remote.call_in_set("unlock", "mine", data=theirs)
        raise LockHeld(
            f"{self.target}: set {self._remote.set_name!r} is locked by "
            f"{locking.said(theirs)}; if that apply is gone: triplane unlock"
        )

    def unlock(self) -> None:
        """Give back the lock that this deployer took; another's stays."""
        if self._holder is not None:
            self._remote.call_in_set("unlock", "mine", data=self._holder)
            self._holder = None

    def break_lock(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        held = self._remote.call_in_set("unlock", "any").first("held")
        return None if held is None else locking.said(decoded(held))

    def execute(self, step: Step, progress: Progress) -> Record:
        return execute.execute(self._remote, step, progress, accounting=self._accounting)

    def create_all(
        self, steps: Sequence[Step], progress: Progress
    ) -> Iterator[tuple[Step, Record | TriplaneError]]:
        """Those of the steps that are plain new jobs, all at once; the others are left out."""
        plain = [step for step in steps if batch.is_plain(step)]
        if len(plain) < 2:
            return iter(())
        return batch.create_all(self._remote, plain, progress, accounting=self._accounting)

    def cancel(self, run: ObservedRun) -> None:
        """End the job, pending or running, and write down how it ended."""
        seen = ending.end_run(
            self._remote,
            run.record.run_key,
            accounting=self._accounting,
            only_pending=False,
            progress=lambda _: None,
        )
        if seen is None:
            raise WorkFailed(f"{self.target}: nothing is known of {run.record.run_key}")

    def stop(self, run: ObservedRun, progress: Progress) -> None:
        stopping.stop(self._remote, run.record, progress, accounting=self._accounting)

    def start(self, run: ObservedRun, progress: Progress) -> Record:
        return stopping.start(self._remote, run.record, progress, accounting=self._accounting)

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterator[str]:
        return logs.lines(self._remote, run.record, follow=follow, tail=tail)

    def exec(self, run: ObservedRun, command: Sequence[str], streams: Streams, *, rank: int) -> int:
        return attach.execute(self._remote, run.record, command, streams, rank=rank)


def transport_of(target: TargetSpec, account: str | None = None) -> Transport:
    """How the stack says that the target is reached, and as whom."""
    if target.deployer is DeployerKind.LOCAL:
        return LocalTransport(target.key, (*as_account(account), "bash", "-s"))
    if target.deployer is DeployerKind.SSH:
        return SshTransport(target.key, target.options, account)
    raise WorkFailed(f"{target.key}: `deployer: {target.deployer}` does not reach a Slurm cluster")
