"""Text, a file or standard input to documents. Findings go to the collector; nothing is raised."""

from __future__ import annotations

import codecs
import os
import pathlib
import sys

from yaml.error import YAMLError
from yaml.nodes import Node, ScalarNode

from compiler.diagnostics import Diagnostic, Diagnostics, SourceText, Span
from compiler.diagnostics.codes import source as codes
from compiler.source.data import Converter
from compiler.source.document import Document
from compiler.source.findings import Findings
from compiler.source.hiding import hide_secrets, hide_secrets_in_lines
from compiler.source.kinds import classify
from compiler.source.limits import MAX_FILE_BYTES
from compiler.source.nodes import LimitExceeded, compose
from compiler.source.positions import children, span_of
from compiler.source.scalars import NULL
from compiler.source.special import special_kind
from compiler.source.syntax import fault, recursion
from compiler.source.wording import kind_of, quoted

STDIN_LABEL = "<stdin>"
# Nearly all files are smaller: room for the largest one takes longer than reading them.
_FIRST_BYTES = 1 << 16
_nul_escapes = ("\\0", "\\x00", "\\u0000", "\\U00000000")


def read_text(text: str, label: str, diagnostics: Diagnostics) -> list[Document]:
    """The documents of a YAML text; `label` is the path that messages show.

    Empty documents are skipped. A broken document is reported and left out, the others are
    returned: whoever goes on must look at `diagnostics.has_errors`.
    """
    source = SourceText(label, text.removeprefix("\ufeff"))
    if len(text) > MAX_FILE_BYTES:
        _too_large(label, diagnostics)
        return []
    documents: list[Document] = []
    faults: list[YAMLError] = []
    complete, empty = True, True
    may_hold_nul = any(escape in source.text for escape in _nul_escapes)
    for index, root in compose(source.text, faults):
        if isinstance(root, ScalarNode) and root.tag == NULL:
            continue
        empty = empty and not root.value
        hide_secrets(source, root)
        data = _data(source, root, diagnostics)
        if may_hold_nul:
            _report_nul(source, root, diagnostics)
        if isinstance(data, dict):
            documents.append(Document(source, index, classify(data), data))
        else:
            complete = False
    if faults:
        hide_secrets_in_lines(source)
        diagnostics.extend(fault(source, error) for error in faults)
    elif complete and empty:
        diagnostics.add(
            codes.EMPTY_DOCUMENT.at(
                Span.of_whole_line(source, 1),
                "there is nothing in this file: no task, volume, group or stack",
                hint="write at least one field, for example `run: echo hello`",
            )
        )
        return []
    return documents


def read_file(path: str | os.PathLike[str], diagnostics: Diagnostics) -> list[Document]:
    """The documents of a file (UTF-8, with or without a byte order mark)."""
    label = shown_path(path)
    try:
        kind = special_kind(path)
        if kind is not None:
            diagnostics.add(special_file(label, kind))
            return []
        with open(path, "rb") as file:
            content = file.read(_FIRST_BYTES)
            if len(content) == _FIRST_BYTES:
                content += file.read(MAX_FILE_BYTES + 1 - _FIRST_BYTES)
    except FileNotFoundError:
        diagnostics.add(file_not_found(label))
        return []
    except (OSError, ValueError) as error:
        diagnostics.add(file_unreadable(label, error))
        return []
    return _read_bytes(content, label, diagnostics)


def read_stdin(diagnostics: Diagnostics) -> list[Document]:
    """The documents on standard input."""
    if sys.stdin is None:  # closed by whoever started us
        diagnostics.add(file_unreadable(STDIN_LABEL, ValueError("it is closed")))
        return []
    try:
        content = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        diagnostics.add(file_unreadable(STDIN_LABEL, error))
        return []
    return _read_bytes(content, STDIN_LABEL, diagnostics)


def shown_path(path: str | os.PathLike[str]) -> str:
    """The path for messages: relative to the current folder where it lies below it.

    Bytes that are no UTF-8 stay as Python has them, so that the file is found by it again;
    what prints it shows them as escapes.
    """
    text = os.fspath(path)
    here = str(pathlib.Path.cwd()).rstrip("/") + "/"
    if f"{text}/".startswith(here):
        text = text[len(here) :].lstrip("/") or "."
    return os.path.normpath(text)


def _read_bytes(content: bytes, label: str, diagnostics: Diagnostics) -> list[Document]:
    if len(content) > MAX_FILE_BYTES:
        _too_large(label, diagnostics)
        return []
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        return read_text(content.decode("utf-8"), label, diagnostics)
    except UnicodeDecodeError as error:
        source = SourceText(label, content.decode("utf-8", "replace"))
        before = content[: error.start].decode("utf-8") + "."
        number, column = len(before.splitlines()), len(before.splitlines()[-1])
        hide_secrets_in_lines(source)
        diagnostics.add(
            codes.NOT_UTF_8.at(
                Span(source, number, column, number, column + 1),
                f"the byte 0x{content[error.start]:02x} is not UTF-8 here",
                hint="save the file as UTF-8",
            )
        )
        return []


def _data(source: SourceText, root: Node, diagnostics: Diagnostics) -> object:
    """The map of one document, or None where there is none (which is reported)."""
    try:
        data = Converter(source, root, diagnostics).convert()
    except LimitExceeded as error:
        diagnostics.add(recursion(source, root) or fault(source, error))
        return None
    if isinstance(data, dict):
        return data
    hint = "write `field: value`; separate documents with `---`"
    if isinstance(data, str) and ":" in data:
        hint = "write `field: value`, with a blank after the colon"
    span = span_of(source, root)
    diagnostics.add(
        codes.NOT_A_MAP.at(
            Span(source, span.line, span.column, span.line, _end_in_line(span)),
            f"a document must be a map of fields, this one is {kind_of(data)}",
            hint=hint,
        )
    )
    return None


def _end_in_line(span: Span) -> int:
    if span.end_line == span.line:
        return span.end_column
    return len(span.source.line(span.line)) + 1


def _report_nul(source: SourceText, root: Node, diagnostics: Diagnostics) -> None:
    """Reports NUL characters, which YAML can spell only as escapes in double quotes."""
    findings = Findings(source, diagnostics)
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, ScalarNode):
            stack.extend(children(node))
        elif "\0" in node.value:
            findings.nul(node)


def file_not_found(label: str) -> Diagnostic:
    return codes.FILE_NOT_FOUND.at(
        None,
        f"there is no file or folder {quoted(label)}",
        hint="check the spelling and the current folder",
    )


def file_unreadable(label: str, error: Exception) -> Diagnostic:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return codes.FILE_UNREADABLE.at(None, f"{quoted(label)} cannot be read: {reason}")


def special_file(label: str, kind: str) -> Diagnostic:
    return codes.NO_REGULAR_FILE.at(
        None,
        f"{quoted(label)} is {kind}, and no file",
        hint="name a file, or `-` for standard input",
    )


def _too_large(label: str, diagnostics: Diagnostics) -> None:
    diagnostics.add(
        codes.FILE_TOO_LARGE.at(
            None,
            f"{quoted(label)} is larger than {MAX_FILE_BYTES // 1024**2} MiB",
            hint="split the file, or take data out of it",
        )
    )
