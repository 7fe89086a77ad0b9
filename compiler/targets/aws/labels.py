"""Labels of the dialect as tags of AWS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import aws as codes
from compiler.model import Origin, TargetSpec

_KEY = re.compile(r"[A-Za-z0-9+=.,_:@-]{1,128}")
_VALUE_LIMIT = 256


def tag_problem(key: str, value: str) -> str | None:
    """Why a label cannot be a tag that instances read from their metadata; None if it can."""
    if key == "Name" or key.lower().startswith(("aws:", "triplane:")):
        return "is one that triplane or AWS sets itself"
    if not _KEY.fullmatch(key) or key in (".", "..", "_index"):
        return "has characters that a tag of an instance cannot have"
    if len(value) > _VALUE_LIMIT:
        return f"has a value of more than {_VALUE_LIMIT} characters"
    return None


def label_faults(
    labels: Mapping[str, str], origin: Origin, target: TargetSpec
) -> Iterator[Diagnostic]:
    """`origin` is that of the labels."""
    for key, value in labels.items():
        if problem := tag_problem(key, value):
            yield codes.LABEL.at(
                origin.key_span(key), f"label `{key}` {problem}", target=target.key
            )
