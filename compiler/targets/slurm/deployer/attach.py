"""A command beside a run's own: a step of its job, connected to the streams of this process."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record
from compiler.targets.interface import Streams
from compiler.targets.slurm.deployer.remote import Remote, decoded


def execute(
    remote: Remote, record: Record, command: Sequence[str], streams: Streams, *, rank: int
) -> int:
    """The command's exit code. Raise WorkFailed where there is no such rank, or it does not run."""
    if record.identity is None:
        raise WorkFailed(f"{remote.target}: {record.run_key} has no job")
    answer = remote.call_in_set(
        "attach",
        record.run_key,
        record.identity,
        str(rank),
        "01"[streams.terminal],
        data=shlex.join(command).encode(),
    )
    script = decoded(answer.first("script") or "").decode()
    return remote.transport.attach(script, streams)
