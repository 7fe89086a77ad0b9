"""Answers that no Kubernetes API server gives: something else listens at the address."""

from __future__ import annotations

import json

from compiler.diagnostics import TargetUnreachable


def strange_answer(status: int, content_type: str, data: bytes) -> str | None:
    """What is strange about an answer, None where an API server may have given it.

    A server's errors are objects of kind Status, or (of a path that it does not know) plain
    text; it has no pages.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml"):
        return f"status {status} with a web page"
    if status < 400 or not kind.endswith("json"):
        return None
    try:
        body = json.loads(data)
    except ValueError:
        return f"status {status} with broken JSON"
    if not isinstance(body, dict) or body.get("kind") != "Status":
        return f"status {status} without a Status"
    return None


def no_api_server(target: str, server: str, strange: str) -> TargetUnreachable:
    return TargetUnreachable(
        target, f"{server} answers, but not as a Kubernetes API server does ({strange})"
    )
