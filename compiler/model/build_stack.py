"""A stack file to a Stack: targets, paths, where secrets are, what belongs to whom."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from pathlib import Path as LocalPath
from typing import Any

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import stack as codes
from compiler.model.builder import Builder, combined
from compiler.model.stack import (
    DEFAULT_WORKSPACE,
    Deployer,
    SecretSource,
    Stack,
    TargetKind,
    TargetSpec,
)
from compiler.source import Document, check
from compiler.source.paths import Path
from compiler.source.suggestions import suggest
from compiler.source.wording import described, listed, quoted

DEPLOYERS: Mapping[TargetKind, tuple[Deployer, ...]] = {
    TargetKind.KUBERNETES: (Deployer.DIRECTORY, Deployer.SERVER_SIDE_APPLY, Deployer.PULUMI),
    TargetKind.SLURM: (Deployer.DIRECTORY, Deployer.SSH, Deployer.LOCAL),
    TargetKind.AWS: (Deployer.DIRECTORY, Deployer.PULUMI),
}
"""Who can carry out changes on each kind of target; the first is the default."""

SECRET_SOURCES: Mapping[TargetKind, tuple[str, ...]] = {
    TargetKind.KUBERNETES: ("secret", "external_secret"),
    TargetKind.SLURM: ("file",),
    TargetKind.AWS: ("ssm", "secrets_manager"),
}
"""The keys that say where a secret is kept, by kind of target."""

WORKSPACE_KEYS: Mapping[TargetKind, tuple[str, ...]] = {
    TargetKind.KUBERNETES: ("namespace", "queue"),
    TargetKind.SLURM: ("account", "qos", "partition"),
    TargetKind.AWS: ("account", "profile"),
}
"""What a workspace may set on each kind of target."""

_DEFAULT_OUT = "rendered"
_ON_FILES_CHANGE = "ignore"


def build_stack(
    document: Document, diagnostics: Diagnostics, stack_path: str | None = None
) -> Stack | None:
    """The stack of `document`, or None where it has errors (added to `diagnostics`).

    `stack_path` is the file that relative paths start beside; by default the path that the
    document was read from. `out` defaults to `rendered/<stack name>` beside the file.
    """
    found = Diagnostics()
    is_sound = check(document, "stack", found)
    b = Builder(document, environ={})
    stack = _stack(b, stack_path or document.source.path)
    diagnostics.extend(combined(found, b.diagnostics))
    return None if not is_sound or b.diagnostics.has_errors else stack


def _stack(b: Builder, stack_path: str) -> Stack:
    file = LocalPath(stack_path)
    name = file.stem if file.suffix in (".yaml", ".yml") else "stack"
    folder = os.path.abspath(file.parent)  # noqa: PTH100 (`..` is resolved, links are not)
    owned = b.mapping(("set",), b.data.get("set"))
    set_name = b.text(("set", "name"), owned.get("name"))
    if not set_name:
        b.report(
            codes.SET_NAME, ("set",), "the set has no name", at_key=True, hint="add `set.name`"
        )
    config = b.mapping(("config",), b.data.get("config"))
    targets = _targets(b, folder)
    root = b.text(("root",), b.data.get("root"))
    out = b.text(("out",), b.data.get("out"))
    workspaces = _workspaces(b, targets)
    gitops = b.text(("gitops",), b.data.get("gitops"))
    if gitops is not None:
        _check_gitops(b, targets)
    return Stack(
        name=name,
        set_name=set_name or "",
        inputs=_inputs(b, folder, owned.get("inputs")),
        out=resolved(folder, out or f"{_DEFAULT_OUT}/{name}"),
        root=None if root is None else resolved(folder, root),
        targets=targets,
        secrets=_secrets(b, targets),
        policy=b.mapping(("policy",), b.data.get("policy")),
        pricing=_pricing(b, targets),
        config=config,
        gitops=gitops,
        on_files_change=b.text(("on_files_change",), b.data.get("on_files_change"))
        or _ON_FILES_CHANGE,
        workspace=_workspace(b, workspaces, config),
        workspaces=workspaces,
        requester_env=b.text(("requester_env",), b.data.get("requester_env")),
        origin=b.origin(),
    )


def resolved(folder: str, path: str) -> str:
    """An absolute path: `~` expanded, relative ones from `folder`; links stay as they are."""
    return posixpath.normpath(posixpath.join(folder, posixpath.expanduser(path)))


def _inputs(b: Builder, folder: str, value: object) -> tuple[str, ...]:
    path: Path = ("set", "inputs")
    if value is None:
        return ()
    if not isinstance(value, list):
        b.unexpected(path, value, "a list of files and folders")
        return ()
    texts = (b.text((*path, at), item) for at, item in enumerate(value))
    return tuple(resolved(folder, text) for text in texts if text)


def _targets(b: Builder, folder: str) -> dict[str, TargetSpec]:
    targets: dict[str, TargetSpec] = {}
    for key, value in b.mapping(("targets",), b.data.get("targets")).items():
        path: Path = ("targets", key)
        entry = b.mapping(path, value)
        word = entry.get("kind")
        if not isinstance(word, str) or word not in set(TargetKind):
            b.report(
                codes.TARGET_KIND,
                path if word is None else (*path, "kind"),
                f"target {quoted(key)} has no kind that triplane knows",
                at_key=word is None,
                found=described(word),
                expected=listed(list(TargetKind)),
            )
            continue
        kind = TargetKind(word)
        options = {
            name: item
            for name, item in entry.items()
            if name not in ("kind", "deployer", "version")
        }
        own_out = b.text((*path, "out"), options.get("out"))
        if own_out is not None:
            options["out"] = resolved(folder, own_out)
        targets[key] = TargetSpec(
            key=key,
            kind=kind,
            deployer=_deployer(b, path, entry.get("deployer"), kind),
            version=b.text((*path, "version"), entry.get("version")),
            options=options,
            origin=b.origin(*path),
        )
    if not targets and not b.diagnostics.has_errors:
        b.report(codes.NO_TARGETS, ("targets",), "the stack has no targets")
    return targets


def _deployer(b: Builder, path: Path, value: object, kind: TargetKind) -> Deployer:
    allowed = DEPLOYERS[kind]
    if value is None:
        return allowed[0]
    chosen = next((item for item in allowed if item.value == value), None)
    if chosen is None:
        elsewhere = isinstance(value, str) and value in set(Deployer)
        b.report(
            codes.DEPLOYER_KIND,
            (*path, "deployer"),
            f"{quoted(str(value))} cannot deploy to {kind}"
            if elsewhere
            else f"there is no deployer {quoted(str(value))}",
            found=described(value),
            expected=listed([item.value for item in allowed]),
        )
        return allowed[0]
    return chosen


def _known_target(b: Builder, path: Path, key: str, targets: Mapping[str, TargetSpec]) -> bool:
    if key in targets:
        return True
    near = suggest(key, targets)
    b.report(
        codes.UNKNOWN_TARGET,
        path,
        f"the stack has no target {quoted(key)}",
        at_key=True,
        expected=listed(list(targets)) if targets else None,
        hint=f"did you mean `{near}`?" if near else "add it under `targets:`, or drop this entry",
    )
    return False


def _secrets(b: Builder, targets: Mapping[str, TargetSpec]) -> dict[str, dict[str, SecretSource]]:
    sources: dict[str, dict[str, SecretSource]] = {}
    for name, places in b.mapping(("secrets",), b.data.get("secrets")).items():
        for key, value in b.mapping(("secrets", name), places).items():
            path: Path = ("secrets", name, key)
            if not _known_target(b, path, key, targets):
                continue
            entry = b.mapping(path, value)
            allowed = SECRET_SOURCES[targets[key].kind]
            kind = next(iter(entry), None)
            if len(entry) != 1 or kind not in allowed:
                b.report(
                    codes.SECRET_SOURCE,
                    (*path, kind) if len(entry) == 1 and kind is not None else path,
                    f"that is no place of a secret on the {targets[key].kind} target {quoted(key)}",
                    at_key=len(entry) == 1,
                    found=listed(list(entry), "and") if entry else "nothing",
                    expected=listed(allowed),
                )
                continue
            reference = b.text((*path, kind), entry[kind])
            if reference is not None:
                sources.setdefault(name, {})[key] = SecretSource(kind, reference)
    return sources


def _pricing(b: Builder, targets: Mapping[str, TargetSpec]) -> dict[str, dict[str, float]]:
    pricing: dict[str, dict[str, float]] = {}
    for key, value in b.mapping(("pricing",), b.data.get("pricing")).items():
        if not _known_target(b, ("pricing", key), key, targets):
            continue
        prices = b.mapping(("pricing", key), value)
        numbers = {name: b.number(("pricing", key, name), item) for name, item in prices.items()}
        pricing[key] = {name: item for name, item in numbers.items() if item is not None}
    return pricing


def _workspaces(
    b: Builder, targets: Mapping[str, TargetSpec]
) -> dict[str, dict[str, dict[str, object]]]:
    """By workspace and target key; what holds on all targets stands under the empty key."""
    every = {key for keys in WORKSPACE_KEYS.values() for key in keys}
    workspaces: dict[str, dict[str, dict[str, object]]] = {}
    for name, value in b.mapping(("workspaces",), b.data.get("workspaces")).items():
        values: dict[str, dict[str, object]] = {}
        for key, item in b.mapping(("workspaces", name), value).items():
            path: Path = ("workspaces", name, key)
            if key in every and not isinstance(item, dict):
                values.setdefault("", {})[key] = b.text(path, item)
            elif _known_target(b, path, key, targets):
                allowed = WORKSPACE_KEYS[targets[key].kind]
                entry = b.mapping(path, item)
                b.only_keys(codes.WORKSPACE_KEY, path, entry, allowed)
                values[key] = {inner: b.text((*path, inner), entry[inner]) for inner in entry}
        workspaces[name] = values
    return workspaces


def _workspace(
    b: Builder, workspaces: Mapping[str, object], config: Mapping[str, Any]
) -> str | None:
    path: Path = ("workspace",)
    name = b.text(path, b.data.get("workspace"))
    if name is None:
        path = ("config", "active_workspace")
        name = b.text(path, config.get("active_workspace"))
    known = {*workspaces, *b.mapping(("config", "workspaces"), config.get("workspaces"))}
    if name is not None and name != DEFAULT_WORKSPACE and name not in known:
        near = suggest(name, known)
        b.report(
            codes.UNKNOWN_WORKSPACE,
            path,
            f"there is no workspace {quoted(name)}",
            expected=listed(sorted(known)) if known else None,
            hint=f"did you mean `{near}`?" if near else "describe it under `workspaces:`",
        )
    return name


def _check_gitops(b: Builder, targets: Mapping[str, TargetSpec]) -> None:
    for key, target in targets.items():
        if target.options.get("ttl_seconds_after_finished") is not None:
            b.report(
                codes.GITOPS_TTL,
                ("targets", key, "ttl_seconds_after_finished"),
                "Jobs that remove themselves are made again by the GitOps controller",
                at_key=True,
                hint="leave it out; runs are retired in the written tree",
            )
