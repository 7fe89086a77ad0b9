"""A script that is kept as it is: its own shebang, run once, without the launcher around it.

The task's fields and `sbatch_options` are its directives; the script's own #SBATCH lines are
comments when it runs from here, so every one of them must be said by the task, and where
one says something else, that is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, Span
from compiler.diagnostics.codes import slurm_native as codes
from compiler.model import Group, Resources, Task
from compiler.rendering.artifact import Artifact
from compiler.rendering.environment import render
from compiler.rendering.filetree import NATIVE_SCRIPT
from compiler.rendering.quoting import heredoc
from compiler.targets.interface import Job
from compiler.targets.slurm import options, requests
from compiler.targets.slurm.directives import Unreadable, directive, header
from compiler.targets.slurm.recovery import recovery_of
from compiler.targets.slurm.settings import Settings

_LIMIT = 4 << 20
_OWN = ("setup", "run", "workdir", "file_mounts", "volumes", "service", "pool")
_FOLDER = "SLURM_SUBMIT_DIR"
UNLOCKED = frozenset(
    {
        *("array", "chdir", "container", "cpus-per-gpu", "cpus-per-task", "error", "export"),
        *("export-file", "gpus", "gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres"),
        *("input", "mem", "mem-per-cpu", "mem-per-gpu", "no-requeue", "nodes", "ntasks"),
        *("ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket"),
        *("ntasks-per-tres", "open-mode", "output", "partition", "requeue", "tres-per-task"),
        *("wait-all-nodes", "clusters", "cluster", "get-user-env"),
        *("container-image", "container-mounts", "container-workdir", "container-name"),
        *("container-save", "container-mount-home", "no-container-mount-home"),
        *("container-remap-root", "no-container-remap-root", "container-entrypoint"),
        *("no-container-entrypoint", "container-entrypoint-log", "container-writable"),
        *("container-readonly", "container-env", "image", "imagevolume", "volume", "module"),
        *("ear", "ear-policy", "ear-verbose", "environment", "uenv", "view"),
    }
)
"""What `sbatch_options` of a kept script may say beyond what they may say in general."""


def conflicts(task: Task, resources: Resources, place: Span) -> Iterator[Diagnostic]:
    """What cannot stand beside `native_script`: the script is all that is run."""
    if task.native_script is not None and resources.image is not None:
        yield codes.NATIVE_ALONE.at(
            resources.origin_of("image_id").key_span(),
            "`image_id` has no place beside `native_script`",
            hint="start the container in the script, as it does",
        )
    for key in _OWN:
        if task.native_script is not None and key in task.given:
            yield codes.NATIVE_ALONE.at(
                task.origin.key_span(key),
                f"`{key}` has no place beside `native_script`",
                hint="the script is run as it is: put it there, or into `run` all together",
            )
    if task.native_arguments and task.native_script is None:
        yield codes.NATIVE_ALONE.at(place, "`native_arguments` without `native_script`")


def render_native(job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
    """The one artifact. Raise ValueError for a value that has no form in a script."""
    from compiler.targets.slurm.emit import artifact

    text = native_text(job, diagnostics)
    return () if text is None else (artifact(job, text),)


def is_heterogeneous(group: Group) -> bool:
    """Whether a group is one heterogeneous job with a script that is kept: the first task's,
    which starts processes on the nodes of the others itself; those have demands and no `run`."""
    first, *others = group.tasks
    return (
        first.native_script is not None
        and group.primary_tasks == (first.name,)
        and all(task.run is None and task.setup is None for task in others)
        and all(task.native_script is None for task in others)
    )


def render_heterogeneous(job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
    """The one script of a group for which `is_heterogeneous` holds."""
    from compiler.targets.slurm.emit import artifact

    first, *others = job.members
    text = native_text(first, diagnostics, job_name=job.object_name, others=others)
    return () if text is None else (artifact(job, text),)


def native_text(
    job: Job,
    diagnostics: Diagnostics,
    *,
    job_name: str | None = None,
    others: Sequence[Job] = (),
) -> str | None:
    """The batch script around the kept one, None (and an error) where that cannot be taken.

    `others` are the further components of a heterogeneous job.
    """
    text = _text(job, diagnostics)
    if text is None:
        return None
    settings = Settings(job)
    found = dict(_directives(job, settings, diagnostics, job_name or job.object_name))
    if not others:
        diagnostics.extend(_differences(job, text, found))
    from compiler.targets.slurm.lower import place_of, secrets_of

    where = place_of(job, settings)
    handed, files = secrets_of(job)
    data = {
        "directives": [directive(name, value) for name, value in found.items()],
        "components": [list(_component(other, diagnostics)) for other in others],
        "base": where.base,
        "output_is_relative": where.is_relative,
        "run_folder": where.run_folder,
        "set_name": job.stack.set_name,
        "run_key": where.run_key,
        "part": where.part if job.pipeline is not None else "",
        "writing": writing(text, '"$SCRIPT"'),
        "env": list(_env(job).items()),
        "arguments": job.task.native_arguments,
        "handed_secrets": handed,
        "secret_files": files,
        "has_secrets": bool(handed or files),
    }
    return render("slurm/native.sbatch.j2", data)


def _component(job: Job, diagnostics: Diagnostics) -> Iterator[str]:
    """The directives of a further component: sbatch hands the job's name on to it."""
    found = dict(_directives(job, Settings(job), diagnostics, job.object_name))
    for name, value in found.items():
        if name != "job-name":
            yield directive(name, value)


