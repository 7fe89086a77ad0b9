"""Slurm's refusals in terms of the task: which rule it was, and what to change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.diagnostics import Code, Diagnostic
from compiler.diagnostics.codes import slurm_deploy as codes
from compiler.targets.interface import StepRefused


@dataclass(frozen=True, slots=True)
class Refusal:
    """`fields` are the dialect's fields, the likeliest first, that the refusal is about."""

    code: Code
    fields: tuple[str, ...]
    hint: str


_QUOTA = "config.slurm.quota"
_OPTIONS = "config.slurm.sbatch_options"

# The first pattern that is found in sbatch's or scontrol's words wins.
_REFUSALS: tuple[tuple[str, Refusal], ...] = tuple(
    (pattern, Refusal(code, fields, hint))
    for pattern, code, fields, hint in (
        (
            r"QOS\w*(Max|Min)|Assoc\w*(Max|Min|Grp)|violates accounting/QOS policy",
            codes.LIMIT_REFUSED,
            ("resources.accelerators", "num_nodes", f"{_QUOTA}.queue"),
            "ask for less, or for a QOS or an account with room for it",
        ),
        (
            r"Invalid account or account/partition combination",
            codes.ACCOUNT_REFUSED,
            (f"{_QUOTA}.account", f"{_OPTIONS}.account", "resources.infra"),
            "name an account that you belong to and that may use the partition "
            "(sacctmgr show assoc user=$USER)",
        ),
        (
            r"Invalid qos specification",
            codes.QOS_REFUSED,
            (f"{_QUOTA}.queue", f"{_OPTIONS}.qos"),
            "name a QOS that your account may use (sacctmgr show assoc user=$USER format=qos)",
        ),
        (
            r"invalid partition|Invalid partition",
            codes.PARTITION_REFUSED,
            ("resources.infra",),
            "name one of the cluster's partitions (sinfo -s)",
        ),
        (
            r"time limit",
            codes.TIME_REFUSED,
            (f"{_OPTIONS}.time",),
            "ask for no more than the partition's limit (sinfo -o '%P %l')",
        ),
        (
            r"Invalid feature specification",
            codes.FEATURE_REFUSED,
            (f"{_OPTIONS}.constraint",),
            "name features that nodes of the partition have (sinfo -o '%P %f')",
        ),
        (
            r"Requested node configuration is not available|Node count specification invalid"
            r"|More processors requested than permitted|Invalid generic resource"
            r"|Memory specification can not be satisfied|Unable to allocate resources: Requested",
            codes.NODES_REFUSED,
            ("resources.accelerators", "num_nodes", "resources.cpus", "resources.memory"),
            "ask for what nodes of the partition have (sinfo -N -o '%N %P %G %c %m'); where `cpus` "
            "is not written it is 4 a GPU, and `memory` 4 GiB a CPU with GPUs, 1 GiB without",
        ),
        (
            r"Access/permission denied|User not allowed|User's group not permitted",
            codes.PERMISSION_REFUSED,
            (f"{_QUOTA}.account", "resources.infra"),
            "ask the cluster's administrators who may do this",
        ),
        (
            r"Invalid job array specification",
            codes.LIMIT_REFUSED,
            (),
            "start fewer at once (scontrol show config | grep MaxArraySize)",
        ),
        (
            r"submit limit|job limit|Job/step already|JobSubmit",
            codes.LIMIT_REFUSED,
            (f"{_QUOTA}.queue",),
            "wait until some of your jobs have ended",
        ),
    )
)


def explain_refusal(stderr: str) -> Refusal | None:
    """The rule behind the words of sbatch or scontrol; None for words that are not known."""
    for pattern, refusal in _REFUSALS:
        if re.search(pattern, stderr):
            return refusal
    return None


def diagnose(stderr: str, target: str) -> tuple[Diagnostic, ...]:
    """The diagnostic of a refusal, without a place: who has the task adds it."""
    refusal = explain_refusal(stderr)
    if refusal is None:
        return ()
    words = "; ".join(_without_prefix(line) for line in stderr.splitlines() if line.strip())
    message = f"Slurm refused the job: {words}"
    return (refusal.code.at(None, message, hint=refusal.hint, target=target),)


def refused(target: str, stderr: str) -> StepRefused:
    """The error for what sbatch or scontrol refused with these words."""
    refusal = explain_refusal(stderr)
    fields = refusal.fields if refusal else ()
    return StepRefused(f"{target}: {stderr}", diagnose(stderr, target), fields)


def _without_prefix(line: str) -> str:
    line = re.sub(r"^(sbatch|scontrol|slurm_\w+): (error: )?", "", line.strip())
    return line.removeprefix("Batch job submission failed: ")
