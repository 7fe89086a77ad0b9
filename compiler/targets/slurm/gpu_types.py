"""Which partitions have which GPUs, by what the stack says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.catalog.accelerators import resolve_accelerator
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.slurm import SLURM_GPU_TYPE_OPEN
from compiler.targets.interface import Job
from compiler.targets.slurm.settings import Settings

_UNTYPED = ("untyped", "gpus-per-node-untyped")


def canonical(name: str) -> str:
    """One name for all spellings of an accelerator."""
    return (resolve_accelerator(name).name or name).lower()


def mapped(settings: Settings, wanted: str) -> list[str]:
    """The partitions that `gpu_partition_map` has for the accelerator."""
    partitions = settings.value("gpu_partition_map") or {}
    found = {canonical(name): value for name, value in partitions.items()}.get(wanted) or ()
    names = found if isinstance(found, list | tuple) else str(found).split(",")
    return [str(name) for name in names]


def offering(job: Job, wanted: str) -> Iterator[str]:
    """Partitions of which the stack says that their nodes have enough of the accelerator, the
    default partition first."""
    count = job.resources.accelerator.count if job.resources.accelerator else 0
    for name, entry in sorted(_described(job), key=lambda item: not item[1].get("default")):
        offered = entry.get("accelerators") or {}
        if any(canonical(kind) == wanted and has >= count for kind, has in offered.items()):
            yield name


def left_open(job: Job, settings: Settings, partition: str | None) -> Iterator[Diagnostic]:
    """That the type of the GPUs is not asked for, where no partition makes up for that.

    `partition` is what the job asks for, several with commas; None is the cluster's default.
    """
    accelerator, style = job.resources.accelerator, job.target.options.get("gres")
    if accelerator is None or style not in _UNTYPED:
        return
    wanted = canonical(accelerator.name)
    described = dict(_described(job))
    defaults = [name for name, entry in described.items() if entry.get("default")]
    names = partition.split(",") if partition else defaults
    of_the_type = {
        *mapped(settings, wanted),
        *(name for name, entry in described.items() if _only(entry, wanted)),
    }
    if names and of_the_type.issuperset(names):
        return
    yield SLURM_GPU_TYPE_OPEN.at(
        job.resources.origin_of("accelerators").span(),
        f"GPUs of any type may be given for `{accelerator}`: the stack says `gres: {style}`",
        hint="say in `partitions` or `gpu_partition_map` where such GPUs are, "
        "or set `gres: typed` if the cluster knows their types",
        target=job.target.key,
    )


def _only(entry: Mapping[str, object], wanted: str) -> bool:
    offered = entry.get("accelerators")
    return isinstance(offered, Mapping) and {canonical(str(kind)) for kind in offered} == {wanted}


def _described(job: Job) -> Iterator[tuple[str, Mapping[str, object]]]:
    partitions = job.target.options.get("partitions")
    if isinstance(partitions, Mapping):
        yield from ((str(name), entry) for name, entry in partitions.items())
