"""Canonical YAML: the same data gives the same text, and a string can never become structure.

Block style, keys in a fixed order, texts of several lines as literal blocks. A string is
written plain only if YAML 1.1 and 1.2 both read it as that string; every other one is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from compiler.rendering.quoting import yaml_scalar

# The order in which people expect the fields of a manifest; all others follow by name.
_FIRST = (
    "apiVersion kind metadata name namespace labels annotations immutable type data binaryData"
    " completionMode completions parallelism backoffLimit clusterIP publishNotReadyAddresses"
    " selector template spec restartPolicy subdomain priorityClassName serviceAccountName"
    " nodeSelector affinity tolerations initContainers containers image command args env"
    " resources requests limits readinessProbe volumeMounts volumes key operator values"
)
_RANK = {name: f"\0{index:02}" for index, name in enumerate(_FIRST.split())}

# Starts with a letter or a slash and holds nothing that YAML gives a meaning to.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./@+=-]*(?::[A-Za-z0-9_./@+=-]+)*")
# What a YAML 1.1 reader makes something else of, whatever the case.
_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "y", "n", "null"))
# Characters that YAML does not print or takes for a line break.
_NOT_PRINTED = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_BLANKS = "\t "
_NESTED = (dict, list, tuple)


def document(value: Mapping[str, object]) -> str:
    """A whole document."""
    return block(value) + "\n"


def block(
    value: Mapping[str, object] | Sequence[object], indent: int = 0, leave_out: str | None = None
) -> str:
    """A map or list that is not empty in block style, each line `indent` deep, without the
    last line break; `leave_out` is a key that the template lays out itself. Raise ValueError
    for what a manifest cannot hold."""
    lines: list[str] = []
    margin = " " * indent
    if isinstance(value, Mapping):
        if leave_out is not None:
            value = {key: item for key, item in value.items() if key != leave_out}
        _map(value, margin, lines)
    else:
        _list(value, margin, lines)
    return "\n".join(lines)


def _map(value: Mapping[str, object], margin: str, lines: list[str]) -> None:
    for key, head in _heads(tuple(value), margin):
        item = value[key]
        if type(item) is str:  # most are
            lines.append(f"{head} {_text(item, margin)}")
        else:
            _entry(head, item, margin, lines)


@lru_cache(maxsize=4096)
def _heads(keys: tuple[str, ...], margin: str) -> tuple[tuple[str, str], ...]:
    """(key, what stands before its value) in the order of writing."""
    return tuple((key, f"{margin}{_word(key)}:") for key in sorted(keys, key=_order))


def _list(value: Sequence[object], margin: str, lines: list[str]) -> None:
    for item in value:
        if item and isinstance(item, _NESTED):
            first = len(lines)
            if isinstance(item, dict):
                _map(item, margin + "  ", lines)
            else:
                _list(item, margin + "  ", lines)
            lines[first] = f"{margin}- {lines[first][len(margin) + 2 :]}"
        else:
            _entry(f"{margin}-", item, margin, lines)


def _entry(head: str, item: object, margin: str, lines: list[str]) -> None:
    """`head` and the value after it; what is nested goes to lines of its own."""
    if type(item) is str:
        lines.append(f"{head} {_text(item, margin)}")
    elif not isinstance(item, _NESTED):
        lines.append(f"{head} {scalar(item)}")
    elif not item:
        lines.append(f"{head} {{}}" if isinstance(item, dict) else f"{head} []")
    elif isinstance(item, dict):
        lines.append(head)
        _map(item, margin + "  ", lines)
    else:
        lines.append(head)
        _list(item, margin, lines)


def _order(key: str) -> str:
    return _RANK.get(key, key)


def _text(value: str, margin: str) -> str:
    """A string below a line at `margin`: a literal block if it has several lines."""
    if "\n" in value:
        known = _block_text if len(value) <= _LONG else _literal_or_quoted
        return known(value, margin)
    return _word(value) if len(value) <= _SHORT else _quoted(value)


def _literal_or_quoted(value: str, margin: str) -> str:
    first, last = value[: value.index("\n")], value[value.rindex("\n") + 1 :]
    # indentation or chomping would touch a first or last line of nothing but blanks
    blank = not first.strip(_BLANKS) or (last and not last.strip(_BLANKS))
    if blank or _NOT_PRINTED.search(value):
        return _quoted(value)
    return _literal(value, margin + "  ")


def _quoted(value: str) -> str:
    """A string in one line: plain if that is safe."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return yaml_scalar(value)


# Words repeat within and between manifests, and the launcher's texts are the same in all.
_SHORT, _LONG = 200, 50_000
_word = lru_cache(maxsize=4096)(_quoted)
_block_text = lru_cache(maxsize=64)(_literal_or_quoted)


def scalar(value: object) -> str:
    """A scalar in one line. Raise ValueError for a NUL character, half a surrogate pair, and
    for numbers that JSON does not have."""
    if isinstance(value, str):
        return _word(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"{value} has no form in a manifest")
        if value == int(value):
            return str(int(value))
        plain = repr(value)
        mantissa, _, exponent = plain.partition("e")
        # YAML 1.1 wants a point before the exponent and a sign after it
        if not exponent:
            return plain
        point = "" if "." in mantissa else ".0"
        return f"{mantissa}{point}e{exponent if exponent[0] == '-' else '+' + exponent.lstrip('+')}"
    raise ValueError(f"a {type(value).__name__} has no form in a manifest")


def _literal(value: str, margin: str) -> str:
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    chomping = ("-", "", "+")[min(ends, 2)]
    # Blanks at the very start would be taken for indentation.
    indicator = "2" if body.startswith((" ", "\t")) else ""
    lines = [margin + line if line else "" for line in body.split("\n")]
    lines += [""] * (ends - 1)
    return f"|{indicator}{chomping}\n" + "\n".join(lines)
