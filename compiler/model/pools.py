"""`pool`: workers that run `setup` and then wait for jobs."""

from __future__ import annotations

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_serving as codes
from compiler.model.builder import Builder
from compiler.model.resources import Choice, ResourceSet
from compiler.model.service import Pool
from compiler.model.serving import check_recovery
from compiler.source.paths import Path

_POOL: Path = ("pool",)
_SIZES = ("workers", "min_workers", "max_workers")
_NEEDS_MAXIMUM = (
    "min_workers",
    "queue_length_threshold",
    "upscale_delay_seconds",
    "downscale_delay_seconds",
)
_DEFAULT_MIN_WORKERS = 1
_DEFAULT_THRESHOLD = 1


def build_pool(
    b: Builder, value: object, resources: ResourceSet, *, has_service: bool
) -> Pool | None:
    """Read `pool`. `workers` alone is a fixed size; with `max_workers` it is the lower bound."""
    if value is None:
        return None
    entry = b.mapping(_POOL, value)
    if has_service:
        b.report(
            codes.SERVICE_AND_POOL,
            ("service",),
            "a task is a service or a pool, not both",
            at_key=True,
            related=[Related("the pool", b.key_span(_POOL))],
        )
    workers, least, most, threshold = (
        b.integer((*_POOL, key), entry.get(key), least=bound)
        for key, bound in (
            ("workers", 0),
            ("min_workers", 0),
            ("max_workers", 0),
            ("queue_length_threshold", 1),
        )
    )
    if most is None:
        for key in _NEEDS_MAXIMUM:
            if entry.get(key) is not None:
                b.report(
                    codes.POOL_NEEDS_MAXIMUM,
                    (*_POOL, key),
                    f"`{key}` is for a pool that scales",
                    at_key=True,
                    hint="set `max_workers`",
                )
        if all(entry.get(key) is None for key in _SIZES):
            b.report(
                codes.POOL_SIZE,
                _POOL,
                "the pool has no size",
                at_key=True,
                expected="`workers`, or `max_workers` for a pool that scales",
            )
    if least is None:
        least = _DEFAULT_MIN_WORKERS if workers is None else workers
    if most is not None and most < least:
        b.report(
            codes.POOL_RANGE,
            (*_POOL, "max_workers"),
            f"`max_workers` {most} is less than the fewest workers, {least}",
        )
    _check_resources(b, resources)
    scales = most is not None
    return Pool(
        min_workers=least,
        max_workers=least if most is None else most,
        queue_length_threshold=(threshold or _DEFAULT_THRESHOLD) if scales else None,
        upscale_delay=b.number(
            (*_POOL, "upscale_delay_seconds"), entry.get("upscale_delay_seconds")
        ),
        downscale_delay=b.number(
            (*_POOL, "downscale_delay_seconds"), entry.get("downscale_delay_seconds")
        ),
        origin=b.origin(*_POOL),
    )


def _check_resources(b: Builder, resources: ResourceSet) -> None:
    pool = [Related("the pool", b.key_span(_POOL))]
    if resources.choice is Choice.ORDERED:
        b.diagnostics.add(
            codes.POOL_ORDERED.at(
                resources.origin.key_span(),
                "the alternatives of a pool have no order",
                hint="use `any_of`, or a map of accelerators",
                related=pool,
            )
        )
    exposed = next((item for item in resources.candidates if item.ports), None)
    if exposed is not None:
        b.diagnostics.add(
            codes.POOL_PORTS.at(
                exposed.origin_of("ports").key_span(),
                "the workers of a pool open no ports",
                related=pool,
            )
        )
    check_recovery(b, "pool", resources)
