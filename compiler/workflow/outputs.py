"""The folders that directory deployers write to: looked at before anything else is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.workflow import OUTPUT_FOLDER
from compiler.model import Deployer, Stack, TargetSpec
from compiler.rendering.tree import why_no_folder


def outputs_unfit(stack: Stack, targets: Iterable[TargetSpec]) -> Iterator[Diagnostic]:
    """An error for each folder of these targets that is none; several may share one."""
    seen = set()
    for spec in targets:
        if spec.deployer is not Deployer.DIRECTORY:
            continue
        own = spec.options.get("out")
        folder = str(own or stack.out)
        why = why_no_folder(Path(folder), writable=False)
        if why is None or folder in seen:
            continue
        seen.add(folder)
        path = ("targets", spec.key, "out") if own else ("out",)
        yield OUTPUT_FOLDER.at(
            stack.origin.span(*path),
            f"nothing can be written for {spec.key}: {why}",
            hint="name another folder in `out`",
        )
