"""Which tasks a `--secret` of the command line is for."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import WrongUsage
from compiler.model import Overrides
from compiler.source import Document, Kind, Unit

Pairs = tuple[tuple[str, str | None], ...]


def secrets_by_unit(units: Sequence[Unit], overrides: Overrides, *, complete: bool) -> list[Pairs]:
    """The pairs of `--secret` for each unit.

    Of several files only those get a secret that declare it: a further name would make another
    task of each. A single one gets it in any case. Raise WrongUsage for a name that nobody
    declares, if all files could be read (`complete`).
    """
    if not overrides.secret:
        return [() for _ in units]
    kinds = (Kind.TASK, Kind.PIPELINE, Kind.GROUP)
    if sum(unit.kind in kinds for unit in units) == 1:
        return [overrides.secret if unit.kind in kinds else () for unit in units]
    names = [set().union(*map(_declared, unit.documents)) for unit in units]
    everywhere = set().union(*names)
    unknown = [name for name, _ in overrides.secret if name not in everywhere]
    if unknown and complete:
        raise WrongUsage(f"--secret {unknown[0]}: none of these tasks has a secret of that name")
    return [tuple(pair for pair in overrides.secret if pair[0] in known) for known in names]


def _declared(document: Document) -> set[str]:
    """Names of the secrets that a task declares, without their scopes."""
    found: set[str] = set()
    for field in ("secrets", "managed_secrets"):
        entries = document.data.get(field)
        if isinstance(entries, dict | list):
            found.update(str(entry).rpartition(":")[2].rpartition(".")[2] for entry in entries)
    return found
