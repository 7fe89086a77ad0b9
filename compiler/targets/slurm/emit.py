"""From lowered data to the one artifact of a Slurm job."""

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
    return Artifact(
        path=f"{job.folder}/{SCRIPT}",
        text=script_text(lowered),
        kind=ArtifactKind.SBATCH,
        name=f"Job/{job.name}",
    )


def script_text(lowered: SlurmJob) -> str:
    data = {
        "directives": [directive(name, value) for name, value in lowered.directives],
        "base": lowered.base,
        "output_is_relative": lowered.output_is_relative,
        "run_folder": lowered.run_folder,
        "set_name": lowered.set_name,
        "run_key": lowered.run_key,
        "nodes": lowered.nodes,
        "cpus": lowered.cpus,
        "scripts": list(lowered.scripts.items()),
        "copies": lowered.copies,
        "repository": lowered.repository,
        "container": lowered.container,
        "handed_secrets": lowered.handed_secrets,
        "secret_files": lowered.secret_files,
        "has_secrets": bool(lowered.handed_secrets or lowered.secret_files),
        "recovery": lowered.recovery,
        "hooks": [(event, list(calls)) for event, calls in groupby(lowered.hooks, _event)],
        "has_setup": lowered.has_setup,
        "has_run": lowered.has_run,
    }
    return render("slurm/job.sbatch.j2", data)


def _event(call: HookCall) -> str:
    return call.event
