"""What the building functions share: the document, the surroundings, and where to report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from compiler.diagnostics import Code, Diagnostic, Diagnostics, Related, Span
from compiler.diagnostics.codes.model import UNEXPECTED_VALUE
from compiler.model.origin import Origin
from compiler.source.wording import described, listed, quoted

if TYPE_CHECKING:
    from compiler.source import Document, Path

DeviceLookup = Callable[[float, bool, str | None], Sequence[str]]
"""`lookup(gib, at_least, maker)`: canonical names of the devices with that much memory."""

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")


class Malformed(ValueError):
    """Text (or a number) that a parsing function cannot read; `args[0]` says why."""

    def __init__(
        self, message: str, *, expected: str | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.expected = expected
        self.hint = hint


class Builder:
    """One document on its way into the model.

    `data` is the document's content, with substitution applied once that has been done.
    `environ` and `root` (the folder of relative paths, the current one by default) are the
    only things outside of the document that building looks at, and `root` only if
    `check_files` is set.
    """

    __slots__ = (
        "check_files",
        "data",
        "diagnostics",
        "document",
        "environ",
        "lookup",
        "renamed",
        "root",
    )

    def __init__(
        self,
        document: Document,
        *,
        environ: Mapping[str, str],
        root: str | None = None,
        check_files: bool = False,
        lookup: DeviceLookup | None = None,
    ) -> None:
        content = document.data
        self.document = document
        # A key without a value is an absent key at the top of a document.
        self.data: dict[str, object] = (
            {key: value for key, value in content.items() if value is not None}
            if isinstance(content, dict)
            else {}
        )
        self.diagnostics = Diagnostics()
        self.environ = environ
        self.root = root
        self.check_files = check_files
        self.lookup = lookup
        self.renamed: dict[Path, str | int] = {}

    def written(self, path: Path) -> Path:
        """`path` with every key as it stands in the file, before substitution."""
        if not self.renamed:
            return path
        return tuple(self.renamed.get(path[: at + 1], step) for at, step in enumerate(path))

    def origin(self, *path: str | int) -> Origin:
        return Origin(self.document, self.written(path))

    def span(self, path: Path) -> Span:
        return self.document.span(self.written(path))

    def key_span(self, path: Path) -> Span:
        return self.document.key_span(self.written(path))

    def report(
        self,
        code: Code,
        path: Path,
        message: str,
        *,
        at_key: bool = False,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
        related: Iterable[Related] = (),
    ) -> None:
        """Add a diagnostic at the value that `path` leads to, or at its key."""
        span = self.key_span(path) if at_key else self.span(path)
        self.diagnostics.add(
            code.at(span, message, found=found, expected=expected, hint=hint, related=related)
        )

    def unexpected(self, path: Path, value: object, expected: str) -> None:
        """Report a value of a kind that the schema does not admit here."""
        self.report(
            UNEXPECTED_VALUE,
            path,
            f"`{_last_name(path)}` cannot be {shown(value)}",
            found=described(value),
            expected=expected,
        )

    def parsed(
        self, code: Code, path: Path, parse: Callable[[_Value], _Result], value: _Value
    ) -> _Result | None:
        """`parse(value)`, or None and a diagnostic of `code` where it raises Malformed."""
        try:
            return parse(value)
        except Malformed as problem:
            self.report(
                code,
                path,
                str(problem),
                found=described(value),
                expected=problem.expected,
                hint=problem.hint,
            )
            return None

    def only_keys(
        self, code: Code, path: Path, value: Mapping[str, object], known: Sequence[str]
    ) -> None:
        """Report, under `code`, each key of `value` that is none of `known`."""
        for key in value:
            if key not in known:
                from compiler.source.suggestions import suggest

                near = suggest(key, known) if isinstance(key, str) else None
                self.report(
                    code,
                    (*path, key),
                    f"unknown key `{key}`",
                    at_key=True,
                    expected=listed(known),
                    hint=f"did you mean `{near}`?" if near else None,
                )

    def mapping(self, path: Path, value: object) -> dict[str, object]:
        """`value` as a map with text keys; anything else is reported and taken as empty."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.unexpected(path, value, "a map")
        return {}

    def text(self, path: Path, value: object) -> str | None:
        """`value` if it is text; None is absent, anything else is reported."""
        if value is None or isinstance(value, str):
            return value
        self.unexpected(path, value, "text")
        return None

    def number(self, path: Path, value: object) -> float | None:
        if value is None or is_number(value):
            return value  # type: ignore[return-value]
        self.unexpected(path, value, "a number")
        return None

    def integer(self, path: Path, value: object, least: int | None = None) -> int | None:
        if value is None:
            return None
        if is_number(value) and value == int(value):  # type: ignore[call-overload]
            whole = int(value)  # type: ignore[call-overload]
            if least is None or whole >= least:
                return whole
        self.unexpected(path, value, "an integer" if least is None else f"an integer >= {least}")
        return None

    def flag(self, path: Path, value: object, default: bool) -> bool:
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        self.unexpected(path, value, "true or false")
        return default


def is_number(value: object) -> bool:
    """Whether `value` is a finite number (a boolean is none)."""
    if isinstance(value, float):
        return value - value == 0.0
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """A value as messages quote it."""
    return quoted(value) if isinstance(value, str) else described(value)


def combined(found: Diagnostics, built: Diagnostics) -> list[Diagnostic]:
    """What the schema `found` and what building said, each fault once.

    Where both speak about the very same range, the rule of the model says it better; that a
    value is unexpected the schema has said already. Nothing more is said about a value that the
    reader has refused.
    """
    if not found.has_errors:
        return _readable([*found, *built])
    further = [item for item in built if item.code != UNEXPECTED_VALUE.name]
    said = {item.span for item in further}
    return _readable(
        [*(item for item in found if item.span is None or item.span not in said), *further]
    )


def _readable(items: list[Diagnostic]) -> list[Diagnostic]:
    return [
        item for item in items if item.span is None or item.span not in item.span.source.refused
    ]


def _last_name(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "the document")
