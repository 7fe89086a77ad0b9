"""YAML that people keep: comments, a stable order, and strings that stay strings.

Written by PyYAML's C emitter (ten times as fast as a writer in Python, which matters with
thousands of scripts), and read back by the dialect's own reader: where that finds anything
else than what was meant, the text is written in a plainer form.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import yaml

from compiler.migration.result import Path

_SCHEMAS = "https://triplane.dev/schemas"
_SIMPLE = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+-]*")
_TYPED = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~")
_WIDTH = 1 << 20  # nothing is folded


class _Quoted(str):
    """A text that is written in double quotes."""

    __slots__ = ()


def compose(
    task: dict[str, Any], comments: list[str], inline: dict[Path, str], schema: str = "task"
) -> tuple[str, dict[Path, int]]:
    """(the document's text, the line of every path in it). `comments` stand at the top, `inline`
    beside values of one line; `schema` is what an editor checks it by.

    Raise ValueError where YAML cannot hold the task.
    """
    schema_line = f"# yaml-language-server: $schema={_SCHEMAS}/{schema}.schema.json"
    head = [schema_line, *map(_comment, comments)]
    for write in (_with_block, _dump):
        text = "\n".join(head) + "\n" + write(task)
        if not _reads_as(text, task):
            continue
        lines = _lines(text)
        commented = _beside(text, lines, inline)
        return (commented if _reads_as(commented, task) else text), lines
    raise ValueError("the task has no form in YAML")


def _comment(line: str) -> str:
    cleaned = "".join(character if character.isprintable() else " " for character in line)
    return cleaned if cleaned.startswith("#") else f"# {cleaned}".rstrip()


def _with_block(task: dict[str, Any]) -> str:
    """The text of `run`, which comes last, as a block."""
    rest = {key: value for key, value in task.items() if key != "run"}
    text = _dump(rest) if rest else ""
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


def _dump(task: Any) -> str:
    try:
        return yaml.dump(
            _prepared(task),
            Dumper=_dumper(),
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=False,
            width=_WIDTH,
        )
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise ValueError(f"the task has no form in YAML: {error}") from None


@cache
def _dumper() -> Any:
    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def ignore_aliases(self, data: object) -> bool:
            return True

    def quoted(dumper: Any, text: _Quoted) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')

    Dumper.add_representer(_Quoted, quoted)
    return Dumper


def _prepared(value: Any) -> Any:
    """The value with every text in quotes that some reader would take for something else."""
    if isinstance(value, dict):
        return {key: _prepared(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_prepared(item) for item in value]
    if isinstance(value, str) and not is_plain(value):
        return _Quoted(value)
    return value


def scalar(text: str) -> str:
    """A text as a value of a line."""
    return _dump({"k": text})[3:].rstrip("\n")


def is_plain(text: str) -> bool:
    """Whether YAML 1.1 (and 1.2) reads the text without quotes as this very text."""
    if _SIMPLE.fullmatch(text) and text.lower() not in _TYPED:
        return True
    if not text or text != text.strip() or "\n" in text:
        return False
    if _looks_typed(text):
        return False
    try:
        return yaml.load(f"k: {text}\n", Loader=loader()) == {"k": text}
    except (yaml.YAMLError, UnicodeEncodeError):
        return False


def _looks_typed(text: str) -> bool:
    """What some reader or other takes for a number, a time or a truth value."""
    if text[0].isdigit() or text[0] in "+-.":
        return all(character in "0123456789abcdefxABCDEFX_:.+-eEoO" for character in text)
    return text.lower() in _TYPED


@cache
def loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _reads_as(text: str, task: dict[str, Any]) -> bool:
    try:
        return yaml.load(text, Loader=loader()) == task
    except (yaml.YAMLError, UnicodeEncodeError):
        return False


def _lines(text: str) -> dict[Path, int]:
    """The line of every key, by its path."""
    found: dict[Path, int] = {}
    pending: list[tuple[Path, Any]] = [((), yaml.compose(text, Loader=loader()))]
    while pending:
        path, node = pending.pop()
        if not isinstance(node, yaml.MappingNode):
            continue
        for key, value in node.value:
            inner = (*path, key.value)
            found[inner] = key.start_mark.line + 1
            pending.append((inner, value))
    return found


def _beside(text: str, lines: dict[Path, int], inline: dict[Path, str]) -> str:
    """The text with comments behind the values of some paths."""
    if not inline:
        return text
    shown = text.split("\n")
    for path, comment in inline.items():
        if path in lines:
            shown[lines[path] - 1] += f"  {_comment(comment)}"
    return "\n".join(shown)
