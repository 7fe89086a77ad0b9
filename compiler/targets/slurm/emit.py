"""From lowered data to the text of a Slurm job."""

from __future__ import annotations

from itertools import groupby

from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.environment import render
from compiler.targets.interface import Job
from compiler.targets.slurm.directives import directive
from compiler.targets.slurm.lower import SlurmJob
from compiler.targets.slurm.recovery import HookCall

SCRIPT = "job.sbatch"


def emit(job: Job, lowered: SlurmJob) -> Artifact:
    """`slurm/<target>/<job name>/job.sbatch`. Raise ValueError for what a script cannot hold."""
    return artifact(job, render("slurm/job.sbatch.j2", data_of(lowered)))


def artifact(job: Job, text: str, folder: str = "") -> Artifact:
    """The script of a job, or of a part of it that has a folder of its own."""
    path = "/".join(filter(None, (job.folder, folder, SCRIPT)))
    name = "/".join(filter(None, ("Job", job.name, folder)))
    return Artifact(path=path, text=text, kind=ArtifactKind.SBATCH, name=name)


def directive_lines(lowered: SlurmJob) -> list[str]:
    return [directive(name, value) for name, value in lowered.directives]


def data_of(lowered: SlurmJob) -> dict[str, object]:
    """What the templates of one task are given."""
    recovery = lowered.recovery
    return {
        "directives": directive_lines(lowered),
        "base": lowered.base,
        "output_is_relative": lowered.output_is_relative,
        "run_folder": lowered.run_folder,
        "set_name": lowered.set_name,
        "run_key": lowered.run_key,
        "member": lowered.part,
        "component": lowered.component,
        "in_group": lowered.in_group,
        "joins": lowered.joins,
        "array": lowered.array,
        "name_in_group": lowered.run_key.rpartition(".")[0].removeprefix(
            f"{lowered.joins.rpartition('.')[0]}-" if lowered.joins else ""
        ),
        "nodes": lowered.nodes,
        "cpus": lowered.cpus,
        "scripts": list(lowered.scripts.items()),
        "copies": lowered.copies,
        "repository": lowered.repository,
        "container": lowered.container,
        "apptainer": lowered.apptainer,
        "handed_secrets": lowered.handed_secrets,
        "secret_files": lowered.secret_files,
        "has_secrets": bool(lowered.handed_secrets or lowered.secret_files),
        "recovery": recovery,
        "requeues": bool(recovery and recovery.on_errors and not lowered.in_group),
        "hooks": [(event, list(calls)) for event, calls in groupby(lowered.hooks, _event)],
        "has_setup": lowered.has_setup,
        "has_run": lowered.has_run,
        "idling": lowered.idling,
    }


def _event(call: HookCall) -> str:
    return call.event
