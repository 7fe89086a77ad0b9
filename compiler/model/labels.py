"""Labels: text, and what each platform allows in their keys and values."""

from __future__ import annotations

import re
from collections.abc import Callable

from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, shown
from compiler.source.paths import Path
from compiler.source.wording import described

_name = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_kubernetes_key = re.compile(rf"(?:([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)/)?{_name}")
_kubernetes_value = re.compile(rf"(?:{_name})?")
_aws_text = re.compile(r"[\w\s_.:/=+\-@]*")
_PREFIX_LIMIT = 253
_AWS_KEY_LIMIT = 128
_AWS_VALUE_LIMIT = 256


def _kubernetes(key: str, value: str) -> str | None:
    match = _kubernetes_key.fullmatch(key)
    if match is None or len(match[1] or "") > _PREFIX_LIMIT or ".." in (match[1] or ""):
        return f"{shown(key)} is no key of a Kubernetes label"
    if not _kubernetes_value.fullmatch(value):
        return f"{shown(value)} is no value of a Kubernetes label"
    return None


def _aws(key: str, value: str) -> str | None:
    if key.lower().startswith("aws:"):
        return "tags that start with `aws:` belong to AWS"
    if not 0 < len(key) <= _AWS_KEY_LIMIT or not _aws_text.fullmatch(key):
        return f"{shown(key)} is no key of an AWS tag"
    if len(value) > _AWS_VALUE_LIMIT or not _aws_text.fullmatch(value):
        return f"{shown(value)} is no value of an AWS tag"
    return None


_RULES: dict[str, Callable[[str, str], str | None]] = {"kubernetes": _kubernetes, "aws": _aws}


def label_problem(cloud: str, key: str, value: str) -> str | None:
    """Why `cloud` (kubernetes, aws) refuses the label, in one phrase; None where it does not."""
    rule = _RULES.get(cloud)
    return rule(key, value) if rule else None


def build_labels(b: Builder, path: Path, value: object, cloud: str | None) -> dict[str, str]:
    """Text labels; for a known `cloud` also checked against its rules."""
    labels: dict[str, str] = {}
    for key, text in b.mapping(path, value).items():
        where = (*path, key)
        if not isinstance(key, str) or not isinstance(text, str):
            b.report(
                codes.LABEL_VALUE,
                where,
                f"the value of label `{key}` is not text",
                found=described(text),
                expected="text",
                hint=None
                if isinstance(text, dict | list) or text is None
                else f'write {key}: "{str(text).lower() if isinstance(text, bool) else text}"',
            )
            continue
        problem = label_problem(cloud, key, text) if cloud is not None else None
        if problem is not None:
            about_key = label_problem(cloud or "", key, "") is not None
            b.report(codes.LABEL_VALUE, where, problem, at_key=about_key)
        labels[key] = text
    return labels
