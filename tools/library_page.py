"""docs/library.md: the public calls of `compiler.workflow`, from their own docstrings."""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Iterator

WRITTEN_BY = "<!-- Written by tools/generate_docs.py; change the docstrings and run it again. -->"


def library_page() -> str:
    """Every public name: calls with their signatures first, then what they return, then values."""
    module = importlib.import_module("compiler.workflow")
    public = {name: getattr(module, name) for name in sorted(module.__all__)}
    calls = {name: item for name, item in public.items() if inspect.isfunction(item)}
    types = {name: item for name, item in public.items() if inspect.isclass(item)}
    values = {name: item for name, item in public.items() if name not in {*calls, *types}}
    lines = ["# The library", "", WRITTEN_BY, "", inspect.getdoc(module) or "", "", "## Calls"]
    for name, item in calls.items():
        lines += ["", f"### `{name}`", "", "```python", *_signature(name, item), "```", ""]
        lines += (inspect.getdoc(item) or "").split("\n")
    lines += ["", "## What they take and return"]
    for name, item in types.items():
        lines += ["", f"### `{name}`", "", *(inspect.getdoc(item) or "").split("\n")]
        lines += _members(item)
    if values:
        lines += [
            "",
            "## Values",
            "",
            *(f"* `{name}` = `{item!r}`" for name, item in values.items()),
        ]
    return "\n".join(lines).rstrip() + "\n"


def _signature(name: str, call: object) -> Iterator[str]:
    found = inspect.signature(call)  # type: ignore[arg-type]
    line = f"{name}{found}".replace("'", "")
    if len(line) <= 92:
        yield line
        return
    yield f"{name}("
    star = False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            star = True
            yield "    *,"
        shown = str(parameter).replace("'", "")
        # A default that is a function has an address in it, which is no text to print.
        if inspect.isfunction(parameter.default) or inspect.isbuiltin(parameter.default):
            shown = shown.split(" = ")[0] + " = ..."
        yield f"    {shown},"
    returned = str(found.return_annotation).replace("'", "")
    yield f") -> {returned}"


def _members(kind: type) -> Iterator[str]:
    if issubclass(kind, enum.Enum):
        rows = [f"* `{item.name}` = {item.value}" for item in kind]
    else:
        fields = getattr(kind, "__dataclass_fields__", {})
        rows = [f"* `{name}: {item.type}`" for name, item in fields.items()]
    if rows:
        yield ""
        yield from rows
