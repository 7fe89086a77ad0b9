"""`service`: replicas behind a load balancer."""

from __future__ import annotations

import json
from collections.abc import Mapping

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_serving as codes
from compiler.model.builder import Builder
from compiler.model.replicas import POLICY, build_replica_policy
from compiler.model.resources import ResourceSet
from compiler.model.service import ReadinessProbe, ReplicaPolicy, Service
from compiler.source.paths import Path
from compiler.source.wording import listed, quoted

POLICIES = ("round_robin", "least_load", "instance_aware_least_load")
DEFAULT_POLICY = "least_load"
PER_DEVICE_POLICY = "instance_aware_least_load"
DEFAULT_STREAM_TIMEOUT = 120
"""Seconds."""

_SERVICE: Path = ("service",)
_PROBE: Path = ("service", "readiness_probe")
_LARGEST_PORT = 65535
_PROBE_NUMBERS = {
    "initial_delay_seconds": "initial_delay",
    "timeout_seconds": "timeout",
    "endpoint_probe_interval_seconds": "interval",
    "consecutive_failure_threshold_timeout": "failure_threshold",
}


def build_service(b: Builder, value: object, resources: ResourceSet) -> Service | None:
    """Read `service`, with substitution applied."""
    if value is None:
        return None
    entry = b.mapping(_SERVICE, value)
    policy = build_replica_policy(b, entry)
    balancing = _balancing(b, entry, policy)
    _check_spot(b, policy, resources)
    check_recovery(b, "service", resources)
    balancer = b.mapping((*_SERVICE, "load_balancer"), entry.get("load_balancer"))
    timeout = b.number(
        (*_SERVICE, "load_balancer", "stream_timeout_seconds"),
        balancer.get("stream_timeout_seconds"),
    )
    return Service(
        readiness_probe=_probe(b, entry.get("readiness_probe")),
        replica_policy=policy,
        port=_port(b, entry.get("ports"), resources),
        load_balancing_policy=balancing,
        stream_timeout=DEFAULT_STREAM_TIMEOUT if timeout is None else timeout,
        tls=_tls(b, entry.get("tls")),
        origin=b.origin(*_SERVICE),
    )


def _probe(b: Builder, value: object) -> ReadinessProbe:
    if value is None or isinstance(value, str):
        return ReadinessProbe(_probe_path(b, _PROBE, value))
    entry = b.mapping(_PROBE, value)
    numbers: dict[str, float] = {}
    for key, attribute in _PROBE_NUMBERS.items():
        number = b.number((*_PROBE, key), entry.get(key))
        if number is not None:
            numbers[attribute] = number
    headers = {}
    for key, text in b.mapping((*_PROBE, "headers"), entry.get("headers")).items():
        read = b.text((*_PROBE, "headers", key), text)
        if read is not None:
            headers[key] = read
    return ReadinessProbe(
        _probe_path(b, (*_PROBE, "path"), entry.get("path")),
        post_data=_post_data(b, (*_PROBE, "post_data"), entry.get("post_data")),
        headers=headers,
        **numbers,
    )


def _probe_path(b: Builder, path: Path, value: object) -> str:
    text = b.text(path, value)
    if text is None:
        if value is None:
            b.report(
                codes.PROBE_PATH,
                path[:-1],
                "the service has no readiness probe",
                at_key=True,
                expected="the path that answers when a replica is ready",
            )
        return "/"
    if not text.startswith("/"):
        b.report(
            codes.PROBE_PATH,
            path,
            f"the probe's path {quoted(text)} does not start with a slash",
            hint=f"write {quoted('/' + text)}",
        )
    return text


def _post_data(b: Builder, path: Path, value: object) -> str | Mapping[str, object] | None:
    if value is None or isinstance(value, dict):
        return value
    text = b.text(path, value)
    if text is not None:
        try:
            json.loads(text)
        except ValueError as problem:
            b.report(
                codes.POST_DATA,
                path,
                "`post_data` is text, but no JSON",
                expected="JSON text, or a map",
                hint=f"{problem.msg} at column {problem.colno}"
                if isinstance(problem, json.JSONDecodeError)
                else None,
            )
    return text


