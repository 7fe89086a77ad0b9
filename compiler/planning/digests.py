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
import re
from collections.abc import Mapping
from functools import cache

from compiler.model import Group, Pipeline, Resources, Secret, Task, Volume
from compiler.rendering.filetree import FileTree, combine

# Placement is no part of the work; the rest never carries meaning of the user's.
_LEFT_OUT = {
    "Resources": frozenset({"infra", "given", "origin", "outer", "where"}),
    "Task": frozenset({"name", "given", "origin", "on_files_change", "config", "resources"}),
}
# `80GB+:4`: what such a request stands for is the catalogue's, so the request itself counts.
_BY_MEMORY = re.compile(r"(?:[a-z]+:)?[0-9]+[gmt]b\+?(?::.*)?", re.IGNORECASE)
_NO_FILES = combine(())
_SCALARS = frozenset((str, int, float, bool, type(None)))
_is_model = cache(dataclasses.is_dataclass)


def spec_fields(task: Task) -> dict[str, str]:
    """A short digest for every part of the task that was given, by the dialect's key.

    Keys are dotted for variables (`envs.LR`) and for resources (`resources.cpus`), so that
    a plan can name what changed without the record holding any value.
    """
    parts: dict[str, object] = {}
    for name, default in _members(type(task)):
        value = getattr(task, name)
        if name == "envs":
            parts.update({f"envs.{key}": text for key, text in value.items()})
        elif name == "secrets":
            parts.update({f"secrets.{key}": secret.mount_path for key, secret in value.items()})
        elif value != default and not _is_empty(value):
            parts[name] = plain(value)
    parts.update(_resource_fields(task))
    config = {key: value for key, value in task.config.items() if key != "active_workspace"}
    if config:
        parts["config"] = plain(config)
    return {key: _digest(value)[:12] for key, value in sorted(parts.items())}


def whole_fields(
    whole: Group | Pipeline, members: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """The parts of a group or a pipeline: `<task>.<field>` of its tasks (given by the task's
    name in the whole), and its own. Also which tasks there are, and in a pipeline their order."""
    parts: dict[str, object] = {}
    if isinstance(whole, Group):
        parts["tasks"] = sorted(members)
        parts["primary_tasks"] = sorted(whole.primary_tasks)
        parts["termination_delay"] = dict(whole.termination_delay)
        parts["inter_connection"] = whole.inter_connection
    else:
        parts["order"] = list(members)
    own = {key: _digest(value)[:12] for key, value in parts.items() if not _is_empty(value)}
    of_tasks = {
        f"{name}.{key}": digest
        for name, fields in members.items()
        for key, digest in fields.items()
    }
    return dict(sorted({**own, **of_tasks}.items()))


def joined_field(group: str, run: int) -> dict[str, str]:
    """The part of a task that joined this run of a group: in the next one it is other work."""
    return {"group": _digest([group, run])[:12]}


def volume_fields(volume: Volume) -> dict[str, str]:
    """The parts of a volume by the dialect's keys (`size`, `config.access_mode`), its place and
    its name left out."""
    parts: dict[str, object] = {
        "type": volume.type,
        "size": volume.size_gib,
        "use_existing": volume.use_existing or None,
        "labels": dict(volume.labels),
    }
    parts.update({f"config.{key}": plain(value) for key, value in volume.config.items()})
    return {
        key: _digest(value)[:12] for key, value in sorted(parts.items()) if not _is_empty(value)
    }


def spec_digest(fields: Mapping[str, str]) -> str:
    """The digest of the whole work from the digests of its parts."""
    return _digest(dict(fields))


def files_digest(trees: tuple[FileTree, ...]) -> str:
    """The digest of everything that a task brings along; a constant for none."""
    if not trees:  # as most have none
        return _NO_FILES
    return combine((tree.destination, tree.digest) for tree in trees)


def combined_files(members: Mapping[str, str]) -> str:
    """The files digest of a whole from those of its tasks, by name."""
    return combine(members.items())


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
    candidates: list[dict[str, object]] = []
    for candidate in task.resources.candidates:
        body = _plain_members(candidate)
        request = _memory_request(candidate)
        if request is not None:
            body["accelerator"] = request
        if body not in candidates:  # those that differ in placement only
            candidates.append(body)
    if len(candidates) == 1:
        return {f"resources.{key}": value for key, value in candidates[0].items()}
    return {f"resources.{task.resources.choice}": candidates}


def _memory_request(candidate: Resources) -> str | None:
    """The text of a request by memory, which the catalogue made several candidates of."""
    if candidate.accelerator is None:
        return None
    origin = candidate.origin_of("accelerators")
    value: object = origin.document.data
    for step in origin.path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    for text in (value, origin.path[-1] if origin.path else None):
        if isinstance(text, str) and _BY_MEMORY.fullmatch(text):
            return text
    return None


def plain(value: object) -> object:
    """The model as JSON-able data without positions, placement, secrets, and what was not given.

    A member that has its default is left out, so that a version with a new member gives the
    same digests.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is Secret:
        return value.name
    if _is_model(kind):
        return _plain_members(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, (frozenset, set)):
        return sorted(str(item) for item in value)
    return str(value)


def _plain_members(value: object) -> dict[str, object]:
    return {
        name: plain(content)
        for name, default in _members(type(value))
        if (content := getattr(value, name)) != default and not _is_empty(content)
    }


@cache
def _members(kind: type) -> tuple[tuple[str, object], ...]:
    """(name, default) of the members of a dataclass that count."""
    left_out = _LEFT_OUT.get(kind.__name__, frozenset({"origin"}))
    return tuple(
        (item.name, item.default) for item in dataclasses.fields(kind) if item.name not in left_out
    )


def _is_empty(value: object) -> bool:
    return value is None or value == () or value == {}


def _digest(value: object) -> str:
    return hashlib.sha256(_encode(value).encode()).hexdigest()


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
