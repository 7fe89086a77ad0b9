"""The options of a job: what follows from the task, then what the configuration adds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import slurm as codes
from compiler.targets.interface import Job
from compiler.targets.slurm import gpu_types, limits, options, recovery, requests
from compiler.targets.slurm.paths import output_pattern
from compiler.targets.slurm.settings import Settings

_OUTPUT = "slurm-%j.out"
_OUTPUT_OF_ARRAY = "slurm-%A_%a.out"


@dataclass(frozen=True, slots=True)
class Component:
    """What the jobs of a group or a pipeline have in common, and whether this is the first of
    a job's components. `task_ids` are those of a whole pipeline, one a line."""

    job_name: str
    requeue: str
    first: bool
    task_ids: str | None = None


def directives(
    job: Job,
    settings: Settings,
    request: requests.Request,
    run_folder: str,
    diagnostics: Diagnostics,
    *,
    component: Component | None = None,
) -> Iterator[tuple[str, str | None]]:
    """(long option, value or None for a flag), in the order of the script."""
    task, resources = job.task, job.resources
    yield "job-name", component.job_name if component else job.object_name
    if component is None or component.first:
        name = _OUTPUT if job.num_jobs == 1 else _OUTPUT_OF_ARRAY
        yield "output", f"{output_pattern(run_folder)}/{name}"
        yield "open-mode", "append"
    yield "nodes", str(task.num_nodes)
    yield "ntasks-per-node", "1"
    yield "cpus-per-task", str(request.cpus)
    if request.memory_mib is not None:
        yield "mem", requests.memory_text(request.memory_mib)
    if resources.accelerator is not None:
        yield requests.gpu_directive(resources.accelerator, request.gpus, job.target)
    yield "wait-all-nodes", "1"
    yield component.requeue if component else recovery.requeue_directive(resources), None
    if job.num_jobs > 1:
        yield "array", f"0-{job.num_jobs - 1}"
    partition = partition_of(job, settings)
    if partition is not None:
        yield "partition", partition
    diagnostics.extend(gpu_types.left_open(job, settings, partition))
    controlled = {}
    if component is not None and component.task_ids is not None:
        order = "the order of the pipeline's tasks"
        controlled.update({"dependency": order, "kill-on-invalid-dep": order})
    if resources.labels:
        controlled["comment"] = "`resources.labels`"
        yield "comment", " ".join(f"{key}={value}" for key, value in resources.labels.items())
    chosen = options.merge(
        settings.sbatch_options(partition), job.target.version, controlled, diagnostics
    )
    for option, quota in (("account", "account"), ("qos", "queue")):
        setting = settings.quota(quota, option, partition)
        if setting is None:
            continue
        yield option, str(setting.value)
        overridden = chosen.pop(option, None)
        if overridden is not None and overridden.value != str(setting.value):
            diagnostics.add(
                codes.SBATCH_OPTION_OVERRIDDEN.at(
                    overridden.layer.span(overridden.key),
                    f"`--{option}={overridden.value}` gives way to `{setting.where}`",
                    found=overridden.value,
                    expected=str(setting.value),
                )
            )
    for name, choice in chosen.items():
        yield name, choice.value
    limit = limits.time_limit(job, partition, chosen.get("time"), diagnostics)
    if limit is not None:
        yield "time", limit


def partition_of(job: Job, settings: Settings) -> str | None:
    """The partition, or several with commas: what the user named, else what is configured."""
    resources = job.resources
    if resources.infra.zone is not None:
        return resources.infra.zone
    if (setting := settings.workspace_value("partition")) is not None:
        return str(setting.value)
    if resources.accelerator is None:
        found = settings.value("cpu_partition")
        return str(found) if found else None
    wanted = gpu_types.canonical(resources.accelerator.name)
    found = gpu_types.mapped(settings, wanted) or list(gpu_types.offering(job, wanted))
    return ",".join(found) or None
