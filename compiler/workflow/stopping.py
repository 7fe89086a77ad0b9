"""Stopping works that can be started again where they were, and starting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compiler.diagnostics import TriplaneError, WorkFailed
from compiler.model import Deployer, Stack
from compiler.workflow.live import one_run
from compiler.workflow.observe import look

Results = list[tuple[str, TriplaneError | None]]
Progress = Callable[[str], None]


def stop(stack: Stack, names: Sequence[str], progress: Progress = lambda _: None) -> Results:
    """Give the nodes of the live runs of `names` back and keep their containers' file systems;
    (what, error) for each. Processes are not kept."""
    return _each(stack, names, "stop", "stopped", progress)


def start(stack: Stack, names: Sequence[str], progress: Progress = lambda _: None) -> Results:
    """Start the stopped runs of `names` again, under their numbers; (what, error) for each."""
    return _each(stack, names, "start", "started", progress)


def _each(stack: Stack, names: Sequence[str], verb: str, done: str, progress: Progress) -> Results:
    world = look(stack, with_artifacts=False)
    results: Results = []
    try:
        found = {name: one_run(world, name, None) for name in names}  # before any is touched
        for name, (key, run) in found.items():
            what = f"{name} run {run.record.run} on {key}"
            act = getattr(world.deployers[key], verb, None)
            try:
                if act is None:
                    spec = stack.targets[key]
                    if spec.deployer is Deployer.DIRECTORY:
                        said = "files are written here, nothing runs that could be"
                        raise WorkFailed(f"{key}: {said} {done}")
                    kind = spec.kind
                    raise WorkFailed(f"{key}: work on {kind} cannot be {done}")
                act(run, progress)
                results.append((f"{what} {done}", None))
            except TriplaneError as error:
                results.append((what, error))
    finally:
        world.close()
    return results
