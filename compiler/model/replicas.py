"""`replicas` and `replica_policy` of a service: how many there are, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_serving as codes
from compiler.model.builder import Builder, is_number
from compiler.model.service import ReplicaPolicy
from compiler.source.paths import Path

POLICY: Path = ("service", "replica_policy")

_REPLICAS: Path = ("service", "replicas")
_NUMBERS = {
    "upscale_delay_seconds": "upscale_delay",
    "downscale_delay_seconds": "downscale_delay",
}
_INTEGERS = ("max_replicas", "num_overprovision", "base_ondemand_fallback_replicas")


def build_replica_policy(b: Builder, entry: Mapping[str, object]) -> ReplicaPolicy:
    """The replicas of the service `entry`; one where it says nothing."""
    replicas = b.integer(_REPLICAS, entry.get("replicas"), least=0)
    if entry.get("replica_policy") is None:
        return ReplicaPolicy(1 if replicas is None else replicas)
    if entry.get("replicas") is not None:
        b.report(
            codes.REPLICAS_TWICE,
            _REPLICAS,
            "`replica_policy` already says how many replicas there are",
            at_key=True,
            hint="give one of the two",
            related=[Related("the policy", b.key_span(POLICY))],
        )
    policy = b.mapping(POLICY, entry["replica_policy"])
    if policy.get("min_replicas") is None:
        b.unexpected((*POLICY, "min_replicas"), None, "the fewest replicas")
    least = b.integer((*POLICY, "min_replicas"), policy.get("min_replicas"), least=0) or 0
    given: dict[str, Any] = {
        key: b.integer((*POLICY, key), policy.get(key), least=0) for key in _INTEGERS
    }
    for key, attribute in _NUMBERS.items():
        given[attribute] = b.number((*POLICY, key), policy.get(key))
    target = _target_qps(b, policy.get("target_qps_per_replica"))
    _check_range(b, least, given["max_replicas"], scales=target is not None)
    fallback = "dynamic_ondemand_fallback"
    placer = b.text((*POLICY, "spot_placer"), policy.get("spot_placer"))
    return ReplicaPolicy(
        least,
        target_qps_per_replica=target,
        dynamic_ondemand_fallback=b.flag((*POLICY, fallback), policy.get(fallback), default=False),
        spot_placer=placer and placer.lower(),
        **{key: number for key, number in given.items() if number is not None},
    )


def _target_qps(b: Builder, value: object) -> float | dict[str, float] | None:
    path = (*POLICY, "target_qps_per_replica")
    if not isinstance(value, dict):
        return b.number(path, value)
    rates = {}
    for key, rate in value.items():
        if is_number(rate):
            rates[key] = rate
        else:
            b.unexpected((*path, key), rate, "queries per second")
    return rates


def _check_range(b: Builder, least: int, most: int | None, *, scales: bool) -> None:
    if most is None:
        if scales:
            b.report(
                codes.SCALING_NEEDS_MAXIMUM,
                (*POLICY, "target_qps_per_replica"),
                "replicas that follow the load need an upper bound",
                at_key=True,
                hint="set `max_replicas`",
            )
    elif most < least:
        b.report(
            codes.REPLICA_RANGE,
            (*POLICY, "max_replicas"),
            f"`max_replicas` {most} is less than `min_replicas` {least}",
            related=[Related("the lower bound", b.span((*POLICY, "min_replicas")))],
        )
    elif most > least and not scales:
        b.report(
            codes.SCALING_NEEDS_TARGET,
            (*POLICY, "max_replicas"),
            f"nothing says when there are {least} and when {most} replicas",
            at_key=True,
            hint="set `target_qps_per_replica`, or the same number for both",
        )
