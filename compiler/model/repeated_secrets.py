"""Values of secrets that the file says once more, where they are rendered like any text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import SourceText, Span
from compiler.diagnostics.codes.model import SECRET_REPEATED
from compiler.model.builder import Builder
from compiler.model.task import Secret
from compiler.source.paths import Path, dotted
from compiler.source.wording import quoted

SHORTEST = 6
"""Characters; shorter values are words that texts hold anyway."""

_KEPT = ("secrets", "managed_secrets")


def check_repeated(b: Builder, secrets: Mapping[str, Secret]) -> None:
    """Warn of each field with the value of a secret in it, and never quote that text."""
    text = b.document.source.text
    for name, secret in secrets.items():
        value = secret.value
        if not value or len(value.strip()) < SHORTEST or value not in text:
            continue
        found = list(_holding(value, (), b.document.data))
        if not found:
            continue
        for path in found:
            b.report(
                SECRET_REPEATED,
                path,
                f"the value of the secret {quoted(name)} is written in {quoted(dotted(path))}",
                at_key=True,
                hint=f"name it instead: `${name}`"
                if path[0] in ("setup", "run")
                else "what stands outside of `secrets` is rendered and shown",
            )
        b.document.source.secrets.add(value)
        for span in _spans(b.document.source, value):
            b.document.source.hide(span)


def _holding(value: str, path: Path, data: object) -> Iterator[Path]:
    """The paths of the texts with the value in them."""
    if isinstance(data, str):
        if value in data:
            yield path
    elif isinstance(data, dict):
        for key, item in data.items():
            if path or key not in _KEPT:
                yield from _holding(value, (*path, key), item)
    elif isinstance(data, list):
        for at, item in enumerate(data):
            yield from _holding(value, (*path, at), item)


def _spans(source: SourceText, value: str) -> Iterator[Span]:
    """Where a value of one line stands in the text."""
    for number, line in enumerate(source.lines, start=1):
        start = line.find(value)
        while start >= 0:
            span = Span(source, number, start + 1, number, start + len(value) + 1)
            if not source.hides(span):
                yield span
            start = line.find(value, start + len(value))