def _text(job: Job, diagnostics: Diagnostics) -> str | None:
    """The script's text, None (and an error) where it cannot be taken."""
    tree = next((tree for tree in job.trees if tree.destination == NATIVE_SCRIPT), None)
    place = job.task.origin.child("config", "triplane").span("native_script")
    if tree is None or tree.local is None:
        return None  # it could not be read, which was said when it was looked for
    data = Path(tree.local).read_bytes()
    fault = None
    if not data.startswith(b"#!"):
        fault = "its first line is no `#!`"
    elif b"\0" in data:
        fault = "it holds a NUL byte"
    elif len(data) > _LIMIT:
        fault = "it is larger than the 4 MiB that slurmctld takes"
    if fault is not None:
        diagnostics.add(codes.NATIVE_UNFIT.at(place, f"`{job.task.native_script}`: {fault}"))
        return None
    return data.decode("utf-8", "surrogateescape")


def writing(text: str, target: str) -> str:
    """Commands that write the script to `target`, a shell word, byte for byte.

    A script in another encoding has bytes (here: surrogate escapes) that this one cannot hold:
    it is written as an escaped string.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        escaped = re.sub(r"([\\'])", r"\\\1", text).replace("\r", "\\r")
        shown = "".join(
            f"\\x{ord(character) - 0xDC00:02x}" if "\udc80" <= character <= "\udcff" else character
            for character in escaped
        )
        # An escape must not take the letters behind it for its own.
        shown = re.sub(r"(\\x[0-9a-f]{2})(?=[0-9A-Fa-f])", r"\1'$'", shown)
        return f"printf %s $'{shown}' >{target}\n"
    return heredoc(text, target)


def _env(job: Job) -> Mapping[str, str]:
    """The user's variables; the job is called differently in the queue, and not in the script."""
    secrets = job.task.secrets
    envs = {name: value for name, value in job.task.envs.items() if name not in secrets}
    return {"SLURM_JOB_NAME": job.work, **envs}


