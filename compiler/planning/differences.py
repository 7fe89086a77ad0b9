"""Differences between two rendered texts: field by field, or line by line.

Lists of maps are compared by the API's own list-map keys, which come in as data, so that an
inserted item is one change and not a change of everything behind it.
"""

from __future__ import annotations

import difflib
import enum
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import yaml

from compiler.planning.because import Because
from compiler.rendering.artifact import Artifact, ArtifactKind

# (apiVersion, kind, path without indices) -> names of the keys, None for an atomic list
MergeKeys = Callable[[str, str, tuple[str, ...]], tuple[str, ...] | None]

_LONG_TEXT = 120
MASK = "(sensitive)"


class FieldAction(enum.StrEnum):
    ADD = "add"
    REMOVE = "remove"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field; `before` and `after` are JSON-able, None where absent.

    `lines` is a unified diff where the value is a long or multi-line text; `because` are the
    fields of the task whose change makes this one, as far as they are known.
    """

    path: str
    action: FieldAction
    before: object = None
    after: object = None
    sensitive: bool = False
    lines: tuple[str, ...] = ()
    because: tuple[Because, ...] = ()


def differences(before: str, artifact: Artifact, merge_keys: MergeKeys) -> list[FieldChange]:
    """What changes when `before` becomes `artifact.text`; empty when nothing that counts does."""
    if before == artifact.text:
        return []
    if artifact.kind is ArtifactKind.MANIFEST:
        try:
            old = yaml.load(before, Loader=_Loader)
        except yaml.YAMLError:
            return [_text_change("", before, artifact.text)]
        new = yaml.load(artifact.text, Loader=_Loader)
        if isinstance(old, dict) and isinstance(new, dict):
            return compare_objects(old, new, merge_keys)
    if artifact.kind is ArtifactKind.SBATCH:
        return _compare_scripts(before, artifact.text)
    return [_text_change("", before, artifact.text)]


def changed_paths(before: str, artifact: Artifact, merge_keys: MergeKeys) -> set[str]:
    """The paths of what `differences` would find, without the work of showing it line by line."""
    if before == artifact.text:
        return set()
    if artifact.kind is ArtifactKind.SBATCH:
        old_options, old_body = _split_script(before)
        new_options, new_body = _split_script(artifact.text)
        names = old_options.keys() | new_options.keys()
        changed = {name for name in names if old_options.get(name) != new_options.get(name)}
        return changed | ({"script"} if old_body != new_body else set())
    if artifact.kind is not ArtifactKind.MANIFEST:
        return {""}
    return {item.path for item in differences(before, artifact, merge_keys)}


def compare_objects(old: dict, new: dict, merge_keys: MergeKeys) -> list[FieldChange]:
    """Field-level differences of two Kubernetes objects, secrets' data masked."""
    api_version, kind = str(new.get("apiVersion")), str(new.get("kind"))

    def keys_of(path: tuple[str, ...]) -> tuple[str, ...] | None:
        return merge_keys(api_version, kind, path)

    changes = list(_compare(old, new, "", (), keys_of))
    if kind == "Secret":
        changes = [_masked(item) for item in changes]
    return changes


def _compare(old, new, shown: str, path: tuple[str, ...], keys_of) -> Iterator[FieldChange]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            below = f"{shown}.{_step(key)}" if shown else _step(key)
            yield from _compare_member(old, new, key, below, (*path, str(key)), keys_of)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _compare_lists(old, new, shown, path, keys_of)
    elif _same(old, new):
        return
    elif isinstance(old, str) and isinstance(new, str):
        yield _text_change(shown, old, new)
    else:
        yield FieldChange(shown, FieldAction.CHANGE, old, new)


def _compare_member(old, new, key, shown, path, keys_of) -> Iterator[FieldChange]:
    if key not in new:
        yield FieldChange(shown, FieldAction.REMOVE, before=old[key])
    elif key not in old:
        yield FieldChange(shown, FieldAction.ADD, after=new[key])
    else:
        yield from _compare(old[key], new[key], shown, path, keys_of)


def _compare_lists(old: list, new: list, shown, path, keys_of) -> Iterator[FieldChange]:
    keys = keys_of(path)
    if keys is None or not all(_has_keys(item, keys) for item in (*old, *new)):
        if not _same(old, new):
            yield FieldChange(shown, FieldAction.CHANGE, old, new)
        return
    by_key_old = {_identity(item, keys): item for item in old}
    by_key_new = {_identity(item, keys): item for item in new}
    for identity in dict.fromkeys((*by_key_old, *by_key_new)):
        label = ",".join(f"{key}={value}" for key, value in zip(keys, identity, strict=True))
        yield from _compare_member(
            by_key_old, by_key_new, identity, f"{shown}[{label}]", path, keys_of
        )


def _has_keys(item: object, keys: Sequence[str]) -> bool:
    return isinstance(item, dict) and any(key in item for key in keys)


def _identity(item: dict, keys: Sequence[str]) -> tuple:
    return tuple(item.get(key, "") for key in keys)


def _same(old: object, new: object) -> bool:
    """Equal as JSON, where 1 and true differ."""
    return json.dumps(old, sort_keys=True, default=str) == json.dumps(
        new, sort_keys=True, default=str
    )


def _step(key: object) -> str:
    text = str(key)
    return text if re.fullmatch(r"[\w-]+", text) else f'"{text}"'


def _text_change(shown: str, old: str, new: str) -> FieldChange:
    if "\n" not in old + new and len(old) + len(new) <= _LONG_TEXT:
        return FieldChange(shown, FieldAction.CHANGE, old, new)
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=3)
    body = tuple(lines)[2:]  # without the two file header lines
    return FieldChange(shown, FieldAction.CHANGE, lines=body or ("(only line ends differ)",))


def _compare_scripts(old: str, new: str) -> list[FieldChange]:
    """#SBATCH options as fields, the rest as one unified diff."""
    old_options, old_body = _split_script(old)
    new_options, new_body = _split_script(new)
    changes = list(_compare(old_options, new_options, "", (), lambda _: None))
    if old_body != new_body:
        changes.append(_text_change("script", old_body, new_body))
    return changes


def _split_script(text: str) -> tuple[dict[str, str], str]:
    options: dict[str, str] = {}
    body: list[str] = []
    for line in text.splitlines():
        if line.startswith("#SBATCH "):
            name, _, value = line.removeprefix("#SBATCH ").strip().partition("=")
            options[name] = value
        else:
            body.append(line)
    return options, "\n".join(body)


def _masked(change: FieldChange) -> FieldChange:
    if not change.path.startswith(("data", "stringData")):
        return change
    return FieldChange(
        change.path,
        change.action,
        None if change.before is None and not change.lines else MASK,
        None if change.action is FieldAction.REMOVE else MASK,
        sensitive=True,
    )


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
