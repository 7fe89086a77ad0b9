"""Checks of a rendered text for what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import aws as codes
from compiler.model import TargetSpec
from compiler.rendering.artifact import Artifact, ArtifactKind

USER_DATA_LIMIT = 16384
"""Bytes, before the encoding in base64."""

_VALUES = re.compile(
    r'"(?:[^"\\\n]|\\(?:["\'\\abfnrtv]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}|U0010[0-9a-f]{4}))*"'
    r"|\b(?:0|[1-9][0-9]*)\b"
)


def verify_artifact(artifact: Artifact, target: TargetSpec) -> Iterator[Diagnostic]:
    """Findings are faults of ours: nothing that a user writes becomes part of a program."""
    if artifact.kind is ArtifactKind.PROGRAM:
        if error := program_error(artifact.text):
            yield codes.PROGRAM_INVALID.at(
                None, f"{artifact.path} is not valid Python: {error}", target=target.key
            )
    elif artifact.name.startswith("UserData/"):
        size = len(artifact.text.encode())
        if size > USER_DATA_LIMIT:
            yield codes.USER_DATA_SIZE.at(
                None,
                f"{artifact.path} has {size} bytes, EC2 takes {USER_DATA_LIMIT}",
                target=target.key,
            )


def program_error(text: str) -> str | None:
    """Why Python cannot compile the text, None if it can.

    Programs of one template differ in strings and numbers only. Those are taken out where
    they are well formed, so that each shape of program is compiled once.
    """
    if _compile(_VALUES.sub("0", text)) is None:
        return None
    return _compile(text)


@lru_cache(maxsize=256)
def _compile(text: str) -> str | None:
    try:
        compile(text, "<program>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None
