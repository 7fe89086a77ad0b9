"""YAML that people keep: comments, a stable order, and strings that stay strings.

Written by ruamel.yaml, and read back by the dialect's own reader: where that finds anything
else than what was meant, the text is written in a plainer form.
"""

from __future__ import annotations

import io
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from compiler.migration.result import Path

if TYPE_CHECKING:
    from ruamel.yaml import YAML

SCHEMA = "https://triplane.dev/schemas/task.schema.json"
_SIMPLE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*")
_TYPED = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~")
_WIDTH = 4096  # nothing is folded


@cache
def _writer() -> YAML:
    from ruamel.yaml import YAML

    writer = YAML(typ="rt", pure=True)
    writer.width = _WIDTH
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.allow_unicode = True
    writer.representer.add_representer(type(None), _null)
    return writer


def _null(representer: Any, value: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def compose(
    task: dict[str, Any], comments: list[str], inline: dict[Path, str]
) -> tuple[str, dict[Path, int]]:
    """(the file's text, the line of every path in it). `comments` stand at the top.

    Raise ValueError where YAML cannot hold the task.
    """
    head = [f"# yaml-language-server: $schema={SCHEMA}"]
    head += [_comment(line) for line in comments]
    for literal in (True, False):
        body = _dump(_prepared(task, literal, ()), inline) if not literal else _quick(task, inline)
        text = "\n".join(head) + "\n" + body
        if _reads_as(text, task):
            return text, _lines(text)
    raise ValueError("the task has no form in YAML")


def _quick(task: dict[str, Any], inline: dict[Path, str]) -> str:
    """The long text of `run`, which comes last, as a block; the rest by ruamel.yaml, which
    looks at every character on its own."""
    rest = {key: value for key, value in task.items() if key != "run"}
    text = _dump(_prepared(rest, True, ()), inline) if rest else ""
    run = task.get("run")
    return text if run is None else text + _block("run", run)


def _block(key: str, text: str) -> str:
    """A literal block; what it cannot hold shows when the file is read back."""
    lines = text.split("\n")
    first = next((line for line in lines if line), "")
    indent = "2" if first.startswith(" ") else ""
    body = text.rstrip("\n")
    trailing = len(text) - len(body)
    chomp = "-" if not trailing else "+" if trailing > 1 else ""
    shown = "".join(f"  {line}\n" if line else "\n" for line in body.split("\n"))
    return f"{key}: |{indent}{chomp}\n{shown}" + "\n" * (trailing - 1)


def _comment(line: str) -> str:
    cleaned = "".join(character if character.isprintable() else " " for character in line)
    return cleaned if cleaned.startswith("#") else f"# {cleaned}".rstrip()


def _dump(task: Any, inline: dict[Path, str]) -> str:
    for path, text in inline.items():
        place = task
        for step in path[:-1]:
            place = place.get(step, {})
        if path[-1] in place:
            place.yaml_add_eol_comment(text, path[-1])
    stream = io.StringIO()
    _writer().dump(task, stream)
    return stream.getvalue().removesuffix("...\n")


def _prepared(value: Any, literal: bool, path: Path) -> Any:
    """The value with styles: texts of several lines as blocks, ambiguous ones in quotes."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if isinstance(value, dict):
        found = CommentedMap()
        for key, item in value.items():
            found[key] = _prepared(item, literal, (*path, key))
        return found
    if isinstance(value, list | tuple):
        return CommentedSeq([_prepared(item, literal, path) for item in value])
    if not isinstance(value, str):
        return value
    if literal and path == ("setup",):
        return LiteralScalarString(value)
    return value if _is_plain(value) else DoubleQuotedScalarString(value)


def scalar(text: str) -> str:
    """A text as a value of a line."""
    stream = io.StringIO()
    _writer().dump(_prepared({"k": text}, True, ()), stream)
    return stream.getvalue()[3:].rstrip("\n")


def _is_plain(text: str) -> bool:
    """Whether YAML 1.1 (and 1.2) reads the text without quotes as this very text."""
    if _SIMPLE.fullmatch(text) and text.lower() not in _TYPED:
        return True
    if not text or text != text.strip() or "\n" in text:
        return False
    if _looks_typed(text):
        return False
    try:
        return yaml.load(f"k: {text}\n", Loader=_loader()) == {"k": text}
    except yaml.YAMLError:
        return False


def _looks_typed(text: str) -> bool:
    """What some reader or other takes for a number, a time or a truth value."""
    if text[0].isdigit() or text[0] in "+-.":
        return all(character in "0123456789abcdefxABCDEFX_:.+-eEoO" for character in text)
    return text.lower() in _TYPED


@cache
def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _reads_as(text: str, task: dict[str, Any]) -> bool:
    try:
        return yaml.load(text, Loader=_loader()) == task
    except yaml.YAMLError:
        return False


def _lines(text: str) -> dict[Path, int]:
    """The line of every key, by its path."""
    found: dict[Path, int] = {}
    pending: list[tuple[Path, Any]] = [((), yaml.compose(text, Loader=_loader()))]
    while pending:
        path, node = pending.pop()
        if not isinstance(node, yaml.MappingNode):
            continue
        for key, value in node.value:
            inner = (*path, key.value)
            found[inner] = key.start_mark.line + 1
            pending.append((inner, value))
    return found
