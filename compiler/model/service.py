"""Serving: a replicated task behind a load balancer, and pools of workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.model.origin import Origin


@dataclass(frozen=True, slots=True)
class ReadinessProbe:
    """All times in seconds; `post_data` set means POST, else GET."""

    path: str
    initial_delay: float = 1200
    timeout: float = 15
    interval: float = 10
    failure_threshold: float | None = None
    post_data: str | Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplicaPolicy:
    min_replicas: int
    max_replicas: int | None = None
    num_overprovision: int | None = None
    target_qps_per_replica: float | Mapping[str, float] | None = None
    dynamic_ondemand_fallback: bool = False
    base_ondemand_fallback_replicas: int | None = None
    spot_placer: str | None = None
    upscale_delay: float = 300
    downscale_delay: float = 1200


@dataclass(frozen=True, slots=True)
class Service:
    readiness_probe: ReadinessProbe
    replica_policy: ReplicaPolicy
    port: int | None
    load_balancing_policy: str
    stream_timeout: float
    tls: tuple[str, str] | None
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pool:
    min_workers: int
    max_workers: int
    queue_length_threshold: int | None
    upscale_delay: float | None
    downscale_delay: float | None
    origin: Origin = field(compare=False, repr=False)
