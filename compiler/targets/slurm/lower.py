"""From a job to plain data: the directives, and everything that the script's text needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from compiler.diagnostics import Diagnostics
from compiler.rendering.launcher import Placement, gpus_per_node, script_folder, task_env
from compiler.rendering.quoting import sh, shdq
from compiler.resources import data_folder
from compiler.targets.interface import Job
from compiler.targets.slurm import files, header, recovery, requests
from compiler.targets.slurm.apptainer import Apptainer, apptainer_of
from compiler.targets.slurm.containers import Container, container_of
from compiler.targets.slurm.idling import Idling, idling_of
from compiler.targets.slurm.paths import is_fixed, login_word
from compiler.targets.slurm.settings import Settings

_OF_THE_TASK = ("task.env", "setup.sh", "run.sh", "links.sh")


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """One sbatch script as data.

    `directives` are (long option, value or None for a flag) in the order of the script;
    `base` and the paths in `secret_files` are shell words; `scripts` maps file names to texts.
    `run_key` is that of the whole and `part` the task's folder in it, empty for a task alone;
    `component` counts the parts of a heterogeneous job; `joins` is the `run_key` of a group;
    `array` counts the members of an array.
    """

    directives: tuple[tuple[str, str | None], ...]
    base: str
    output_is_relative: bool
    run_folder: str
    set_name: str
    run_key: str
    part: str
    component: int | None
    in_group: bool
    joins: str | None
    array: int | None
    nodes: int
    cpus: int
    scripts: Mapping[str, str] = field(repr=False)
    copies: tuple[files.Copy, ...]
    repository: files.Repository | None
    container: Container | None
    apptainer: Apptainer | None
    handed_secrets: tuple[str, ...]
    secret_files: tuple[tuple[str, str], ...]
    recovery: recovery.Recovery | None
    hooks: tuple[recovery.HookCall, ...]
    has_setup: bool
    has_run: bool
    idling: Idling | None


def lower(
    job: Job,
    diagnostics: Diagnostics,
    *,
    common: header.Component | None = None,
    component: int | None = None,
) -> SlurmJob:
    """What the job is on Slurm; faults of configuration go to `diagnostics`.

    `common` and `component` are for the parts of a group or a pipeline. Raise ValueError for a
    value that has no form in a script.
    """
    settings = Settings(job)
    request = requests.request_of(job.resources, job.target)
    container = container_of(job.task, job.resources, job.target, settings)
    apptainer = apptainer_of(job.task, job.resources, job.target, settings)
    where = place_of(job, settings)
    handed, sources = secrets_of(job)
    return SlurmJob(
        directives=tuple(
            header.directives(
                job, settings, request, where.run_folder, diagnostics, component=common
            )
        ),
        base=where.base,
        output_is_relative=where.is_relative,
        run_folder=where.run_folder,
        set_name=job.stack.set_name,
        run_key=where.run_key,
        part=where.part,
        component=component,
        in_group=job.group is not None,
        array=job.num_jobs if job.num_jobs > 1 else None,
        joins=f"{job.joins.name}.{job.joins.run}" if job.joins else None,
        nodes=job.task.num_nodes,
        cpus=request.cpus,
        scripts=_scripts(job, container, apptainer, common.task_ids if common else None),
        copies=files.copies(job),
        repository=files.repository(job),
        container=container,
        apptainer=apptainer,
        handed_secrets=handed,
        secret_files=sources,
        recovery=recovery.recovery_of(job.resources),
        hooks=recovery.hook_calls(job.task),
        has_setup=job.task.setup is not None,
        has_run=job.task.run is not None,
        idling=idling_of(job, diagnostics),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a job's files are: `base` as a shell word, `run_folder` as a path that sbatch finds
    (from the base, where `is_relative`); `run_key` and `part` as in SlurmJob."""

    base: str
    run_folder: str
    is_relative: bool
    run_key: str
    part: str


def place_of(job: Job, settings: Settings) -> Place:
    workdir = str(job.target.options.get("workdir") or settings.value("workdir") or "~")
    run_key = f"{job.whole}.{job.run}"
    part = part_of(job)
    run_folder = f".triplane/{job.stack.set_name}/runs/{run_key}"
    if part and job.pipeline is not None:
        run_folder += f"/{part}"
    if is_fixed(workdir):
        run_folder = f"{workdir.rstrip('/')}/{run_folder}"
    return Place(login_word(workdir), run_folder, not is_fixed(workdir), run_key, part)


def part_of(job: Job) -> str:
    """The folder of a member within the run of its whole: its name there."""
    return "" if job.part_of is None else job.work.removeprefix(f"{job.part_of}-")


def _scripts(
    job: Job, container: Container | None, apptainer: Apptainer | None, task_ids: str | None
) -> dict[str, str]:
    env = task_env(
        job.task,
        task_id=job.task_id,
        placement=Placement(
            cluster_name=job.name,
            cloud="slurm",
            region=job.target.key,
            zone=None,
        ),
        gpus=gpus_per_node(job.resources.accelerator),
        run=job.run,
        group=job.group_name,
    )
    # The partition is known for sure when the job runs, and may change while it waits.
    info = shdq(env.pop("SKYPILOT_CLUSTER_INFO")).replace(
        '\\"zone\\": null', '\\"zone\\": \\"$SLURM_JOB_PARTITION\\"'
    )
    scripts = script_folder(job.task, env, _template_text("platform.sh"))
    scripts["task.env"] += f'export SKYPILOT_CLUSTER_INFO="{info}"\n'
    if job.num_jobs > 1:
        task_id = shdq(job.task.envs.get("SKYPILOT_TASK_ID", job.task_id))
        scripts["task.env"] += (
            f'export SKYPILOT_TASK_ID="{task_id}-$SLURM_ARRAY_TASK_ID"\n'
            'export SKYPILOT_JOB_RANK="$SLURM_ARRAY_TASK_ID"\n'
            f"export SKYPILOT_NUM_JOBS={job.num_jobs}\n"
        )
    if task_ids is not None:
        scripts["task.env"] += f"export SKYPILOT_TASK_IDS={sh(task_ids)}\n"
    scripts["rank.sh"] = _template_text("rank.sh")
    if job.group_name is not None:
        scripts["names.sh"] = _template_text("names.sh")
    hooks = recovery.hook_scripts(job.task)
    scripts.update(hooks)
    links = files.links_text(
        job, other_home=container is not None, mounted=bool(container or apptainer)
    )
    if links is not None:
        scripts["links.sh"] = links
    own = {*_OF_THE_TASK, *hooks}
    # What is the task's own stands where a reviewer looks first.
    return dict(sorted(scripts.items(), key=lambda item: item[0] not in own))


@cache
def _template_text(name: str) -> str:
    return (data_folder("templates") / "slurm" / name).read_text(encoding="utf-8")


def secrets_of(job: Job) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Names handed over at apply, and (name, path word) of those in a file of the cluster."""
    handed, sources = [], []
    for name in sorted(job.task.secrets):
        source = job.stack.secrets.get(name, {}).get(job.target.key)
        if source is None:
            handed.append(name)
        else:
            sources.append((name, login_word(source.reference)))
    return tuple(handed), tuple(sources)