def _directives(
    job: Job, settings: Settings, diagnostics: Diagnostics, job_name: str
) -> Iterator[tuple[str, str | None]]:
    """Only what the task says: where it is silent, the cluster's defaults hold as before."""
    from compiler.targets.slurm.header import partition_of

    task, resources = job.task, job.resources
    yield "job-name", job_name
    controlled: dict[str, str] = {}
    request = requests.request_of(resources, job.target)
    if "num_nodes" in task.given:
        controlled["nodes"] = "`num_nodes`"
        yield "nodes", str(task.num_nodes)
    if resources.cpus is not None:
        controlled["cpus-per-task"] = "`resources.cpus`"
        yield "cpus-per-task", str(request.cpus)
    if resources.memory is not None and request.memory_mib is not None:
        controlled.update(dict.fromkeys(("mem", "mem-per-cpu", "mem-per-gpu"), "`memory`"))
        yield "mem", requests.memory_text(request.memory_mib)
    if resources.accelerator is not None:
        name, value = requests.gpu_directive(resources.accelerator, request.gpus, job.target)
        controlled[name] = "`resources.accelerators`"
        yield name, value
    if recovery_of(resources) is not None:
        controlled.update(dict.fromkeys(("requeue", "no-requeue"), "`resources.job_recovery`"))
        yield "requeue", None
    partition = partition_of(job, settings)
    if partition is not None:
        controlled["partition"] = "`resources.infra`"
        yield "partition", partition
    if resources.labels:
        controlled["comment"] = "`resources.labels`"
        yield "comment", " ".join(f"{key}={value}" for key, value in resources.labels.items())
    chosen = options.merge(
        settings.sbatch_options(partition),
        job.target.version,
        controlled,
        diagnostics,
        unlocked=UNLOCKED,
    )
    for option, quota in (("account", "account"), ("qos", "queue")):
        setting = settings.quota(quota, option, partition)
        if setting is not None:
            chosen.pop(option, None)
            yield option, str(setting.value)
    folder = task.envs.get(_FOLDER, "")
    if folder.startswith("/"):
        inner = chosen.pop("chdir", None)
        yield "chdir", folder if inner is None else str(Path(folder) / (inner.value or ""))
    for name, choice in chosen.items():
        yield name, choice.value


def _differences(job: Job, text: str, rendered: Mapping[str, str | None]) -> Iterator[Diagnostic]:
    """Directives of the script that the task does not repeat, or has with another value."""
    try:
        lines = list(header(text))
    except Unreadable:
        return
    place = job.task.origin.child("config", "triplane").span("native_script")
    for number, words in lines:
        for word in words:
            name, equals, value = word.removeprefix("--").partition("=")
            if not word.startswith("--") or not equals or name not in options.table():
                continue
            known = _instead(name, rendered)
            if known is None or (name in rendered and not _same(rendered[name], value)):
                yield codes.NATIVE_DIFFERS.at(
                    place,
                    f"line {number} of `{job.task.native_script}` has `--{name}={value}`, "
                    + (f"the task `{rendered[name]}`" if name in rendered else "the task has none"),
                    hint="the task's word counts; #SBATCH lines of a kept script are not read",
                )


_STAND_FOR = {
    "gres": ("gres", "gpus-per-node", "gpus"),
    "gpus": ("gres", "gpus-per-node", "gpus"),
    "gpus-per-node": ("gres", "gpus-per-node"),
    "mem": ("mem",),
    "tasks-per-node": ("ntasks-per-node",),
}
_NEVER = ("job-name", "parsable", "wait")


def _instead(name: str, rendered: Mapping[str, str | None]) -> str | None:
    """The rendered option that says what `name` says in the script."""
    if name in _NEVER or options.table()[name].role == "client":
        return name
    return next((other for other in _STAND_FOR.get(name, (name,)) if other in rendered), None)


def _same(ours: str | None, theirs: str) -> bool:
    """Whether two values may be the same, looking at no more than their spelling allows."""
    if ours is None:
        return True
    plain = str.maketrans("", "", " \"'")
    return not (ours.isdigit() and theirs.isdigit()) or ours == theirs.translate(plain)
