"""Commands beside a run's own, on one of its ranks."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Stack
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
) -> int:
    """Run `command` on a rank of the last (or the given) run of a work; its exit code.

    It gets the environment and the folder that the task's own `run` has. Raise WorkFailed
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
        return deployer.exec(found, command, streams, rank=rank)
    finally:
        world.close()