def _balancing(b: Builder, entry: Mapping[str, object], policy: ReplicaPolicy) -> str:
    path = (*_SERVICE, "load_balancing_policy")
    text = b.text(path, entry.get("load_balancing_policy"))
    name = (text or DEFAULT_POLICY).lower()
    if name not in POLICIES:
        b.unexpected(path, text, listed(POLICIES))
        return DEFAULT_POLICY
    per_device = isinstance(policy.target_qps_per_replica, dict)
    if per_device and name != PER_DEVICE_POLICY:
        b.report(
            codes.QPS_BY_DEVICE,
            (*POLICY, "target_qps_per_replica"),
            f"a target by accelerator does not go with `{name}`",
            at_key=True,
            hint=f"set `load_balancing_policy: {PER_DEVICE_POLICY}`",
        )
    elif name == PER_DEVICE_POLICY and not per_device:
        b.report(
            codes.QPS_BY_DEVICE,
            path,
            f"`{PER_DEVICE_POLICY}` needs a target for each accelerator",
            hint="make `target_qps_per_replica` a map from accelerator to queries per second",
        )
    return name


def _check_spot(b: Builder, policy: ReplicaPolicy, resources: ResourceSet) -> None:
    spot = [candidate.use_spot for candidate in resources.candidates]
    if any(spot) and not all(spot):
        b.report(
            codes.SERVICE_MIXED_SPOT,
            _SERVICE,
            "a service's alternatives are all spot, or none is",
            at_key=True,
            hint="use `dynamic_ondemand_fallback` to fall back to on-demand replicas",
            related=[Related("the alternatives", resources.origin.key_span())],
        )
    if any(spot):
        return
    for key in ("dynamic_ondemand_fallback", "base_ondemand_fallback_replicas", "spot_placer"):
        if getattr(policy, key):
            b.report(
                codes.FALLBACK_WITHOUT_SPOT,
                (*POLICY, key),
                f"`{key}` is about spot replicas, and there are none",
                at_key=True,
                hint="set `use_spot: true` in `resources`",
            )


def check_recovery(b: Builder, kind: str, resources: ResourceSet) -> None:
    """`job_recovery` is for jobs, not for a `service` or `pool` (`kind`)."""
    for candidate in resources.candidates:
        if candidate.job_recovery is not None:
            b.diagnostics.add(
                codes.RECOVERY_OF_SERVICE.at(
                    candidate.origin_of("job_recovery").key_span(),
                    f"`job_recovery` does not go with `{kind}`",
                    hint="leave it out: replicas and workers are replaced anyway",
                    related=[Related(f"the {kind}", b.key_span((kind,)))],
                )
            )
            return


def _port(b: Builder, value: object, resources: ResourceSet) -> int | None:
    path = (*_SERVICE, "ports")
    port = b.integer(path, value, least=1)
    if port is not None:
        if port > _LARGEST_PORT:
            b.unexpected(path, value, f"a port from 1 to {_LARGEST_PORT}")
        return port
    if value is not None:
        return None
    for candidate in resources.candidates:
        ports = candidate.ports
        if len(ports) != 1 or "-" in ports[0]:
            opened = listed(ports, "and") if ports else "none"
            b.report(
                codes.SERVICE_PORT,
                _SERVICE,
                "the service's port is not clear",
                at_key=True,
                found=f"{opened} in `resources.ports`",
                expected="exactly one port",
                hint="set `service.ports`",
            )
            return None
    found = {candidate.ports[0] for candidate in resources.candidates}
    return int(min(found)) if len(found) == 1 else None


def _tls(b: Builder, value: object) -> tuple[str, str] | None:
    if value is None:
        return None
    path = (*_SERVICE, "tls")
    entry = b.mapping(path, value)
    files = [b.text((*path, key), entry.get(key)) for key in ("keyfile", "certfile")]
    if not all(files):
        b.report(
            codes.TLS_FILES,
            path,
            "TLS needs a key and a certificate",
            at_key=True,
            expected="`keyfile` and `certfile`",
        )
        return None
    return files[0] or "", files[1] or ""
