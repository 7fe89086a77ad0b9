"""Commands beside a run's own, on one of its ranks."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Stack
from compiler.planning.records import Record
from compiler.targets.interface import Streams
from compiler.workflow.live import one_run
from compiler.workflow.observe import look

# What `shell` runs: an interactive bash, which every image that runs a task has.
SHELL = ("bash", "-i")


def exec_in(
    stack: Stack,
    name: str,
    command: Sequence[str],
    streams: Streams,
    *,
    run: int | None = None,
    rank: int = 0,
    task: str | None = None,
) -> int:
    """Run `command` on a rank of the last (or the given) run of a work; its exit code.

    Ranks of a group are counted through its tasks, in order; with `task` through the ranks of
    that one. It gets the environment and the folder that the task's own `run` has. Raise WorkFailed
    where the rank does not run, or its target has no way in.
    """
    world = look(stack, with_artifacts=False)
    try:
        key, found = one_run(world, name, run)
        deployer = world.deployers[key]
        if not hasattr(deployer, "exec"):
            kind = stack.targets[key].deployer
            said = f"`deployer: {kind}` has no way into what runs"
            if kind is DeployerKind.DIRECTORY:
                said = "files are written here, nothing runs that could be entered"
            raise WorkFailed(f"{key}: {said}")
        if task is not None:
            rank = _rank_in_whole(found.record, task, rank)
        return deployer.exec(found, command, streams, rank=rank)
    finally:
        world.close()


def _rank_in_whole(record: Record, task: str, rank: int) -> int:
    if "order" in record.spec:
        raise WorkFailed(f"the tasks of {record.work} run one after another: leave `--task` out")
    before = 0
    for name, nodes in record.members:
        if name == task and rank < nodes:
            return before + rank
        if name == task:
            raise WorkFailed(f"`{task}` of {record.work} has {nodes} ranks, there is no {rank}")
        before += nodes
    known = ", ".join(name for name, _ in record.members)
    said = f"its tasks are {known}" if known else "it is a single task"
    raise WorkFailed(f"{record.work} has no task `{task}`: {said}")
