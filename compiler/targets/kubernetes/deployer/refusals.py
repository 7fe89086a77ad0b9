"""The API server's refusals: who may not do what, which rule it was, who is in the way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics import Code, Diagnostic, WorkFailed
from compiler.diagnostics.codes import kubernetes_deploy as codes

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request')
_QUOTA = re.compile(r"exceeded quota: (\S+?),")
_POLICY = re.compile(r"ValidatingAdmissionPolicy '([^']+)'")
_TYPED = re.compile(r"\): \.?([\w.\[\]=\"-]+): ")
_INVALID = re.compile(r"failed to create typed patch object|strict decoding error|unknown field")


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field of ours that another manager set."""

    manager: str
    field: str


class ApiRefused(WorkFailed):
    """An answer with a status from 400 on. `words` are the server's, `status` the number."""

    def __init__(
        self, target: str, method: str, path: str, status: int, body: Mapping[str, Any]
    ) -> None:
        self.status = status
        self.words = str(body.get("message") or body.get("reason") or f"status {status}")
        self.reason = str(body.get("reason") or "")
        self.details: Mapping[str, Any] = body.get("details") or {}
        self.action = _action(method, path)
        message = f"{target}: {self._sentence()}"
        super().__init__(message, diagnostics=self._diagnostics(target))

    @classmethod
    def of(cls, target: str, method: str, path: str, status: int, data: bytes) -> ApiRefused:
        try:
            body = json.loads(data)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            body = {"message": data.decode("utf-8", "replace").strip()[:500]}
        return cls(target, method, path, status, body)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        """Whose fields an apply would have taken over."""
        return tuple(
            Conflict(_manager(str(item.get("message"))), str(item.get("field")))
            for item in self.details.get("causes") or ()
            if item.get("reason") == "FieldManagerConflict"
        )

    @property
    def field(self) -> str:
        """The first field that the server names (`spec.template...`), empty for none."""
        for item in self.details.get("causes") or ():
            if item.get("field"):
                return str(item["field"]).lstrip(".")
        match = _TYPED.search(self.words)
        return match[1] if match else ""

    @property
    def is_forbidden(self) -> bool:
        """Whether a role is missing (and not that an admission rule said no)."""
        return self.status == 403 and "cannot " in self.words and "is forbidden" in self.words

    def _sentence(self) -> str:
        if self.is_forbidden:
            return f"may not {self.action}: {self.words}"
        if self.conflicts:
            owners = "; ".join(f"{item.field} is set by {item.manager}" for item in self.conflicts)
            return f"cannot {self.action}: {owners}"
        return f"cannot {self.action}: {self.words}"

    def _diagnostics(self, target: str) -> tuple[Diagnostic, ...]:
        code, hint = self._rule()
        if code is None:
            return ()
        return (code.at(None, self._sentence(), hint=hint, target=target),)

    def _rule(self) -> tuple[Code | None, str]:
        if self.is_forbidden:
            return codes.FORBIDDEN, "bind the role of docs/rbac to this user"
        if self.conflicts:
            return codes.CONFLICT, "let its owner give the field up, or leave it out here"
        if match := _QUOTA.search(self.words):
            return codes.QUOTA, f"ask for less, or have the quota {match[1]!r} raised"
        if match := _WEBHOOK.search(self.words) or _POLICY.search(self.words):
            return codes.DENIED, f"change what {match[1]!r} objects to"
        if self.status == 422 or (self.status in (400, 500) and _INVALID.search(self.words)):
            return codes.INVALID, "change the field in `pod_config` or the task that it comes from"
        return None, ""


def _manager(message: str) -> str:
    match = re.search(
        r'conflict with "([^"]+)"(?: with subresource "[^"]+")?(?: using (\S+))?', message
    )
    return match[1] if match else message


def _action(method: str, path: str) -> str:
    """`patch jobs.batch lab-train-1 in namespace ml`, from a path of the API."""
    parts = path.partition("?")[0].strip("/").split("/")
    group = parts[1] if parts[0] == "apis" and len(parts) > 1 else ""
    rest = parts[3:] if parts[0] == "apis" else parts[2:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not rest:
        return f"{_VERBS.get(method, method)} /{'/'.join(parts)}"
    resource = rest[0] + (f"/{rest[2]}" if len(rest) > 2 else "") + (f".{group}" if group else "")
    verb = _VERBS.get(method, method)
    if verb == "get" and len(rest) == 1:
        verb = "list"
    words = [verb, resource, *rest[1:2]]
    if namespace:
        words += ["in namespace", namespace]
    return " ".join(words)
