#!/usr/bin/env python3
"""Write the pages of docs/ that come from the program itself.

    python tools/generate_docs.py            write the pages
    python tools/generate_docs.py --check    exit 1 and name the pages that are out of date

From the diagnostic codes, the targets' support tables, the docstrings of the library, and the
schemas, which are published beside the pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(TOP))

from compiler.model import TargetKind  # noqa: E402
from compiler.source import bundled, schema_names  # noqa: E402
from compiler.targets.interface import Support, SupportLevel  # noqa: E402
from compiler.targets.registry import target_of  # noqa: E402
from tools.diagnostic_pages import diagnostic_pages  # noqa: E402
from tools.library_page import library_page  # noqa: E402

_WRITTEN_BY = "<!-- Written by tools/generate_docs.py; change the program and run it again. -->"
_CALLED = {
    TargetKind.KUBERNETES: "Kubernetes",
    TargetKind.SLURM: "Slurm",
    TargetKind.AWS: "AWS",
}
_LEVELS = {
    SupportLevel.FULL: ("yes", "means the same"),
    SupportLevel.CHANGED: ("changed", "means something else: the warning `field-changed`"),
    SupportLevel.IGNORED: ("ignored", "is lost: the warning `field-ignored`"),
    SupportLevel.REFUSED: ("refused", "cannot run here: the error `field-refused`"),
}


def pages() -> dict[str, str]:
    """The generated pages: path below docs/ -> text."""
    return {
        **diagnostic_pages(_WRITTEN_BY),
        **{f"schemas/{name}.schema.json": _published(name) for name in schema_names()},
        "support-matrix.md": support_page(),
        "library.md": library_page(),
    }


def _published(name: str) -> str:
    """A schema as `triplane schema` prints it."""
    return json.dumps(bundled(name), indent=2, ensure_ascii=False) + "\n"


def support_page() -> str:
    """What each target makes of each field: an overview, then a table a target."""
    tables = {kind: target_of(kind).support for kind in TargetKind}
    lines = [
        "# Support matrix",
        "",
        _WRITTEN_BY,
        "",
        "What each target makes of each field of a task, and of the stack's `config`. What stands",
        "in parentheses is the case in which alone the words before it hold. An empty cell: the",
        "target has no row of its own for the field, as it is a part of another (`volumes.size` of",
        "`volumes`) or belongs to another platform.",
        "",
        "| in the table | the field |",
        "|---|---|",
        *(f"| {word} | {meaning} |" for word, meaning in _LEVELS.values()),
        "",
        "## All targets",
        "",
        f"| field | {' | '.join(_CALLED.values())} |",
        "|---|" + "---|" * len(_CALLED),
    ]
    for field in _fields(tables.values()):
        cells = (_in_short(table, field) for table in tables.values())
        lines.append(f"| `{field}` | {' | '.join(cells)} |")
    for kind, table in tables.items():
        lines += [
            "",
            f"## {_CALLED[kind]}",
            "",
            "| field | | what becomes of it |",
            "|---|---|---|",
        ]
        lines += [_in_full(row) for row in table.values()]
    return "\n".join(lines) + "\n"


def _fields(tables) -> list[str]:
    """The names of all fields, without cases, those of tasks before those of resources."""
    names = {field.partition(" (")[0] for table in tables for field in table}
    return sorted(names, key=lambda name: (name.startswith("resources."), name))


def _in_short(table, field: str) -> str:
    """The levels of a field's rows, the plain one first."""
    rows = [row for name, row in table.items() if name.partition(" (")[0] == field]
    return ", ".join(f"{_LEVELS[row.level][0]}{_case(row)}" for row in rows)


def _case(row: Support) -> str:
    _, parenthesis, case = row.field.partition(" (")
    return f" ({case}" if parenthesis else ""


def _in_full(row: Support) -> str:
    field = row.field.partition(" (")[0]
    hint = f"; {row.hint}" if row.hint else ""
    text = f"{row.note}{hint}".replace("|", "\\|")
    return f"| `{field}`{_case(row)} | {_LEVELS[row.level][0]} | {text} |"


def stale() -> list[str]:
    """The generated pages that are not what they would be now, or would not be there."""
    wanted = pages()
    changed = [
        name
        for name, text in wanted.items()
        if not (TOP / "docs" / name).exists()
        or (TOP / "docs" / name).read_text(encoding="utf-8") != text
    ]
    return changed + _left_over(wanted)


def _left_over(wanted: Iterable[str]) -> list[str]:
    """Pages in folders of generated pages that nothing generates any more."""
    names = set(wanted)
    folders = {name.partition("/")[0] for name in names if "/" in name}
    present = (path for folder in sorted(folders) for path in (TOP / "docs" / folder).glob("*"))
    found = sorted(path.relative_to(TOP / "docs").as_posix() for path in present)
    return [name for name in found if name not in names]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Write the pages of docs/ that come from the program."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if out of date")
    if parser.parse_args().check:
        outdated = stale()
        for name in outdated:
            print(f"docs/{name} is out of date: run tools/generate_docs.py", file=sys.stderr)
        return 1 if outdated else 0
    wanted = pages()
    for name, text in wanted.items():
        (TOP / "docs" / name).parent.mkdir(exist_ok=True)
        (TOP / "docs" / name).write_text(text, encoding="utf-8")
    for name in _left_over(wanted):
        (TOP / "docs" / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
