"""What a task of ours means, in the shape that `meaning.py` gives SkyPilot's objects."""

from __future__ import annotations

from typing import Any

from compiler.model import (
    Group,
    Infra,
    Pipeline,
    Resources,
    Service,
    Stack,
    Storage,
    Task,
    Volume,
    parse_infra,
)


def document_meaning(built: object) -> dict[str, Any]:
    if isinstance(built, Volume):
        return {"kind": "volume", **volume_meaning(built)}
    if isinstance(built, Stack):
        return {"kind": "stack"}
    if isinstance(built, Task):
        return {"kind": "task", "name": built.name, "tasks": [task_meaning(built)]}
    assert isinstance(built, Group | Pipeline)
    common = {"name": built.name, "tasks": [task_meaning(task) for task in built.tasks]}
    if isinstance(built, Pipeline):
        return {"kind": "pipeline", **common}
    return {
        "kind": "group",
        "primary_tasks": sorted(built.primary_tasks),
        "termination_delay": dict(built.termination_delay),
        "inter_connection": built.inter_connection,
        **common,
    }


def volume_meaning(volume: Volume) -> dict[str, Any]:
    infra = parse_infra(volume.infra) if volume.infra else Infra()
    config = {
        "access_mode": volume.access_mode,
        "storage_class_name": volume.storage_class_name,
        "namespace": volume.namespace,
        "host_path": volume.host_path,
        "cleanup_on_deletion": volume.cleanup_on_deletion or None,
    }
    return {
        "name": volume.name,
        "type": volume.type,
        # SkyPilot takes the cloud from the type where no place is named.
        "cloud": infra.cloud or ("kubernetes" if volume.type.startswith("k8s-") else None),
        "region": infra.region,
        "zone": infra.zone,
        "size": None if volume.size_gib is None else str(volume.size_gib),
        "labels": dict(volume.labels),
        "use_existing": volume.use_existing,
        "config": {key: value for key, value in config.items() if value is not None},
    }


def task_meaning(task: Task) -> dict[str, Any]:
    workdir = task.workdir
    candidates = task.resources.candidates
    return {
        "name": task.name,
        "num_nodes": task.num_nodes,
        "setup": task.setup,
        "run": task.run,
        "workdir": None
        if workdir is None
        else workdir.path
        if hasattr(workdir, "path")
        else {"url": workdir.url, "ref": workdir.ref},
        "envs": dict(task.envs),
        "secrets": {name: secret.value for name, secret in task.secrets.items()},
        "file_mounts": {mount.destination: mount.source for mount in task.file_mounts},
        "storage": {one.destination: storage_meaning(one) for one in task.storage},
        "volumes": sorted(mount.path for mount in task.volumes),
        "service": service_meaning(task),
        "event_callback": task.event_callback,
        "inputs": _estimate(task.inputs),
        "outputs": _estimate(task.outputs),
        "api_server_access": task.api_server_access,
        "choice": "ordered"
        if task.resources.choice == "ordered" and len(candidates) > 1
        else "any_of",
        "resources": [resources_meaning(one) for one in candidates],
        "config": _plain(task.config),
        "hooks": [
            {"run": hook.run, "events": sorted(hook.events), "timeout": hook.timeout}
            for hook in task.hooks
        ],
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _estimate(values) -> list[Any] | None:
    return next(([url, size] for url, size in values.items()), None)


def storage_meaning(one: Storage) -> dict[str, Any]:
    return {
        "name": one.name,
        "source": list(one.source) if isinstance(one.source, tuple) else one.source,
        "mode": one.mode,
        "store": one.store.upper() if one.store else None,
        "persistent": one.persistent,
        "type": one.type,
    }


def service_meaning(task: Task) -> dict[str, Any] | None:
    if task.pool is not None:
        return {
            "pool": True,
            "workers": task.pool.min_workers,
            "max_workers": task.pool.max_workers,
            "queue_length_threshold": task.pool.queue_length_threshold,
        }
    if task.service is None:
        return None
    service: Service = task.service
    probe, policy = service.readiness_probe, service.replica_policy
    return {
        "pool": False,
        "readiness_path": probe.path,
        "initial_delay_seconds": probe.initial_delay,
        "timeout_seconds": probe.timeout,
        "endpoint_probe_interval_seconds": probe.interval,
        "post_data": _plain(probe.post_data),
        "headers": dict(probe.headers) or None,
        "min_replicas": policy.min_replicas,
        "max_replicas": policy.max_replicas,
        "num_overprovision": policy.num_overprovision,
        "target_qps_per_replica": _plain(policy.target_qps_per_replica),
        "ports": service.port,
        "load_balancing_policy": service.load_balancing_policy,
        "dynamic_ondemand_fallback": policy.dynamic_ondemand_fallback,
        "base_ondemand_fallback_replicas": policy.base_ondemand_fallback_replicas,
        "spot_placer": policy.spot_placer,
        "upscale_delay_seconds": policy.upscale_delay,
        "downscale_delay_seconds": policy.downscale_delay,
    }


def resources_meaning(one: Resources) -> dict[str, Any]:
    image = one.image
    return {
        "cloud": one.infra.cloud,
        "region": one.infra.region,
        "zone": one.infra.zone,
        "instance_type": one.instance_type,
        "cpus": str(one.cpus) if one.cpus else None,
        "memory": str(one.memory) if one.memory else None,
        "accelerators": {one.accelerator.name: one.accelerator.count} if one.accelerator else None,
        "accelerator_args": dict(one.accelerator_args) or None,
        "use_spot": one.use_spot,
        "max_hourly_cost": one.max_hourly_cost,
        "disk_size": one.disk_size if one.disk_size is not None else 256,
        "disk_tier": one.disk_tier,
        "network_tier": one.network_tier,
        "local_disk": one.local_disk,
        "ports": list(one.ports),
        "image": None
        if image is None
        else {"docker": image.docker, "machine": image.machine, "by_region": dict(image.by_region)},
        "labels": dict(one.labels),
        "autostop": one.autostop,
        "priority": one.priority,
        "priority_class": one.priority_class,
        "job_recovery": one.job_recovery,
    }
