"""The scripts that a run's nodes fetch, and the few values that they are given."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from compiler.catalog import InstanceType
from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import aws as codes
from compiler.model import Accelerator, GitWorkdir
from compiler.rendering.launcher import Placement, gpus_per_node, script_folder, task_env
from compiler.resources import data_folder
from compiler.targets.aws.buckets import bucket_uses
from compiler.targets.aws.hooks import hook_texts
from compiler.targets.aws.mounting import mounts
from compiler.targets.aws.options import options_of
from compiler.targets.aws.ownership import owner_of
from compiler.targets.interface import Job

SUPERVISOR_FILES = ("supervisor.sh", "node.sh", "peers.sh", "enter.sh")
_READABLE = ("ssm", "secrets_manager")


@dataclass(frozen=True, slots=True)
class SecretReference:
    """Where a node reads a secret: `kind` is `ssm` or `secrets_manager`. `mount_path` is the
    file that it becomes, None for a variable."""

    name: str
    kind: str
    reference: str
    mount_path: str | None = None

    @property
    def source(self) -> str:
        """As node.sh takes it."""
        return f"{self.kind}:{self.reference}"


def secret_references(job: Job, diagnostics: Diagnostics) -> tuple[SecretReference, ...]:
    """The stack's place of each secret, else the parameter that `apply` writes it to."""
    references = []
    for name, secret in sorted(job.task.secrets.items()):
        path = secret.mount_path
        source = job.stack.secrets.get(name, {}).get(job.target.key)
        if source is None:
            reference = owner_of(job.stack, job.target).parameter(name)
            references.append(SecretReference(name, "ssm", reference, path))
        elif source.kind in _READABLE:
            references.append(SecretReference(name, source.kind, source.reference, path))
        else:
            diagnostics.add(
                codes.SECRET_SOURCE.at(
                    job.stack.origin.span("secrets", name, job.target.key),
                    f"secret `{name}` cannot be read from `{source.kind}` on AWS",
                    hint="use `ssm` or `secrets_manager`",
                    target=job.target.key,
                )
            )
    return tuple(references)


@cache
def static_text(name: str) -> str:
    """A file of templates/aws that is the same for every job."""
    return (data_folder("templates") / "aws" / name).read_text(encoding="utf-8")


def scripts_of(job: Job, instance: InstanceType, region: str, job_env: str) -> dict[str, str]:
    """File name -> text of everything a node runs. ValueError for a text no script can hold.

    A task that names only an instance type gets the count of its accelerators.
    """
    accelerator = job.resources.accelerator
    if accelerator is None and instance.accelerator is not None:
        accelerator = Accelerator(instance.accelerator, instance.accelerator_count)
    placement = Placement(
        cluster_name=job.name, cloud="aws", region=region, zone=job.resources.infra.zone
    )
    env = task_env(
        job.task,
        task_id=job.task_id,
        placement=placement,
        gpus=gpus_per_node(accelerator),
        run=job.run,
        group=job.group_name,
    )
    files = script_folder(job.task, env, static_text("platform.sh"))
    files |= {name: static_text(name) for name in SUPERVISOR_FILES}
    if bucket_uses(job.task):
        files["buckets.sh"] = static_text("buckets.sh")
    if texts := hook_texts(job.task):
        files |= {"hooks.sh": static_text("hooks.sh"), **texts}
    if job.task.run is None and job.resources.autostop is not None:
        files["idle.sh"] = static_text("idle.sh")
    if mounts(job):
        files["volumes.sh"] = static_text("volumes.sh")
    if isinstance(job.task.workdir, GitWorkdir):
        files["git.sh"] = static_text("git.sh")
    if options_of(job.target, job.stack).log_group:
        files["logs.sh"] = static_text("logs.sh")
    files["job.env"] = job_env
    return dict(sorted(files.items()))


def digests_of(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """(file name, sha256 in hex) of every script."""
    return [(name, _digest(text)) for name, text in files.items()]


@lru_cache(maxsize=64)  # most of the texts are the same in every run
def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
