"""Checking files without a stack: what an editor or a pre-commit hook runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Diagnostics, Severity
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides
from compiler.workflow.loading import Loaded, load


@dataclass(frozen=True, slots=True)
class Report:
    """`diagnostics` sorted by place; `files` is how many were read."""

    diagnostics: tuple[Diagnostic, ...]
    loaded: Loaded
    files: int

    @property
    def is_valid(self) -> bool:
        return not any(item.severity is Severity.ERROR for item in self.diagnostics)


def validate(
    paths: Sequence[str],
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
    root: str | None = None,
    check_files: bool = True,
) -> Report:
    """Read and check everything at `paths`; never raises for wrong input."""
    diagnostics = Diagnostics()
    loaded = load(
        paths,
        diagnostics,
        overrides=overrides,
        environ=environ,
        root=root,
        check_files=check_files,
    )
    if not loaded.inputs and not diagnostics.has_errors:
        diagnostics.add(codes.NO_DOCUMENT.at(None, f"no YAML file in {', '.join(paths)}"))
    return Report(tuple(diagnostics.sorted()), loaded, len(loaded.inputs))
