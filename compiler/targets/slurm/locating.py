"""Where the user wrote what a refusal of Slurm is about."""

from __future__ import annotations

from compiler.diagnostics import Span
from compiler.targets.interface import Job
from compiler.targets.slurm.header import partition_of
from compiler.targets.slurm.options import long_name
from compiler.targets.slurm.settings import Settings

_QUOTA = "config.slurm.quota."
_OPTIONS = "config.slurm.sbatch_options."
# What `workspaces` of the stack call the keys of `quota`.
_OWN_KEYS = {"account": "account", "queue": "qos"}


def written_at(job: Job, field: str) -> Span | None:
    """The place of a field of the dialect, in the task or in the stack's configuration for it;
    None where nobody wrote it (the cluster's default holds)."""
    if field.startswith("resources."):
        key = field.removeprefix("resources.")
        given = next((name for name in _spellings(key) if name in job.resources.given), None)
        return job.resources.origin_of(given).span() if given else None
    if field.startswith(_QUOTA):
        key = field.removeprefix(_QUOTA)
        settings = Settings(job)
        setting = settings.quota(key, _OWN_KEYS[key], partition_of(job, settings))
        return setting.span if setting else None
    if field.startswith(_OPTIONS):
        return _option(job, field.removeprefix(_OPTIONS))
    return job.task.origin.span(field) if field in job.task.given else None


def _spellings(key: str) -> tuple[str, ...]:
    return {
        "accelerators": ("accelerators", "gpus"),
        "infra": ("infra", "zone", "region", "cloud"),
    }.get(key, (key,))


def _option(job: Job, name: str) -> Span | None:
    """The strongest of the scopes that set the option."""
    settings = Settings(job)
    found = None
    for layer in settings.sbatch_options(partition_of(job, settings)):
        for key in layer.values:
            if long_name(key) == name:
                found = layer.span(key)
    return found
