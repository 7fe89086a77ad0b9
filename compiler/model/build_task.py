"""A task's document to a Task: overrides, check, substitution, every field, every rule."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import model as codes
from compiler.model.builder import Builder, DeviceLookup, combined, is_number
from compiler.model.candidates import build_resources
from compiler.model.envs import build_envs, build_secrets, check_docker_login
from compiler.model.lifetime import autostop_hook
from compiler.model.mounts import build_file_mounts, build_workdir
from compiler.model.overrides import Overrides, apply_overrides
from compiler.model.pools import build_pool
from compiler.model.repeated_secrets import check_repeated
from compiler.model.resources import ResourceSet
from compiler.model.scripts import check_setup
from compiler.model.serving import build_service
from compiler.model.substitution import FIELDS, FREE_TEXT, Substitution
from compiler.model.task import Hook, Secret, Task
from compiler.model.task_config import build_config
from compiler.model.volume_mounts import build_volume_mounts
from compiler.source import Document, check, check_value
from compiler.source.paths import Path
from compiler.source.wording import quoted

TASK_NAME_RULE = "letters and digits, with at most two of `.`, `_`, `-` between them"

_task_name = re.compile(r"[a-zA-Z0-9]+(?:[._-]{1,2}[a-zA-Z0-9]+)*")
# The strict schema of each field that is substituted.
_STRICT = {
    "workdir": "workdir",
    "file_mounts": "fileMounts",
    "volumes": "volumeMounts",
    "service": "service",
}


def build_task(
    document: Document,
    diagnostics: Diagnostics,
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
    root: str | None = None,
    check_files: bool = False,
    lookup: DeviceLookup | None = None,
) -> Task | None:
    """The task of `document`, or None where it has errors.

    `overrides` are laid over the document, then it is checked against the schema and built;
    everything that is wrong is added to `diagnostics`. `environ` (the process's by default)
    gives values for `--env NAME` and the home of `~`; local paths are looked at only with
    `check_files`, relative ones from `root` (the current folder by default). `lookup` finds
    devices by memory (`accelerators: 80GB+`), an error where it is missing.

    Raises WrongUsage for overrides that make no sense.
    """
    environ = os.environ if environ is None else environ
    if overrides:
        document = apply_overrides(document, overrides, environ)
    found = Diagnostics()
    check(document, "task", found)
    b = Builder(document, environ=environ, root=root, check_files=check_files, lookup=lookup)
    task = build_checked(b, found)
    diagnostics.extend(combined(found, b.diagnostics))
    return None if found.has_errors or b.diagnostics.has_errors else task


def build_checked(b: Builder, found: Diagnostics) -> Task:
    """The task of a document that has been checked; faults stay with the builder.

    What the schema has against the result of a substitution goes to `found`.
    """
    get = b.data.get
    secrets = build_secrets(b, get("secrets"), get("managed_secrets"))
    if secrets:
        check_repeated(b, secrets)
    envs = build_envs(b, get("envs"), secrets)
    _substitute(b, envs, secrets, found)
    num_nodes = _num_nodes(b, get("num_nodes"))
    resources = build_resources(b, get("resources"))
    workdir = build_workdir(b, get("workdir"))
    file_mounts, storage = build_file_mounts(b, get("file_mounts"), workdir is not None)
    config = build_config(b, get("config"))
    setup = b.text(("setup",), get("setup"))
    check_setup(b, setup)
    if "envs" in b.data or secrets:
        check_docker_login(b, envs, secrets, _has_container(resources))
    return Task(
        name=_name(b, get("name")),
        num_nodes=num_nodes,
        resources=resources,
        workdir=workdir,
        setup=setup,
        run=b.text(("run",), get("run")),
        # One merged map reaches the task; a secret wins over a variable of the same name.
        envs={name: text for name, text in envs.items() if name not in secrets},
        secrets=secrets,
        file_mounts=file_mounts,
        storage=storage,
        volumes=build_volume_mounts(
            b, get("volumes"), resources, num_nodes, (*file_mounts, *storage)
        ),
        service=build_service(b, get("service"), resources),
        pool=build_pool(b, get("pool"), resources, has_service="service" in b.data),
        hooks=(*config.hooks, *_autostop_hooks(b, get("resources"))),
        config=config.layer,
        on_files_change=config.on_files_change,
        native_script=config.native_script,
        native_arguments=config.native_arguments,
        event_callback=b.text(("event_callback",), get("event_callback")),
        inputs=_estimate(b, "inputs", get("inputs")),
        outputs=_estimate(b, "outputs", get("outputs")),
        api_server_access=b.flag(("api_server_access",), get("api_server_access"), default=True),
        given=frozenset(b.data),
        origin=b.origin(),
    )


def _substitute(
    b: Builder, envs: Mapping[str, str], secrets: Mapping[str, Secret], found: Diagnostics
) -> None:
    """Replace variables in the fields that have them, and check what came out.

    What needs a variable without a value is left out: the missing value is the error.
    """
    written = b.data.get("envs")
    missing = written.keys() - envs.keys() if isinstance(written, dict) else ()
    for field in FIELDS:
        value = b.data.get(field)
        if value is None:
            continue
        substitution = Substitution(b, envs, secrets, missing)
        result = substitution.apply(value, (field,))
        if not substitution.met:
            continue
        if (field,) in substitution.unresolved:
            del b.data[field]
            continue
        if isinstance(result, dict):
            result = {
                key: item
                for key, item in result.items()
                if (field, key) not in substitution.unresolved
            }
        b.data[field] = result
        changed = _parts_to_check(field, result, substitution.met)
        if changed:
            again = Diagnostics()
            check_value(b.document, (field,), changed, "task", _STRICT[field], again)
            known = {item.span for item in found}
            found.extend(item for item in again if item.span not in known)


def _parts_to_check(field: str, result: object, met: Iterable[Path]) -> dict[str, object]:
    """What the schema could have something against, now that its variables have values.

    Plain mounts and free texts are left out: the rules for them are all in the model, and
    checking against a schema costs more than all of building.
    """
    if not isinstance(result, dict):
        return {}
    if field == "service":
        strict = [path for path in met if not any(path[: len(p)] == p for p in FREE_TEXT)]
        return result if strict else {}
    if field == "workdir":
        return result
    changed = {path[1] for path in met}
    return {key: item for key, item in result.items() if key in changed and isinstance(item, dict)}


def _name(b: Builder, value: object) -> str | None:
    name = b.text(("name",), value)
    if name is not None and not _task_name.fullmatch(name):
        b.report(
            codes.TASK_NAME,
            ("name",),
            f"{quoted(name)} cannot be the name of a task",
            expected=TASK_NAME_RULE,
        )
    return name


def _num_nodes(b: Builder, value: object) -> int:
    if value is None:
        return 1
    return b.integer(("num_nodes",), value, least=1) or 1


def _estimate(b: Builder, field: str, value: object) -> dict[str, float]:
    """`inputs` and `outputs`: one URL and its GB."""
    result: dict[str, float] = {}
    entries = b.mapping((field,), value)
    if len(entries) > 1:
        b.unexpected((field,), value, "a map with one entry")
    for url, size in entries.items():
        if is_number(size):
            result[url] = size  # type: ignore[assignment]
        else:
            b.unexpected((field, url), size, "the size in GB")
    return result


def _has_container(resources: ResourceSet) -> bool:
    return any(item.image is not None and item.image.docker for item in resources.candidates)


def _autostop_hooks(b: Builder, resources: object) -> tuple[Hook, ...]:
    """Hooks in the deprecated spelling, each once."""
    if not isinstance(resources, dict):
        return ()
    layers: list[tuple[Path, dict[str, object]]] = [(("resources",), resources)]
    for key in ("any_of", "ordered"):
        items = resources.get(key)
        for at, item in enumerate(items if isinstance(items, list) else ()):
            if isinstance(item, dict):
                layers.append((("resources", key, at), item))
    hooks = (autostop_hook(b, (*path, "autostop"), layer.get("autostop")) for path, layer in layers)
    return tuple(dict.fromkeys(hook for hook in hooks if hook is not None))
