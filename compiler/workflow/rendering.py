"""Rendering without a cluster: paths and a stack in, a tree of files out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, InvalidInput
from compiler.diagnostics.codes import workflow as codes
from compiler.diagnostics.codes.source import NO_INPUT_FILES
from compiler.model import Overrides, Stack, TargetSpec
from compiler.placement import Placement
from compiler.rendering.artifact import Artifact
from compiler.rendering.tree import why_no_folder, write_tree
from compiler.source import discover
from compiler.source.reading import shown_path
from compiler.workflow import compile as compiling
from compiler.workflow.arguments import require_targets
from compiler.workflow.loading import Loaded, load
from compiler.workflow.prepare import prepare
from compiler.workflow.volumes import mounting, volumes_first, with_volumes
from compiler.workflow.works import collisions

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Rendering:
    """`artifacts` sorted by path; `placements` by work; `diagnostics` hold no error."""

    artifacts: tuple[Artifact, ...]
    placements: Mapping[str, Placement]
    diagnostics: tuple[Diagnostic, ...]

    def write(self, out: str | Path) -> list[str]:
        """Write the tree below `out`; returns the paths whose content changed.

        Raise InvalidInput where that is no folder to write to, and OSError for what else the
        disk refuses.
        """
        why = why_no_folder(Path(out))
        if why is not None:
            raise InvalidInput([codes.OUTPUT_FOLDER.at(None, why)])
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
    require_targets(only, stack)
    diagnostics = Diagnostics()
    loaded = load_tasks(paths, stack, diagnostics, overrides=overrides, environ=environ)
    artifacts: list[Artifact] = []
    placements: dict[str, Placement] = {}
    targets: dict[str, TargetSpec] = {}
    volumes_at: dict[str, frozenset[str]] = {}
    for work in volumes_first(loaded.works):
        prepared = prepare(work, stack, diagnostics, loaded.known_volumes)
        placement = compiling.place_work(
            prepared,
            stack,
            diagnostics,
            only=only,
            volumes_at=volumes_at,
            mounted_by=mounting(work.name, loaded.works) if work.volume else (),
        )
        placements[work.name] = placement
        if placement.chosen is None:
            continue
        rows = list(compiling.possible_rows(placement)) if every_target else [placement.chosen]
        if every_target:
            diagnostics.extend(compiling.left_out(prepared, placement))
        if work.volume is not None:
            volumes_at[work.name] = frozenset(row.target.key for row in rows)
        for row in rows:
            job = compiling.make_job(prepared, stack, row, run=1)
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
    may_be_empty: bool = False,
) -> Loaded:
    """The works at `paths`, else of the stack's inputs; what cannot be rendered is an error.

    With `may_be_empty` an input folder of the stack without any file is fine.
    """
    loaded = load(
        paths or _inputs(stack, diagnostics, may_be_empty),
        diagnostics,
        overrides=overrides,
        environ=environ,
        root=stack.root,
    )
    if paths and not loaded.works and not diagnostics.has_errors:
        diagnostics.add(codes.NO_DOCUMENT.at(None, f"no task in {', '.join(paths)}"))
    diagnostics.extend(collisions(loaded.works, stack.set_name))
    return with_volumes(loaded, stack, diagnostics)


def _inputs(stack: Stack, diagnostics: Diagnostics, may_be_empty: bool) -> list[str]:
    """The stack's inputs that hold a file; an empty folder is an error unless it may be one."""
    found = []
    for place in stack.inputs:
        seen = Diagnostics()
        if Path(place).is_dir() and not discover([place], seen):
            if any(item.code != NO_INPUT_FILES.name for item in seen):
                found.append(place)  # not empty but unreadable, as reading it will say
            elif not may_be_empty:
                diagnostics.add(
                    NO_INPUT_FILES.at(
                        stack.origin.span("set", "inputs"),
                        f"the input folder `{shown_path(place)}` holds no *.yaml or *.yml file",
                        hint="if what came from it is to go: `triplane plan --allow-empty`",
                    )
                )
            continue
        found.append(place)
    return found
