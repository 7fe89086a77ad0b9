"""Accelerators by their canonical names, so that every target and every price finds them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from compiler.catalog import resolve_accelerator
from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import catalog as codes
from compiler.model import Accelerator, Resources, Stack, Task


def resolve_accelerators(task: Task, known: Collection[str], diagnostics: Diagnostics) -> Task:
    """The task with canonical names; unknown and ambiguous ones are errors.

    `known` are names that the stack itself gives (a site may have what no catalogue lists).
    """
    candidates = tuple(
        _resolved(candidate, known, diagnostics) for candidate in task.resources.candidates
    )
    if candidates == task.resources.candidates:
        return task
    return replace(task, resources=replace(task.resources, candidates=candidates))


@lru_cache(maxsize=64)
def names_of(stack: Stack) -> frozenset[str]:
    """Accelerator names that the stack's partitions, maps and prices use."""
    found: set[str] = set()
    for prices in stack.pricing.values():
        found.update(prices)
    for spec in stack.targets.values():
        partitions = spec.options.get("partitions")
        if isinstance(partitions, dict):
            for partition in partitions.values():
                found.update((partition or {}).get("accelerators") or {})
    slurm = stack.config.get("slurm")
    if isinstance(slurm, dict):
        found.update(slurm.get("gpu_partition_map") or {})
    return frozenset(found)


def _resolved(candidate: Resources, known: Collection[str], diagnostics: Diagnostics) -> Resources:
    asked = candidate.accelerator
    if asked is None:
        return candidate
    resolution = resolve_accelerator(asked.name)
    if resolution.name == asked.name or asked.name in known:
        return candidate
    if resolution.name is not None:
        return replace(candidate, accelerator=Accelerator(resolution.name, asked.count))
    span = candidate.origin_of("accelerators").span()
    if resolution.ambiguous:
        diagnostics.add(
            codes.ACCELERATOR_AMBIGUOUS.at(
                span,
                f"accelerator `{asked.name}` fits several names",
                hint=f"did you mean one of {', '.join(resolution.candidates)}?",
            )
        )
    else:
        near = " or ".join(f"`{name}`" for name in resolution.candidates)
        diagnostics.add(
            codes.ACCELERATOR_UNKNOWN.at(
                span,
                f"accelerator `{asked.name}` is not known",
                hint=f"did you mean {near}?"
                if near
                else "names come from the catalogue, or from the stack's partitions and pricing",
            )
        )
    return candidate
