"""Scalars as YAML 1.1 reads them, and where YAML 1.2 would read another value.

SkyPilot reads with PyYAML, so its tables decide what a plain scalar is: `on` is true, `12:30`
the base-60 number 750, `014` twelve, `1e3` text.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Final

from yaml.resolver import Resolver

from compiler.source.limits import MAX_NUMBER_LENGTH

_PREFIX = "tag:yaml.org,2002:"
STR: Final = _PREFIX + "str"
MAP: Final = _PREFIX + "map"
SEQ: Final = _PREFIX + "seq"
NULL: Final = _PREFIX + "null"
BOOL: Final = _PREFIX + "bool"
INT: Final = _PREFIX + "int"
FLOAT: Final = _PREFIX + "float"
TIMESTAMP: Final = _PREFIX + "timestamp"
MERGE: Final = _PREFIX + "merge"
VALUE: Final = _PREFIX + "value"

DIFFERS: Final[dict[str, str]] = {
    tag: f"1.2 differs {tag}" for tag in (STR, NULL, BOOL, INT, FLOAT, TIMESTAMP)
}
"""Stand-ins for tags of plain scalars that YAML 1.2 reads otherwise (never written in a file)."""
SAME: Final[dict[str, str]] = {differing: tag for tag, differing in DIFFERS.items()}
"""The tag behind each stand-in."""

_resolvers = Resolver.yaml_implicit_resolvers
_true = frozenset({"yes", "true", "on"})
_bool_1_2 = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
_int_1_2 = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")
_float_1_2 = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)


SPECIAL_STARTS: Final = frozenset(_resolvers)
"""First characters of plain scalars that may be something else than text ('' for empty ones)."""


class ScalarRefused(ValueError):
    """The text looks like a number or boolean but no usable value can be made of it."""


def plain_tag(text: str) -> str:
    """The tag of a plain scalar: one of the tags above, or a stand-in from `DIFFERS`."""
    candidates = _resolvers.get(text[:1])
    if candidates is None:
        return STR
    for tag, pattern in candidates:
        if pattern.match(text):
            return DIFFERS[tag] if tag in DIFFERS and _differs(tag, text) else tag
    return DIFFERS[STR] if _differs(STR, text) else STR


known_tag = lru_cache(maxsize=4096)(plain_tag)
"""The same, remembered: files say `true`, `8` and `name` over and over."""


def _differs(tag: str, text: str) -> bool:
    """Whether the core schema of YAML 1.2 makes another value of a plain scalar."""
    if tag == NULL:
        return False
    if tag == BOOL:
        return text not in _bool_1_2
    if tag == TIMESTAMP:
        return True
    if tag == STR:
        return bool(_int_1_2.match(text) or _float_1_2.match(text))
    if len(text) > MAX_NUMBER_LENGTH:
        return False
    if tag == INT:
        try:
            return not _int_1_2.match(text) or int_value(text) != _int_value_1_2(text)
        except ScalarRefused:
            return True
    return not _float_1_2.match(text)


def _int_value_1_2(text: str) -> int:
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def bool_value(text: str) -> bool:
    if text.lower() in _true:
        return True
    if text.lower() in ("no", "false", "off"):
        return False
    raise ScalarRefused


def int_value(text: str) -> int:
    """A YAML 1.1 integer; raises ScalarRefused where there is none."""
    if text.isdecimal() and text[0] != "0" and len(text) < 20:
        return int(text)
    if len(text) > MAX_NUMBER_LENGTH:
        raise ScalarRefused
    sign = -1 if text.startswith("-") else 1
    digits = text.replace("_", "").lstrip("+-")
    try:
        if digits.startswith("0b"):
            return sign * int(digits[2:], 2)
        if digits.startswith("0x"):
            return sign * int(digits[2:], 16)
        if digits.startswith("0"):
            return sign * int(digits, 8)
        if ":" in digits:
            value = 0
            for part in digits.split(":"):
                value = value * 60 + int(part)
            return sign * value
        return sign * int(digits)
    except ValueError:
        raise ScalarRefused from None


def float_value(text: str) -> float:
    """A finite YAML 1.1 float; raises ScalarRefused for `.inf`, `.nan` and what is none."""
    if len(text) > MAX_NUMBER_LENGTH:
        raise ScalarRefused
    sign = -1.0 if text.startswith("-") else 1.0
    digits = text.replace("_", "").lstrip("+-").lower()
    try:
        if ":" in digits:
            # From the right, as PyYAML sums, so that rounding is the same.
            value, base = 0.0, 1
            for part in reversed(digits.split(":")):
                value += float(part) * base
                base *= 60
        else:
            value = float(digits)
    except ValueError:
        raise ScalarRefused from None
    if not math.isfinite(value):
        raise ScalarRefused
    return sign * value
