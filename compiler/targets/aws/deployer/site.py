"""One set on one region: the account, the bucket with its records, and the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from compiler.diagnostics import TargetUnreachable
from compiler.model import Stack, TargetSpec
from compiler.targets.aws.deployer.account import Account
from compiler.targets.aws.deployer.bucket import Bucket
from compiler.targets.aws.deployer.project import engine_over
from compiler.targets.aws.deployer.records import Program, Store
from compiler.targets.aws.options import options_of
from compiler.targets.aws.ownership import owner_of
from compiler.targets.pulumi.engine import Engine


class Site:
    """What every part of the deployer needs. Raise TargetUnreachable for a target without a
    bucket, which keeps the records."""

    def __init__(self, stack: Stack, target: TargetSpec) -> None:
        self.stack = stack
        self.spec = target
        self.target = target.key
        self.set_name = stack.set_name
        self.options = options_of(target, stack)
        self.account = Account(target.key, self.options)
        if self.options.bucket is None:
            raise TargetUnreachable(target.key, "it names no bucket (`files: {bucket: s3://...}`)")
        bucket = Bucket(self.account, self.options.bucket)
        prefix = self.options.set_prefix(stack.set_name)
        self.owner = owner_of(stack, target)
        self.store = Store(bucket, prefix, stack.set_name, target.key)

    @contextmanager
    def engine(
        self,
        project: Mapping[str, str],
        runs: Mapping[str, Program],
        released: Sequence[str] = (),
    ) -> Iterator[Engine]:
        """The engine over the project's files and the programs of runs, by job name; volumes
        that are `released` may be deleted."""
        with engine_over(self.stack, self.spec, project, runs, released) as engine:
            yield engine
