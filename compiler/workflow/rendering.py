"""Rendering without a cluster: paths and a stack in, a tree of files out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack, TargetSpec
from compiler.placement import Placement
from compiler.rendering.artifact import Artifact
from compiler.rendering.tree import write_tree
from compiler.workflow import compile as compiling
from compiler.workflow.loading import Loaded, load

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Rendering:
    """`artifacts` sorted by path; `placements` by work; `diagnostics` hold no error."""

    artifacts: tuple[Artifact, ...]
    placements: Mapping[str, Placement]
    diagnostics: tuple[Diagnostic, ...]

    def write(self, out: str | Path) -> list[str]:
        """Write the tree below `out`; returns the paths whose content changed."""
        return write_tree(Path(out), self.artifacts)


def render(
    paths: Sequence[str],
    stack: Stack,
    *,
    every_target: bool = False,
    only: Sequence[str] = (),
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Rendering:
    """Render everything at `paths` (default: the stack's inputs) as run 1 of each work.

    With `every_target` each task is rendered for each target that can take it. `only` names
    the targets to consider. Raise InvalidInput with all errors; then nothing is returned.
    """
    diagnostics = Diagnostics()
    loaded = load_tasks(paths, stack, diagnostics, overrides=overrides, environ=environ)
    artifacts: list[Artifact] = []
    placements: dict[str, Placement] = {}
    targets: dict[str, TargetSpec] = {}
    for work in loaded.works:
        prepared = compiling.prepare(work, stack, diagnostics)
        placement = compiling.place_work(prepared, stack, diagnostics, only=only)
        placements[work.name] = placement
        if placement.chosen is None:
            continue
        rows = list(compiling.possible_rows(placement)) if every_target else [placement.chosen]
        for row in rows:
            job = compiling.make_job(prepared, stack, row.target, row.resources, run=1)
            targets.setdefault(row.target.key, row.target)
            artifacts.extend(compiling.render_job(job, diagnostics))
    for spec in targets.values():
        artifacts.extend(compiling.render_project(stack, spec, diagnostics))
    diagnostics.raise_if_errors()
    artifacts.sort(key=lambda artifact: artifact.path)
    return Rendering(tuple(artifacts), placements, tuple(diagnostics.sorted()))


def load_tasks(
    paths: Sequence[str],
    stack: Stack,
    diagnostics: Diagnostics,
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Loaded:
    """The works at `paths`, else of the stack's inputs; what cannot be rendered is an error."""
    loaded = load(
        paths or stack.inputs,
        diagnostics,
        overrides=overrides,
        environ=environ,
        root=stack.root,
    )
    for kind, items in (
        ("job group", loaded.groups),
        ("pipeline", loaded.pipelines),
        ("volume", loaded.volumes),
    ):
        for item in items:
            diagnostics.add(
                codes.KIND_NOT_RENDERED.at(
                    item.origin.span(),
                    f"a {kind} is checked by `validate`, but not rendered by this version",
                    hint="take the file out of the paths",
                )
            )
    if paths and not loaded.works and not diagnostics.has_errors:
        diagnostics.add(codes.NO_DOCUMENT.at(None, f"no task in {', '.join(paths)}"))
    return loaded
