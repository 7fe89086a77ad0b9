"""Rendered against rendered: with a folder, or with what a git revision would render."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from compiler.diagnostics import (
    Diagnostic,
    Diagnostics,
    InvalidInput,
    WorkFailed,
    WrongUsage,
)
from compiler.model import Overrides, Stack, names
from compiler.planning.changes import object_changes
from compiler.planning.differences import MergeKeys
from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange
from compiler.rendering.tree import text_on_disk
from compiler.targets.registry import merge_keys_of
from compiler.workflow.loading import load_stack
from compiler.workflow.rendering import Rendering, render


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """What differs, by path; `against` names the other side."""

    against: str
    objects: tuple[ObjectChange, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_changes(self) -> bool:
        return any(item.action is not Action.NOOP for item in self.objects)


def diff(
    paths: Sequence[str],
    stack: Stack,
    against: str,
    *,
    only: Sequence[str] = (),
    every_target: bool = False,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> TreeDiff:
    """Compare what is rendered now with the folder or the git revision `against`."""
    options: dict[str, Any] = {
        "only": only,
        "every_target": every_target,
        "overrides": overrides,
        "environ": environ,
    }
    now = render(paths, stack, **options)
    if against and Path(against).is_dir():
        before = _read_folder(Path(against), now, stack, only, of_works=bool(paths))
    else:
        top = _repository_of(stack)
        with _checked_out(top, against) as root:
            try:
                before = _rendered_there(top, root, paths, stack, options)
            except InvalidInput as error:
                raise _at_revision(error, root, against) from None
    objects = tuple(
        item
        for item in object_changes(now.artifacts, before, _merge_keys(stack))
        if item.action is not Action.NOOP
    )
    return TreeDiff(against, objects, now.diagnostics)


def _merge_keys(stack: Stack) -> MergeKeys:
    for spec in stack.targets.values():
        if spec.kind == "kubernetes":
            return merge_keys_of(spec)
    return lambda api_version, kind, path: None


def _read_folder(
    folder: Path, now: Rendering, stack: Stack, only: Sequence[str], *, of_works: bool
) -> dict[str, str]:
    """The texts below the folders of the stack's targets, or of the rendered works alone."""
    paths = {artifact.path for artifact in now.artifacts}
    labels = [names.run_label(stack.set_name, work, 1) for work in now.placements]
    labels += [names.work_label(stack.set_name, work) for work in now.placements]
    parts = {spelling for label in labels for spelling in (label, label.replace("-", "_"))}
    found = {}
    for key, spec in stack.targets.items():
        if only and key not in only:
            continue
        for path in sorted((folder / spec.kind / key).rglob("*")):
            relative = path.relative_to(folder).as_posix()
            stems = {part.partition(".")[0] for part in relative.split("/")}
            if of_works and relative not in paths and not stems & parts:
                continue
            text = text_on_disk(path)
            if text is not None:
                found[relative] = text
    return found


def _rendered_there(
    top: Path, root: Path, paths: Sequence[str], stack: Stack, options: Mapping
) -> dict[str, str]:
    """Render the other revision in a checkout of its own; relative paths stay as they are."""
    here = Path.cwd()
    diagnostics = Diagnostics()
    stack_path = _moved(stack.origin.document.source.path, top, root)
    if not Path(stack_path).exists():
        return {}  # there was nothing to render it for
    other_stack = load_stack(stack_path, diagnostics)
    diagnostics.raise_if_errors()
    assert other_stack is not None
    only = [key for key in options["only"] if key in other_stack.targets]
    if options["only"] and not only:
        return {}
    if other_stack.root is None and here.is_relative_to(top):
        other_stack = replace(other_stack, root=str(root / here.relative_to(top)))
    moved = [_moved(path, top, root) for path in paths]
    present = [path for path in moved if Path(path).exists()]
    if moved and not present:
        return {}
    if not moved and not any(Path(place).exists() for place in other_stack.inputs):
        return {}
    rendering = render(present, other_stack, **{**options, "only": only})
    return {artifact.path: artifact.text for artifact in rendering.artifacts}


def _at_revision(error: InvalidInput, root: Path, revision: str) -> WorkFailed:
    """The errors of the other side, whose files are named as git names them."""
    for item in error.diagnostics:
        for span in (item.span, item.context, *(related.span for related in item.related)):
            if span is not None and Path(span.source.path).is_relative_to(root):
                relative = Path(span.source.path).relative_to(root).as_posix()
                span.source.path = f"{revision}:{relative}"
    words = f"what {revision} holds cannot be rendered, so there is nothing to compare with"
    return WorkFailed(words, diagnostics=error.diagnostics)


def _moved(path: str, top: Path, root: Path) -> str:
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (links are kept as written)
    if not absolute.is_relative_to(top):
        raise WrongUsage(f"{path} is outside the git repository {top}")
    return str(root / absolute.relative_to(top))


def _repository_of(stack: Stack) -> Path:
    """The top of the repository that the stack lies in, wherever the command is given."""
    folder = Path(os.path.abspath(stack.origin.document.source.path)).parent  # noqa: PTH100
    return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())


@contextmanager
def _checked_out(top: Path, revision: str) -> Iterator[Path]:
    """A revision's files in a temporary folder."""
    commit = _git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    archive = _git(top, "archive", "--format=tar", commit.decode().strip())
    with tempfile.TemporaryDirectory(prefix="triplane-diff-") as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as tar:
            tar.extractall(folder, filter=_without_outward_links)
        yield Path(folder).resolve()


def _without_outward_links(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """Everything but links that lead out of the checkout: no input lies behind one."""
    try:
        return tarfile.data_filter(member, folder)
    except tarfile.FilterError:
        return None


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except FileNotFoundError:
        raise WrongUsage("git is not installed, so only a folder can be compared with") from None
    if result.returncode:
        words = result.stderr.decode(errors="replace").strip().splitlines()
        raise WrongUsage(
            f"neither a folder nor a git revision: {words[-1] if words else arguments[-1]}"
        )
    return result.stdout
