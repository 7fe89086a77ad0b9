"""What `plan --read-only` may read: the checkout, and nothing else of the machine.

A plan of a change that nobody has reviewed runs with whatever the machine holds. Links are
followed before anything is compared, so that none leads out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes.confinement import OUTSIDE_BASE
from compiler.model import LocalWorkdir, Origin, Stack, Task
from compiler.source import discover
from compiler.source.reading import shown_path
from compiler.workflow import places
from compiler.workflow.works import Work


def inputs_outside(paths: Sequence[str], stack: Stack) -> Iterator[Diagnostic]:
    """Input files that lie, or lead, out of the base; to be asked before they are read."""
    # With paths, too, the set's volumes are looked for among its inputs.
    for path in discover((*paths, *stack.inputs), Diagnostics()):
        if not places.is_special(path) and not _is_inside(Path(path), stack):
            yield OUTSIDE_BASE.at(
                None,
                f"the input {shown_path(path)} lies outside of {shown_path(places.base_of(stack))}",
            )


def files_outside(works: Iterable[Work], stack: Stack) -> Iterator[Diagnostic]:
    """Local files of tasks out there; to be asked before their content is looked at."""
    for work in works:
        for task in work.tasks:
            for path, origin in _local_files(task):
                place = Path(stack.root or ".") / os.path.expanduser(path)  # noqa: PTH111
                if not _is_inside(place, stack):
                    yield OUTSIDE_BASE.at(
                        origin.span(),
                        f"`{path}` lies outside of {shown_path(places.base_of(stack))}",
                        hint="plan it without --read-only once the change is reviewed",
                    )


def _local_files(task: Task) -> Iterator[tuple[str, Origin]]:
    if isinstance(task.workdir, LocalWorkdir):
        yield task.workdir.path, task.workdir.origin
    for mount in task.file_mounts:
        if "://" not in mount.source:
            yield mount.source, mount.origin
    if task.native_script is not None:
        yield task.native_script, task.origin.child("config", "triplane", "native_script")


def _is_inside(path: Path, stack: Stack) -> bool:
    base = os.path.realpath(places.base_of(stack))
    return Path(os.path.realpath(path)).is_relative_to(base)
