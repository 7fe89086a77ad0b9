"""Which rows of the support table a task uses, and the diagnostics that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from compiler.diagnostics import Diagnostic, Span
from compiler.diagnostics.codes.slurm import SLURM_MEMBER_NAME
from compiler.diagnostics.codes.targets import FIELD_CHANGED, FIELD_IGNORED, FIELD_REFUSED
from compiler.model import GitWorkdir, Group, Pipeline, Resources, TargetSpec, Task
from compiler.targets.interface import SupportLevel
from compiler.targets.slurm.bounds import too_large
from compiler.targets.slurm.idling import can_stop
from compiler.targets.slurm.native import conflicts, is_heterogeneous
from compiler.targets.slurm.support import SUPPORT

_CODES = {
    SupportLevel.CHANGED: FIELD_CHANGED,
    SupportLevel.IGNORED: FIELD_IGNORED,
    SupportLevel.REFUSED: FIELD_REFUSED,
}
_SELDOM = ("inputs", "outputs", "event_callback", "api_server_access", "service", "pool")
_RESOURCES = tuple(
    row.removeprefix("resources.")
    for row in SUPPORT
    if row.startswith("resources.") and "(" not in row
)
_ALIASES = {"gpus": "accelerators"}
# What lies in the folders of a run, beside those of its tasks.
_OF_THE_RUN = frozenset(
    [
        "container",
        "ended",
        "home",
        "hostnames",
        "hosts",
        "hosts.group",
        "hosts.lock",
        "hosts.system",
        "job.sbatch",
        "logs",
        "members",
        "nodes",
        "parts",
        "record.json",
        "restarts",
        "secrets",
        "snapshot",
        "started",
        "step",
        "stopped",
        "used",
    ]
)
# What only its cases have something to say of.
_OF_CASES = ("autostop", "image_id")

Use = tuple[str, Callable[[], Span]]
"""A row of the table, and how to find where the user wrote it (which costs a look)."""


def findings(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """A diagnostic for each used field that does not mean on Slurm what it says."""
    yield from too_large(task, resources, target)
    if task.native_script is not None or task.native_arguments:
        yield from conflicts(task, resources, task.origin.key_span("config"))
    for row, place in used(task, resources, target):
        support = SUPPORT[row]
        code = _CODES.get(support.level)
        if code is None:
            continue
        name = row.split(" (")[0]
        yield code.at(
            place(),
            f"`{name}` on Slurm: {support.note}",
            hint=support.hint or None,
            target=target.key,
        )


def of_whole(whole: object, target: TargetSpec) -> Iterator[Diagnostic]:
    """What stands against a group or a pipeline that does not stand against its tasks."""
    if isinstance(whole, Group | Pipeline):
        yield from _taken_names(whole, target)
    if not isinstance(whole, Group) or is_heterogeneous(whole):
        return
    support = SUPPORT["group (kept script)"]
    for task in whole.tasks:
        if task.native_script is not None:
            yield FIELD_REFUSED.at(
                task.origin.key_span("config", "triplane", "native_script"),
                f"`group` on Slurm: {support.note}",
                hint=support.hint,
                target=target.key,
            )


def _taken_names(whole: Group | Pipeline, target: TargetSpec) -> Iterator[Diagnostic]:
    for task in whole.tasks:
        if task.name in _OF_THE_RUN:
            yield SLURM_MEMBER_NAME.at(
                task.origin.span("name"),
                f"on Slurm no task of several can be called `{task.name}`",
                hint=f"`{task.name}-1`, say: the run has a file or folder of that name",
                target=target.key,
            )


def used(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Use]:
    """Everything that the task asks for."""
    yield from _of_task(task)
    yield from _of_files(task, resources)
    yield from _of_config(task)
    yield from _of_resources(resources, target)
    yield from _of_autostop(task, resources, target)
    if task.native_script is not None and resources.job_recovery is not None:
        row = "resources.job_recovery (native_script)"
        yield row, partial(_key_span, resources, "job_recovery")


def _of_task(task: Task) -> Iterator[Use]:
    for key in _SELDOM:
        if key in task.given:
            yield key, partial(task.origin.key_span, key)
    if isinstance(task.workdir, GitWorkdir):
        yield "workdir (git)", task.workdir.origin.key_span
    if task.run is None:
        yield "run (absent)", task.origin.span
    for place, names in (("envs", task.envs), ("secrets", task.secrets)):
        login = next((name for name in names if name.startswith("SKYPILOT_DOCKER_")), None)
        if login is not None:  # the three belong together
            yield "envs.SKYPILOT_DOCKER_*", partial(task.origin.key_span, place, login)
            break
    for secret in task.secrets.values():
        if secret.mount_path is not None:
            place = "managed_secrets" if secret.managed else "secrets"
            yield (
                "managed_secrets.mount_path",
                partial(task.origin.span, place, secret.name, "mount_path"),
            )


def _of_files(task: Task, resources: Resources) -> Iterator[Use]:
    for mount in task.file_mounts:
        if "://" in mount.source:
            yield "file_mounts (URL)", mount.origin.span
    for storage in task.storage:
        yield "file_mounts (storage)", storage.origin.key_span
    for volume in task.volumes:
        if volume.size_gib is not None:
            yield "volumes.size", volume.origin.key_span
        elif volume.host_path is None:
            yield "volumes.name", volume.origin.key_span
        elif resources.image is not None and resources.image.docker:
            yield "volumes.host_path", volume.origin.key_span
        elif volume.host_path != volume.path:
            yield "volumes.host_path (no container)", volume.origin.key_span


def _of_config(task: Task) -> Iterator[Use]:
    for key in ("docker", "nvidia_gpus"):
        if task.config.get(key):
            yield f"config.{key}", partial(task.origin.key_span, "config", key)
    if task.hooks:
        row = "config.hooks (native_script)" if task.native_script else "config.hooks"
        yield row, partial(task.origin.key_span, "config", "hooks")
    if task.native_script is not None:
        place = partial(task.origin.key_span, "config", "triplane", "native_script")
        yield "config.triplane.native_script", place


def _of_resources(resources: Resources, target: TargetSpec) -> Iterator[Use]:
    given = {_ALIASES.get(key, key): key for key in sorted(resources.given)}
    for name in _RESOURCES:
        if name in given and name not in _OF_CASES and _is_asked(name, resources):
            yield f"resources.{name}", partial(_key_span, resources, given[name])
    for row, name, holds in _cases(resources, target):
        if holds:
            yield row, partial(_key_span, resources, given.get(name, name))


def _key_span(resources: Resources, key: str) -> Span:
    return resources.origin_of(key).key_span()


def _is_asked(name: str, resources: Resources) -> bool:
    """Whether the key, which is written, asks for something: `use_spot: false` does not."""
    if name in ("use_spot", "ports", "labels", "job_recovery", "accelerator_args"):
        return bool(getattr(resources, name))
    return name != "local_disk" or resources.local_disk is not None


def _of_autostop(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Use]:
    """Only what is kept without a `run` can be idle."""
    if resources.autostop is None:
        return
    row = "resources.autostop"
    if task.run is None and task.native_script is None:
        row = "resources.autostop (without run)"
        if not resources.autostop.down and not can_stop(resources, target):
            row = "resources.autostop (without run, nothing to stop)"
    yield row, partial(_key_span, resources, "autostop")


def _cases(resources: Resources, target: TargetSpec) -> Iterator[tuple[str, str, bool]]:
    """(row, the dialect's key, whether the case holds)."""
    cpus, memory, accelerator = resources.cpus, resources.memory, resources.accelerator
    yield "resources.cpus (N+)", "cpus", cpus is not None and cpus.at_least
    yield "resources.cpus (fraction)", "cpus", cpus is not None and not cpus.value.is_integer()
    yield "resources.memory (N+)", "memory", memory is not None and memory.at_least
    yield (
        "resources.memory (not handed out)",
        "memory",
        memory is not None and target.options.get("memory") == "ignored",
    )
    if accelerator is not None:
        fraction = accelerator.count != int(accelerator.count)
        yield "resources.accelerators (fraction)", "accelerators", fraction
        is_tpu = accelerator.name.lower().startswith("tpu")
        yield "resources.accelerators (TPU)", "accelerators", is_tpu
    if resources.image is not None:
        docker = resources.image.docker is not None
        runs = target.options.get("containers")
        nothing = runs not in ("pyxis", "apptainer")
        yield "resources.image_id (docker)", "image_id", docker and runs == "pyxis"
        yield "resources.image_id (docker, Apptainer)", "image_id", docker and runs == "apptainer"
        yield "resources.image_id (docker, no Pyxis)", "image_id", docker and nothing
        machine = bool(resources.image.machine or resources.image.by_region) and not docker
        yield "resources.image_id (machine)", "image_id", machine
