"""The pages of docs/diagnostics/: one a code, from the code's own definition."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.code import Code, all_codes
from compiler.diagnostics.renderers.text import render_text

_EXAMPLE = "example.yaml"
_WIDTH = 100
# Areas in the order of the stages, by the modules that define their codes.
_AREAS = (
    ("Reading files", ("source", "schema")),
    ("Tasks, volumes and stacks", ("model", "stack")),
    ("Placing and rendering", ("catalog", "targets", "workflow")),
    ("Targets", ("kubernetes", "slurm", "aws")),
    ("Moving scripts", ("migration",)),
)


def diagnostic_pages(written_by: str) -> dict[str, str]:
    """Path below docs/ -> text, for the overview and every code."""
    codes = all_codes()
    found = {"diagnostics/README.md": _overview(codes, written_by)}
    for name, code in codes.items():
        lines = [f"# {name}", "", written_by, "", *_of_code(code)]
        found[f"diagnostics/{name}.md"] = "\n".join(lines) + "\n"
    return found


def _overview(codes: dict[str, Code], written_by: str) -> str:
    lines = [
        "# Diagnostics",
        "",
        written_by,
        "",
        "Every error, warning and note has a stable code, shown in brackets. Errors end the",
        "command with exit code 1 and nothing is written; warnings and notes do not.",
        f"There are {len(codes)} codes.",
    ]
    areas = _areas(codes)
    for area, names in areas.items():
        lines += ["", f"## {area}", "", "| code | | what |", "|---|---|---|"]
        for name in names:
            what = codes[name].what.replace("|", "\\|")
            lines.append(f"| [{name}]({name}.md) | {codes[name].severity} | {what} |")
    return "\n".join(lines) + "\n"


def _areas(codes: dict[str, Code]) -> dict[str, list[str]]:
    """The names of the codes by area; what belongs to none comes last."""
    modules = _modules()
    found: dict[str, list[str]] = {area: [] for area, _ in _AREAS}
    rest = []
    for name in codes:
        module = modules.get(name, "")
        for area, starts in _AREAS:
            if module in starts or any(
                module.startswith(f"{start.rstrip('_')}_") for start in starts
            ):
                found[area].append(name)
                break
        else:
            rest.append(name)
    return {area: names for area, names in {**found, "Others": rest}.items() if names}


def _modules() -> dict[str, str]:
    """The name of the module that defines each code."""
    import importlib
    import pkgutil

    from compiler.diagnostics import codes

    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(codes.__path__):
        values = vars(importlib.import_module(f"{codes.__name__}.{module.name}")).values()
        found.update({value.name: module.name for value in values if isinstance(value, Code)})
    return found


def _of_code(code: Code) -> Iterator[str]:
    yield f"*{code.severity.capitalize()}.* {code.what}"
    yield ""
    yield f"**Why it matters:** {code.why}"
    yield ""
    yield f"**What to do:** {code.fix}"
    if not code.example:
        return
    yield ""
    yield "## Example"
    yield ""
    yield "```yaml"
    yield from code.example.rstrip("\n").split("\n")
    yield "```"
    said = shown(code)
    if said:
        yield ""
        yield "`triplane validate` says:"
        yield ""
        yield "```text"
        yield from said.rstrip("\n").split("\n")
        yield "```"


def shown(code: Code) -> str:
    """What `validate` prints about the code's example; empty where only a stack provokes it."""
    from compiler.workflow import validate

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _EXAMPLE).write_text(code.example, encoding="utf-8")
        os.chdir(folder)
        try:
            found = validate([_EXAMPLE], environ={"HOME": "/home/user"}).diagnostics
        finally:
            os.chdir(before)
    of_code = Diagnostics(item for item in found if item.code == code.name)
    return render_text(of_code.sorted()[:1], color=False, width=_WIDTH)
