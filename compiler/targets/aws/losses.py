"""Which rows of the support table a task makes use of, and what is said about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Code, Diagnostic, Span
from compiler.diagnostics.codes.targets import FIELD_CHANGED, FIELD_IGNORED, FIELD_REFUSED
from compiler.model import Resources, Stack, Storage, TargetSpec, Task
from compiler.model.paths import url_scheme
from compiler.targets.aws.buckets import can_fetch, can_mount, url_of
from compiler.targets.aws.hooks import hook_calls
from compiler.targets.aws.instances import wants_efa
from compiler.targets.aws.support import SUPPORT
from compiler.targets.interface import SupportLevel

_CODES: Mapping[SupportLevel, Code] = {
    SupportLevel.CHANGED: FIELD_CHANGED,
    SupportLevel.IGNORED: FIELD_IGNORED,
    SupportLevel.REFUSED: FIELD_REFUSED,
}


def losses(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """What this candidate of the task loses, or is refused for, on AWS."""
    for field, span in (*_task_uses(task), *_resource_uses(task, resources)):
        yield from _diagnostic(field, span, target)


def stack_losses(stack: Stack, target: TargetSpec) -> Iterator[Diagnostic]:
    """What the target's own keys and the stack's `config.aws` lose."""
    config = stack.config.get("aws")
    if not isinstance(config, Mapping):
        return
    origin = stack.origin.child("config", "aws")
    for key, value in config.items():
        field = f"config.aws.{key}"
        if value is False:
            field += " (false)"
        if key == "vpc_names" and not (isinstance(value, list | tuple) and len(value) > 1):
            continue  # none is left over
        if field in SUPPORT and value not in (None, [], ()):
            yield from _diagnostic(field, origin.key_span(key), target)


def _diagnostic(field: str, span: Span, target: TargetSpec) -> Iterator[Diagnostic]:
    row = SUPPORT[field]
    code = _CODES.get(row.level)
    if code is not None:
        shown = field.partition(" (")[0]
        yield code.at(
            span, f"`{shown}` on AWS: {row.note}", hint=row.hint or None, target=target.key
        )


def _task_uses(task: Task) -> Iterator[tuple[str, Span]]:
    """(row, where) of each row that the task as a whole makes use of."""
    for key in ("event_callback", "inputs", "outputs", "service", "pool"):
        if key in task.given:
            yield key, task.origin.key_span(key)
    if "api_server_access" in task.given and task.api_server_access:
        yield "api_server_access", task.origin.key_span("api_server_access")
    for mount in task.file_mounts:
        if url_scheme(mount.source) is not None and not can_fetch(mount.source):
            yield "file_mounts (other store)", mount.origin.span()
    for storage in task.storage:
        yield from _storage_uses(storage)
    for mount in task.volumes:
        if mount.name is None or mount.size_gib is not None:
            yield "volumes (ephemeral)", mount.origin.key_span()
    config = task.origin.child("config")
    for number, hook in enumerate(task.hooks):
        if set(hook.events) == {"stop"}:
            yield "config.hooks (stop)", config.key_span("hooks", number, "events")
    if task.native_script is not None:
        yield "config.triplane.native_script", config.key_span("triplane", "native_script")
    for key in ("active_workspace", "nvidia_gpus"):
        if task.config.get(key):
            yield f"config.{key}", config.key_span(key)


def _storage_uses(storage: Storage) -> Iterator[tuple[str, Span]]:
    url = url_of(storage)
    reaches = can_fetch if storage.mode == "COPY" else can_mount
    if storage.source is None and url is None:
        yield "file_mounts (other store)", storage.origin.key_span()
    elif url is None:
        yield "file_mounts (storage to be filled)", storage.origin.span("source")
    elif not reaches(url):
        yield "file_mounts (other store)", storage.origin.key_span()
    elif storage.source is None:
        yield "file_mounts (new bucket)", storage.origin.span("name")
    if not storage.persistent:
        yield "file_mounts (not persistent)", storage.origin.key_span("persistent")


def _resource_uses(task: Task, resources: Resources) -> Iterator[tuple[str, Span]]:
    if hook_calls(task) and resources.image is not None and resources.image.docker:
        yield "config.hooks (container)", task.origin.child("config").key_span("hooks")

    def use(key: str, variant: str = "") -> tuple[str, Span]:
        name = f"resources.{key} ({variant})" if variant else f"resources.{key}"
        return name, resources.origin_of(key).key_span()

    given = resources.given
    for key in ("accelerator_args", "ephemeral_storage", "priority", "priority_class"):
        if key in given and getattr(resources, key) not in (None, {}):
            yield use(key)
    if "volumes" in given:
        yield use("volumes")
    if resources.use_spot:
        yield use("use_spot")
        if resources.max_hourly_cost is not None:
            yield use("max_hourly_cost", "spot")
    if resources.network_tier == "best" and not wants_efa(resources):
        yield use("network_tier", "best, CPU task")
    recovery = resources.job_recovery
    if recovery is not None and (recovery.strategy or "").lower() != "none":
        yield use("job_recovery")
    if resources.autostop is not None:
        down = resources.autostop.down
        variant = "without run" if down else "without run or down"
        yield use("autostop", "" if task.run is not None else variant)
