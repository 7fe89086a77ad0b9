"""Slurm's variables on other targets, from what SkyPilot's dialect has there."""

from __future__ import annotations

import re

from compiler.migration.script import Script
from compiler.rendering.quoting import sh

_NUMBER = '"$SKYPILOT_INTERNAL_JOB_ID"'
_LIST = "\"${{SKYPILOT_NODE_IPS//$'\\n'/,}}\""
_RANK = '"$SKYPILOT_NODE_RANK"'
_NODES = '"$SKYPILOT_NUM_NODES"'
_GPUS = '"$SKYPILOT_NUM_GPUS_PER_NODE"'

_FORMS = {
    "SLURM_JOB_ID": _NUMBER,
    "SLURM_JOBID": _NUMBER,
    "SLURM_JOB_NUM_NODES": _NODES,
    "SLURM_NNODES": _NODES,
    "SLURM_NTASKS": "{tasks}",
    "SLURM_NPROCS": "{tasks}",
    "SLURM_NTASKS_PER_NODE": "{per_node}",
    "SLURM_NODEID": _RANK,
    "SLURM_PROCID": _RANK,
    "SLURM_LOCALID": "0",
    "SLURM_JOB_NODELIST": _LIST,
    "SLURM_NODELIST": _LIST,
    "SLURM_GPUS_ON_NODE": _GPUS,
    "SLURM_GPUS_PER_NODE": _GPUS,
    "SLURM_CPUS_PER_TASK": "{cpus}",
    "SLURM_CPUS_ON_NODE": '"$(nproc)"',
    "SLURM_JOB_NAME": "{name}",
    "SLURM_SUBMIT_DIR": '"$PWD"',
    "SLURM_TMPDIR": '"${{TMPDIR:-/tmp}}"',
    "SLURM_JOB_USER": '"$(id -un)"',
    "SLURMD_NODENAME": '"$(hostname)"',
    "SLURM_RESTART_COUNT": "0",
}
"""Words of the shell; names in braces are the job's own numbers."""

KNOWN = frozenset(_FORMS)

_ALWAYS = (
    *("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NODEID"),
    *("SLURM_PROCID", "SLURM_LOCALID", "SLURM_JOB_NODELIST", "SLURM_GPUS_ON_NODE"),
    "SLURM_JOB_NAME",
)


def export_lines(script: Script) -> list[str]:
    """`export NAME=...` for what the script reads, and with `shim` for what others may read."""
    read = {fact.text for fact in script.facts if fact.kind == "slurm-variable"}
    own = {assignment.name for assignment in script.body.assignments}
    wanted = (read & KNOWN) - own
    if script.settings.shim:
        wanted |= set(_ALWAYS)
    numbers = _numbers(script)
    lines = []
    for name in sorted(wanted):
        form = _FORMS[name]
        needed = re.findall(r"(?<!\{)\{([a-z_]+)\}(?!\})", form)
        if all(numbers[key] is not None for key in needed):
            lines.append(f"export {name}={form.format(**numbers) if '{' in form else form}")
    return lines


def _numbers(script: Script) -> dict[str, object]:
    request = script.request
    cpus = request.cpus_per_task
    return {
        "tasks": request.task_count,
        "per_node": request.node_tasks,
        "cpus": cpus,
        "name": sh(script.job_name),
    }
