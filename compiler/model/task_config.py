"""`config` of a task: what a task may set, its hooks, and triplane's own keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from compiler.diagnostics.codes import model as codes
from compiler.diagnostics.codes.model_mounts import NATIVE_SCRIPT_MISSING
from compiler.model.builder import Builder
from compiler.model.lifetime import DEFAULT_HOOK_TIMEOUT
from compiler.model.paths import is_file, is_there, local_path, where_relative_paths_start
from compiler.model.task import Hook
from compiler.source.paths import Path
from compiler.source.suggestions import suggest
from compiler.source.wording import listed, quoted

ALLOWED: Mapping[str, tuple[str, ...]] = {
    "kubernetes": (
        "pod_config",
        "custom_metadata",
        "provision_timeout",
        "dws",
        "kueue",
        "quota",
        "remote_identity",
        "enable_docker",
        "set_pod_resource_limits",
    ),
    "ssh": ("pod_config", "custom_metadata", "provision_timeout"),
    "slurm": ("sbatch_options", "quota", "cpu_partition"),
    "docker": ("run_options",),
    "nvidia_gpus": ("disable_ecc",),
    "gcp": (
        "vpc_name",
        "subnet_names",
        "managed_instance_group",
        "enable_gvnic",
        "enable_gpu_direct",
        "placement_policy",
    ),
    "azure": ("remote_identity", "vpc_name"),
    "vast": ("datacenter_only", "create_instance_kwargs"),
}
"""The keys of each section that a task may set; all else is the stack's."""

EVENTS = ("stop", "preemption", "down")
ON_FILES_CHANGE = ("ignore", "run")

_PATH: Path = ("config",)
_HOOKS: Path = ("config", "hooks")
_OWN: Path = ("config", "triplane")
_OWN_KEYS = ("on_files_change", "native_script", "native_arguments")
_PLAIN_KEYS = ("active_workspace", "hooks", "triplane")
_MOST_HOOKS = 32
_LONGEST_HOOK = 16384
"""Bytes."""


class TaskConfig(NamedTuple):
    """`layer` is what goes over the stack's configuration: hooks and own keys taken out."""

    layer: Mapping[str, object] = {}
    hooks: tuple[Hook, ...] = ()
    on_files_change: str | None = None
    native_script: str | None = None
    native_arguments: tuple[str, ...] = ()


_EMPTY = TaskConfig()


def build_config(b: Builder, value: object) -> TaskConfig:
    """Read `config`; keys that a task may not set are errors."""
    if value is None:
        return _EMPTY
    entry = b.mapping(_PATH, value)
    layer: dict[str, object] = {}
    for key, content in entry.items():
        path = (*_PATH, key)
        if key in ALLOWED:
            section = b.mapping(path, content)
            for inner in section:
                if inner not in ALLOWED[key]:
                    _refuse(b, (*path, inner), f"{key}.{inner}", ALLOWED[key])
            if section:
                layer[key] = section
        elif key == "active_workspace":
            layer[key] = b.text(path, content)
        elif key == "aws":
            b.report(
                codes.CONFIG_AWS,
                path,
                "a task can set no `aws` key",
                at_key=True,
                hint="set it under `config.aws` of the stack",
            )
        elif key not in _PLAIN_KEYS:
            _refuse(b, path, key, (*ALLOWED, *_PLAIN_KEYS))
    own = b.mapping(_OWN, entry.get("triplane"))
    b.only_keys(codes.CONFIG_KEY, _OWN, own, _OWN_KEYS)
    on_change = b.text((*_OWN, "on_files_change"), own.get("on_files_change"))
    if on_change is not None and on_change not in ON_FILES_CHANGE:
        b.unexpected((*_OWN, "on_files_change"), on_change, listed(ON_FILES_CHANGE))
    return TaskConfig(
        layer,
        _hooks(b, entry.get("hooks")),
        on_change,
        _native_script(b, own.get("native_script")),
        _arguments(b, own.get("native_arguments")),
    )


def _native_script(b: Builder, value: object) -> str | None:
    """The path of a script that is kept as it is; it must exist where files are checked."""
    path: Path = (*_OWN, "native_script")
    text = b.text(path, value)
    if text is not None and b.check_files and not is_file(local := local_path(b, text)):
        b.report(
            NATIVE_SCRIPT_MISSING,
            path,
            f"{quoted(text)} " + ("is no file" if is_there(local) else "does not exist"),
            expected="an sbatch script",
            hint=where_relative_paths_start(b, text),
        )
    return text


def _arguments(b: Builder, value: object) -> tuple[str, ...]:
    path: Path = (*_OWN, "native_arguments")
    if value is None:
        return ()
    if not isinstance(value, list):
        b.unexpected(path, value, "a list of texts")
        return ()
    words = [b.text((*path, at), item) for at, item in enumerate(value)]
    return tuple(word for word in words if word is not None)


def _refuse(b: Builder, path: Path, name: str, known: tuple[str, ...]) -> None:
    near = suggest(str(path[-1]), known)
    b.report(
        codes.CONFIG_KEY,
        path,
        f"a task cannot set {quoted(name)}",
        at_key=True,
        expected=listed(known),
        hint=f"did you mean `{near}`?" if near else "settings of a whole platform are the stack's",
    )


def _hooks(b: Builder, value: object) -> tuple[Hook, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        b.unexpected(_HOOKS, value, "a list of hooks")
        return ()
    if len(value) > _MOST_HOOKS:
        b.report(
            codes.HOOKS_TOO_MANY,
            _HOOKS,
            f"{len(value)} hooks",
            at_key=True,
            expected=f"at most {_MOST_HOOKS}",
        )
    hooks = (_hook(b, (*_HOOKS, at), item) for at, item in enumerate(value))
    return tuple(hook for hook in hooks if hook is not None)


def _hook(b: Builder, path: Path, value: object) -> Hook | None:
    entry = b.mapping(path, value)
    text = b.text((*path, "run"), entry.get("run"))
    size = len(text.encode("utf-8", "surrogatepass")) if text else 0
    if not 1 <= size <= _LONGEST_HOOK:
        b.report(
            codes.HOOK_RUN,
            (*path, "run"),
            f"the hook's text has {size} bytes" if size else "the hook has no text to run",
            expected=f"`run` with 1 to {_LONGEST_HOOK} bytes of bash",
        )
    events = entry.get("events")
    if events is not None and (not isinstance(events, list) or not events):
        b.unexpected((*path, "events"), events, "a list of " + listed(EVENTS, "and"))
        events = None
    for at, event in enumerate(events or ()):
        if event not in EVENTS:
            near = suggest(event, EVENTS) if isinstance(event, str) else None
            b.report(
                codes.HOOK_EVENT,
                (*path, "events", at),
                f"there is no event {quoted(str(event))}",
                expected=listed(EVENTS),
                hint=f"did you mean `{near}`?" if near else None,
            )
    timeout = b.integer((*path, "timeout"), entry.get("timeout"), least=1)
    chosen = tuple(event for event in EVENTS if event in events) if events else EVENTS
    return Hook(text, chosen, timeout or DEFAULT_HOOK_TIMEOUT) if text else None
