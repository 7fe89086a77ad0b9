"""Printing: results to standard output, everything else to standard error."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import click

from compiler.diagnostics import Diagnostic, InvalidInput, Severity, TriplaneError
from compiler.diagnostics.json_text import json_text
from compiler.diagnostics.renderers import render
from compiler.diagnostics.renderers.display import visible

_LONG = 1.0  # seconds


def use_color(stream) -> bool:
    """Colour on a terminal, unless NO_COLOR says otherwise."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def is_terminal(stream) -> bool:
    """Whether somebody watches; a stream that was closed before the start is None."""
    return stream is not None and not stream.closed and stream.isatty()


def width(stream) -> int:
    """Columns of the terminal; 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns if is_terminal(stream) else 100


def print_diagnostics(
    diagnostics: Sequence[Diagnostic], format: str = "text", *, to_stdout: bool = False
) -> None:
    """Render diagnostics; machine formats always go to standard output."""
    machine = format in ("json", "sarif", "github")
    if not diagnostics and not machine:
        return
    stream = sys.stdout if to_stdout or machine else sys.stderr
    text = render(diagnostics, format, color=use_color(stream), width=width(stream))
    click.echo(text, nl=not text.endswith("\n"), err=stream is sys.stderr, color=True)


def print_error(error: TriplaneError) -> None:
    """An expected failure: its diagnostics, then its message."""
    print_diagnostics(error.diagnostics)
    if isinstance(error, InvalidInput):
        click.echo(summary(error.diagnostics), err=True)
    else:
        lines = "\n".join(visible(line) for line in str(error).splitlines())
        click.echo(f"error: {lines}", err=True)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`."""
    items = list(diagnostics)
    counts = []
    for severity in Severity:
        count = sum(item.severity is severity for item in items)
        if count:
            counts.append(f"{count} {severity}{'s' * (count != 1)}")
    return ", ".join(counts)


def print_json(shape: str, body: dict[str, object], *, indent: int | None = 1) -> None:
    """A machine-readable answer: `{"format_version", "kind", ...}`; one line without indent."""
    document = {"format_version": "1.0", "kind": shape, **body}
    note_answer()
    click.echo(json_text(document, indent=indent, sort_keys=True))


FORMAT = "triplane.format"
"""Where a command's context keeps the value of `--format`."""
_ANSWERED = "triplane.answered"


def note_answer() -> None:
    """From now on a failure prints no document of its own: there is one already."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta[_ANSWERED] = True


def answer_failure(context: click.Context, error: TriplaneError | OSError) -> None:
    """With `--format json`: a failure as a document too, unless the command has printed one."""
    if context.meta.get(FORMAT) != "json" or context.meta.get(_ANSWERED):
        return
    from compiler.diagnostics.renderers.json_format import diagnostic_to_json

    diagnostics = getattr(error, "diagnostics", ())
    body = {
        "exit_code": getattr(error, "exit_code", 1),
        "message": str(error),
        "diagnostics": [diagnostic_to_json(item) for item in diagnostics],
    }
    print_json("failure", body)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their content, without lines; nothing is cut, control characters shown."""
    table = [list(header), *[[visible(str(cell)) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    for index, row in enumerate(table):
        line = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        click.echo(click.style(line.rstrip(), bold=index == 0), color=use_color(sys.stdout))


@contextmanager
def taking_long(what: str) -> Iterator[None]:
    """Say on standard error what is going on, if it takes over a second and somebody watches."""
    if not is_terminal(sys.stderr):
        yield
        return
    timer = threading.Timer(_LONG, lambda: click.echo(f"{visible(what)} ...", err=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Progress:
    """Lines about what is going on, on standard error, unless `quiet`.

    Nobody reading them any more is no reason to stop half-way.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def __call__(self, text: str) -> None:
        if self.quiet:
            return
        try:
            click.echo(f"  {visible(text)}", err=True)
        except OSError:
            self.quiet = True
