"""Slurm's variables on other targets, from what SkyPilot's dialect has there."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
    "SLURM_TASKS_PER_NODE": "{per_node_text}",
    "SLURM_JOB_CPUS_PER_NODE": "{node_cpus_text}",
    "SLURM_JOB_PARTITION": "{partition}",
    "SLURM_JOB_ACCOUNT": "{account}",
    "SLURM_MEM_PER_NODE": "{node_memory}",
    "SLURM_MEM_PER_CPU": "{cpu_memory}",
    "SLURM_JOB_GPUS": "{gpu_list}",
}
"""Words of the shell; names in braces are the job's own numbers."""

_ALWAYS = (
    *("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "SLURM_NTASKS", "SLURM_NODEID"),
    *("SLURM_PROCID", "SLURM_LOCALID", "SLURM_JOB_NODELIST", "SLURM_GPUS_ON_NODE"),
    "SLURM_JOB_NAME",
)


def known(script: Script) -> frozenset[str]:
    """Slurm's variables that have a counterpart for this script."""
    numbers = _numbers(script)
    return frozenset(name for name, form in _FORMS.items() if _text(form, numbers) is not None)


def export_lines(script: Script, wants_all: bool = False) -> list[str]:
    """`export NAME=...` for what the script reads, and with `shim` (or `wants_all`) for what
    other programs may read."""
    read = {fact.text for fact in script.facts if fact.kind == "slurm-variable"}
    own = {assignment.name for assignment in script.body.assignments}
    wanted = read - own
    if script.settings.shim or wants_all:
        wanted |= set(_ALWAYS)
    numbers = _numbers(script)
    found = {name: _text(_FORMS[name], numbers) for name in sorted(wanted & _FORMS.keys())}
    return [f"export {name}={text}" for name, text in found.items() if text is not None]


def _text(form: str, numbers: Mapping[str, object]) -> str | None:
    """The form with its numbers; None where one of them is not known."""
    needed = re.findall(r"(?<!\{)\{([a-z_]+)\}(?!\})", form)
    if any(numbers[key] is None for key in needed):
        return None
    return form.format(**numbers) if "{" in form else form


def _numbers(script: Script) -> Mapping[str, object]:
    request, options = script.request, script.options
    memory, per = request.memory_mib or None, request.memory_per
    gpus = request.node_gpus
    return {
        "tasks": request.task_count,
        "per_node": request.node_tasks,
        "cpus": request.cpus_per_task,
        "name": sh(script.job_name),
        "per_node_text": _each(request.node_tasks, request.node_count),
        "node_cpus_text": _each(request.node_cpus, request.node_count),
        "partition": sh(options["partition"]) if "partition" in options else None,
        "account": sh(options["account"]) if "account" in options else None,
        "node_memory": memory if per == "node" else None,
        "cpu_memory": memory if per == "cpu" else None,
        "gpu_list": ",".join(map(str, range(gpus[1]))) if gpus else None,
    }


def _each(number: int | None, nodes: int | None) -> str | None:
    """A number of every node as Slurm writes it: `4`, `4(x2)`."""
    if number is None or nodes is None:
        return None
    return str(number) if nodes == 1 else f"'{number}(x{nodes})'"
