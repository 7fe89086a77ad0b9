"""The AWS deployer: one set in one region, through Pulumi's engine and the target's bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.diagnostics import LockHeld, WorkFailed
from compiler.model import Stack, TargetSpec
from compiler.planning.changes import Preview
from compiler.planning.records import Record
from compiler.planning.states import Observation, ObservedRun
from compiler.rendering.artifact import Artifact
from compiler.targets import locking
from compiler.targets.aws.deployer import attach, ending, execute, logs, observe
from compiler.targets.aws.deployer import preview as previewing
from compiler.targets.aws.deployer.project import program_of, project_files
from compiler.targets.aws.deployer.records import Program
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Capacity, Progress, Step, Streams
from compiler.targets.pulumi.cli import backend_url, require_tools


class AwsDeployer:
    """Deploys one target of a stack; nothing is asked before the first call."""

    def __init__(self, stack: Stack, target: TargetSpec) -> None:
        self.target = target.key
        self._stack = stack
        self._spec = target
        self._opened: Site | None = None
        self._holder: str | None = None
        self._volumes: dict[str, Program] = {}

    def close(self) -> None:
        if self._opened is not None:
            self._opened.account.close()

    def check(self) -> str:
        """Who we are, where, and what keeps the state."""
        from importlib.metadata import version

        account, caller = self._site.account.identity()
        bucket = self._site.options.bucket
        next(self._site.store.bucket.keys(self._site.store.prefix), None)
        return (
            f"account {account} as {caller}, {self._site.options.region}, bucket {bucket}, "
            f"Pulumi {version('pulumi')} with state in {backend_url(self._stack, self._spec)}"
        )

    def observe(self, with_artifacts: bool = True) -> Observation:
        return observe.observation(self._site, artifacts=with_artifacts)

    def capacity(self) -> Capacity | None:
        """EC2 does not say what is free."""
        return None

    def preview(self, artifacts: Sequence[Artifact]) -> Preview:
        program = program_of(artifacts)
        if program.is_volume:  # what is planned after it may mount it
            name = artifacts[0].name.partition("/")[2]
            self._volumes[name] = program
        return previewing.preview(self._site, artifacts, self._volumes)

    def lock(self, holder: str) -> None:
        bucket, key = self._site.store.bucket, self._site.store.lock_key
        if bucket.write(key, locking.signed(holder).decode()) is None:
            there = bucket.find(key)
            text = there.text.encode() if there else b"somebody who has just given it back"
            if locking.said(text) != holder.strip():
                # Pulumi's own lock may be left over with it, and an update that still goes on.
                is_gone = locking.is_left_over(text)
                then = "that process is gone" if is_gone else "if that apply is gone"
                raise LockHeld(
                    f"{self.target}: set {self._site.set_name!r} is locked by "
                    f"{locking.said(text)}; {then}: triplane unlock"
                )
        self._holder = holder

    def unlock(self) -> None:
        """Give back the lock that this deployer took; another's stays."""
        if self._holder is None:
            return
        bucket, key = self._site.store.bucket, self._site.store.lock_key
        there = bucket.find(key)
        if there is not None and locking.said(there.text.encode()) == self._holder.strip():
            bucket.delete([key])
        self._holder = None

    def break_lock(self) -> str | None:
        """Remove our lock and Pulumi's, whoever holds them; returns who did, None if nobody."""
        bucket, key = self._site.store.bucket, self._site.store.lock_key
        there = bucket.find(key)
        project = project_files(self._stack, self._spec)
        with self._site.engine(project, {}) as engine:
            engine.cancel()
        if there is None:
            return None
        bucket.delete([key])
        return locking.said(there.text.encode())

    def execute(self, step: Step, progress: Progress) -> Record:
        return execute.execute(self._site, step, progress)

    def cancel(self, run: ObservedRun) -> None:
        """End the run, pending or running, and write down how it ended."""
        key = run.record.run_key
        seen = ending.end_run(self._site, key, only_pending=False, progress=lambda _: None)
        if seen is None:
            raise WorkFailed(f"{self.target}: nothing is known of {key}")

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterator[str]:
        return logs.lines(self._site, run.record, follow=follow, tail=tail)

    def exec(self, run: ObservedRun, command: Sequence[str], streams: Streams, *, rank: int) -> int:
        return attach.execute(self._site, run.record, command, streams, rank=rank)

    @property
    def _site(self) -> Site:
        if self._opened is None:
            require_tools(self.target, "pulumi_aws", "boto3")
            self._opened = Site(self._stack, self._spec)
        return self._opened
