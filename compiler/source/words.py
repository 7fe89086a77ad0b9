"""What a schema expects, in words."""

from __future__ import annotations

import json
import re
from typing import Any

from compiler.source.schemas import Node, resolved
from compiler.source.wording import TYPE_NAMES, listed, quoted

_any_case_letter = re.compile(r"\[([a-z])([A-Z])\]")
_any_case_word = re.compile(r"(?:\[[a-z][A-Z]\][0-9_]?){2,}")
_plain_alternative = re.compile(r"[A-Za-z0-9_-]+\Z")
_no_newline = "(?!\\n)"
_MOST_EXAMPLES = 3


def expectation(node: Node) -> str:
    """What a sub-schema admits: `a whole number of at least 1`, `one of a, b`, ..."""
    return listed(list(dict.fromkeys(_parts(node))))


def _parts(node: Node) -> list[str]:
    name, content = resolved(node)
    values = allowed_values(content)
    if values is not None:
        return [_written(value) for value in values]
    parts = [part for kind in _types(content) for part in _of_type(kind, content)]
    if not parts:
        branches = [(name, part) for key in ("anyOf", "oneOf") for part in content.get(key, ())]
        parts = [part for branch in branches if not is_variable(branch) for part in _parts(branch)]
    if not parts and "pattern" in content:
        parts = _text(content)
    return parts


def allowed_values(content: dict[str, Any]) -> list[Any] | None:
    """The values of an enum (also of one written as a pattern for any case), without null."""
    if "const" in content:
        return [content["const"]]
    if "enum" in content:
        return [value for value in content["enum"] if value is not None]
    return any_case_values(content) if set(_types(content)) <= {"string"} else None


def any_case_values(content: dict[str, Any]) -> list[str] | None:
    """The words of a pattern such as `^(?:[aA][wW][sS]|[gG][cC][pP])$`, or None for others."""
    pattern = content.get("pattern", "").removesuffix(_no_newline)
    if not (pattern.startswith("^(?:") and pattern.endswith(")$")):
        return None
    words = _any_case_letter.sub(_folded, pattern[4:-2]).split("|")
    if not all(_plain_alternative.match(word) for word in words):
        return None
    written = {text.lower(): text for text in content.get("examples", ()) if isinstance(text, str)}
    return [written.get(word.lower(), word) for word in words]


def any_case_words(content: dict[str, Any]) -> list[str]:
    """All words of at least two letters that a pattern spells in any case."""
    words = _any_case_word.findall(content.get("pattern", ""))
    return [_any_case_letter.sub(_folded, word) for word in words]


def is_variable(node: Node) -> bool:
    """Whether a branch stands for `$NAME`, which people do not mean unless they write a `$`."""
    return str(node[1].get("$ref", "")).endswith("/variable")


def types_in_words(types: set[str]) -> str:
    """JSON types as people call them; null only where there is nothing else."""
    names = [words for name, words in TYPE_NAMES.items() if name in types and name != "null"]
    return listed(names or [TYPE_NAMES["null"]])


def types_of(node: Node) -> set[str]:
    """All JSON types that a sub-schema names, its branches included."""
    types = node[1].get("type", [])
    found = {types} if isinstance(types, str) else set(types)
    for key in ("anyOf", "oneOf"):
        for branch in node[1].get(key, ()):
            found |= types_of((node[0], branch))
    return found


def _types(content: dict[str, Any]) -> list[str]:
    types = content.get("type", [])
    return [kind for kind in ([types] if isinstance(types, str) else types) if kind != "null"]


def _of_type(kind: str, content: dict[str, Any]) -> list[str]:
    if kind == "string":
        return _text(content)
    if kind == "boolean":
        return ["true", "false"]
    if kind in ("integer", "number"):
        return [TYPE_NAMES[kind] + _bounds(content)]
    if kind == "object" and content.get("minProperties") == content.get("maxProperties") == 1:
        return ["a map with one entry"]
    return [TYPE_NAMES[kind]]


def _bounds(content: dict[str, Any]) -> str:
    low, high = content.get("minimum"), content.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    if high is not None:
        return f" of at most {high}"
    above = content.get("exclusiveMinimum")
    return f" above {above}" if above is not None else ""


def _text(content: dict[str, Any]) -> list[str]:
    words = any_case_values(content)
    if words:
        return [_written(word) for word in words]
    examples = [
        text
        for text in content.get("examples", ())
        if isinstance(text, str) and re.search(content.get("pattern", ""), text)
    ]
    if examples and ("pattern" in content or "minLength" in content):
        return [f"a text such as {listed([quoted(text) for text in examples[:_MOST_EXAMPLES]])}"]
    if "pattern" in content:
        pattern = _any_case_letter.sub(_folded, content["pattern"].removesuffix(_no_newline))
        return [f"a text that matches {quoted(pattern)}"]
    if "maxLength" in content:
        return [f"a text of at most {content['maxLength']} characters"]
    return ["a text that is not empty" if content.get("minLength") else "a text"]


def _folded(letters: re.Match[str]) -> str:
    small, large = letters.groups()
    return small if small.upper() == large else letters.group()


def _written(value: Any) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"
