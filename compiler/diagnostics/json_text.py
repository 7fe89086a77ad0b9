"""JSON that every reader takes, whatever texts are in it."""

from __future__ import annotations

import json
import re
from typing import Any

_surrogate = re.compile("[\ud800-\udfff]")


def json_text(document: Any, *, indent: int | None = 1, sort_keys: bool = False) -> str:
    """The document as JSON; halves of surrogate pairs (names of files that are no UTF-8) are
    written as JSON's own escapes."""
    text = json.dumps(document, indent=indent, ensure_ascii=False, sort_keys=sort_keys)
    return _surrogate.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
