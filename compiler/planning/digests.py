"""The digests that decide whether work is still the same work.

The spec digest covers what the task asks for: the normalised task, its variables, the names
of its secrets, its image. Not in it: where it is placed, the stack, the tool, the templates,
the catalogue. So an upgrade of any of those starts nothing again.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import hmac
import json
from collections.abc import Mapping

from compiler.model import Origin, Resources, Secret, Task
from compiler.rendering.filetree import FileTree, combine

# Placement is no part of the work; the rest never carries meaning of the user's.
_LEFT_OUT = {
    "Resources": {"infra", "given", "origin", "outer", "where"},
    "Task": {"name", "given", "origin", "on_files_change", "config", "resources"},
}


def spec_fields(task: Task) -> dict[str, str]:
    """A short digest for every part of the task that was given, by the dialect's key.

    Keys are dotted for variables (`envs.LR`) and for resources (`resources.cpus`), so that
    a plan can name what changed without the record holding any value.
    """
    parts: dict[str, object] = {}
    for item in dataclasses.fields(task):
        if item.name in _LEFT_OUT["Task"]:
            continue
        value = getattr(task, item.name)
        if item.name == "envs":
            parts.update({f"envs.{name}": text for name, text in value.items()})
        elif item.name == "secrets":
            parts.update({f"secrets.{name}": secret.mount_path for name, secret in value.items()})
        elif not _is_empty(value):
            parts[item.name] = value
    parts.update(_resource_fields(task))
    config = {key: value for key, value in task.config.items() if key != "active_workspace"}
    if config:
        parts["config"] = config
    return {key: _digest(plain(value))[:12] for key, value in sorted(parts.items())}


def spec_digest(fields: Mapping[str, str]) -> str:
    """The digest of the whole work from the digests of its parts."""
    return _digest(dict(fields))


def files_digest(trees: tuple[FileTree, ...]) -> str:
    """The digest of everything that a task brings along; a constant for none."""
    return combine((tree.destination, tree.digest) for tree in trees)


def secret_digest(value: str, salt: str) -> str:
    """A keyed digest that says whether a secret's value is still the same.

    Deliberately slow (scrypt), so that a plan file is no shortcut to guessing weak values.
    """
    key = hashlib.scrypt(value.encode(), salt=salt.encode(), n=2**14, r=8, p=1, dklen=32)
    return hmac.new(key, b"triplane secret", "sha256").hexdigest()[:32]


def changed_fields(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The keys whose digests differ, sorted."""
    return sorted(key for key in {*before, *after} if before.get(key) != after.get(key))


def _resource_fields(task: Task) -> dict[str, object]:
    candidates = []
    for candidate in task.resources.candidates:
        plain_candidate = plain(candidate)
        if plain_candidate not in candidates:  # those that differ in placement only
            candidates.append(plain_candidate)
    if len(candidates) == 1:
        return {f"resources.{key}": value for key, value in candidates[0].items()}
    return {f"resources.{task.resources.choice}": candidates}


def plain(value: object) -> object:
    """The model as JSON-able data without positions, placement, empty parts and secrets."""
    if value is None or isinstance(value, str | int | float | bool):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, Secret):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, frozenset | set):
        return sorted(str(item) for item in value)
    if dataclasses.is_dataclass(value):
        left_out = _LEFT_OUT.get(type(value).__name__, {"origin"})
        result = {}
        for item in dataclasses.fields(value):
            content = getattr(value, item.name)
            if item.name in left_out or isinstance(content, Origin) or _is_empty(content):
                continue
            if isinstance(value, Resources) and content is False:
                continue
            result[item.name] = plain(content)
        return result
    return str(value)


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, tuple | Mapping | frozenset) and not value)


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
