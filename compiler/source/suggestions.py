"""Did you mean: the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable

_MAX_LENGTH = 80


def suggest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word`, or None when none is near.

    Case and the choice between `-` and `_` do not count as differences.
    """
    if not word or len(word) > _MAX_LENGTH:
        return None
    plain: dict[str, str] = {}
    for candidate in sorted(candidates):
        plain.setdefault(_plain(candidate), candidate)
    wanted = _plain(word)
    if wanted in plain:
        return plain[wanted]
    import difflib

    near = difflib.get_close_matches(wanted, list(plain), n=1, cutoff=0.65)
    return plain[near[0]] if near else None


def _plain(word: str) -> str:
    return word.lower().replace("-", "_")
