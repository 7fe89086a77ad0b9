"""Writing reports while results come in: nothing is kept but the summary."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from compiler.migration.reporting import html_page, json_format, markdown, text
from compiler.migration.reporting.summary import Summary
from compiler.migration.result import Migration

FORMATS = ("text", "json", "markdown", "html")


class Writable(Protocol):
    def write(self, text: str, /) -> object: ...


def write_report(
    results: Iterable[Migration], format: str, stream: Writable, single: bool
) -> Summary:
    """Write the report of every script, and a summary where there are several.

    Text of several scripts is the summary alone: the reports of thousands are for a file.
    JSON has the YAML too.
    """
    summary = Summary()
    if format == "html":
        for piece in html_page.page(results, summary):
            stream.write(piece)
    elif format == "json":
        _json(results, stream, summary)
    elif format == "markdown":
        for migration in results:
            summary.add(migration)
            stream.write(markdown.report(migration) + "\n")
        if not single:
            stream.write(f"## Summary\n\n```\n{summary.text()}```\n")
    else:
        for migration in results:
            summary.add(migration)
            if single or migration.status.is_failure:
                stream.write(text.report(migration))
        if not single:
            stream.write(summary.text())
    return summary


def _json(results: Iterable[Migration], stream: Writable, summary: Summary) -> None:
    stream.write(f'{{"format_version": "{json_format.VERSION}", "kind": "migration",\n')
    stream.write('"scripts": [')
    separator = "\n"
    for migration in results:
        summary.add(migration)
        body = json_format.report(migration) | {"yaml": migration.yaml}
        stream.write(separator + json.dumps(body, ensure_ascii=False, sort_keys=True))
        separator = ",\n"
    data = json.dumps(summary.data(), ensure_ascii=False, sort_keys=True)
    stream.write(f'\n], "summary": {data}}}\n')
