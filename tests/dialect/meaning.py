"""What SkyPilot's own objects mean, as plain data. Runs in SkyPilot's environment alone.

`tests/dialect/our_meaning.py` gives the same shape for a task of ours, so that the two are
compared field by field. Absent stands for SkyPilot's default throughout.
"""

from __future__ import annotations


def dag_meaning(dag):
    tasks = [task_meaning(task) for task in dag.tasks]
    return {
        "kind": "group" if dag.is_job_group() else "pipeline" if len(tasks) > 1 else "task",
        "name": dag.name,
        "primary_tasks": sorted(dag.primary_tasks or ()) if dag.is_job_group() else None,
        "termination_delay": _delays(dag) if dag.is_job_group() else None,
        "inter_connection": getattr(dag, "inter_connection", None),
        "tasks": tasks,
    }


def _delays(dag):
    """Seconds by task, for those that are no primaries."""
    primary = dag.primary_tasks
    if not primary:
        return {}
    helpers = [task.name for task in dag.tasks if task.name not in primary]
    return {name: dag.get_termination_delay_secs(name) for name in helpers}


def task_meaning(task):
    managed = {ref.name: None for ref in task._managed_secret_refs}
    resources = list(task.resources)
    return {
        "name": task.name,
        "num_nodes": task.num_nodes,
        "setup": task.setup,
        "run": task.run,
        "workdir": task.workdir,
        "envs": dict(task.envs),
        "secrets": {**managed, **{name: _revealed(value) for name, value in task.secrets.items()}},
        "file_mounts": dict(task.file_mounts or {}),
        "storage": {
            path: storage_meaning(made) for path, made in (task.storage_mounts or {}).items()
        },
        "volumes": task._volumes or {},
        "service": service_meaning(task.service),
        "event_callback": task.event_callback,
        "inputs": None
        if task.inputs is None
        else [task.inputs, task.estimated_inputs_size_gigabytes],
        "outputs": None
        if task.outputs is None
        else [task.outputs, task.estimated_outputs_size_gigabytes],
        "api_server_access": task._api_server_access,
        "choice": "ordered"
        if isinstance(task.resources, list) and len(resources) > 1
        else "any_of",
        "resources": [resources_meaning(one) for one in resources],
        "config": resources[0].cluster_config_overrides or {},
        "hooks": resources[0].hooks or [],
    }


def _revealed(secret):
    return secret.get_secret_value() if hasattr(secret, "get_secret_value") else secret


def storage_meaning(storage):
    stores = [store.value for store in storage.stores]
    return {
        "name": storage.name,
        "source": storage.source,
        "mode": storage.mode.value,
        "store": stores[0] if stores else None,
        "persistent": storage.persistent,
        "type": storage.file_mount_type.value if storage.file_mount_type else None,
    }


def service_meaning(spec):
    if spec is None:
        return None
    if spec.pool:
        return {
            "pool": True,
            "workers": spec.min_replicas,
            "max_workers": spec.max_replicas,
            "queue_length_threshold": spec.queue_length_threshold,
        }
    return {
        "pool": False,
        "readiness_path": spec.readiness_path,
        "initial_delay_seconds": spec.initial_delay_seconds,
        "timeout_seconds": spec.readiness_timeout_seconds,
        "endpoint_probe_interval_seconds": spec.endpoint_probe_interval_seconds,
        "post_data": spec.post_data,
        "headers": spec.readiness_headers,
        "min_replicas": spec.min_replicas,
        "max_replicas": spec.max_replicas,
        "num_overprovision": spec.num_overprovision,
        "target_qps_per_replica": spec.target_qps_per_replica,
        "ports": spec.ports,
        "load_balancing_policy": spec.load_balancing_policy,
        "dynamic_ondemand_fallback": spec.dynamic_ondemand_fallback,
        "base_ondemand_fallback_replicas": spec.base_ondemand_fallback_replicas,
        "spot_placer": spec.spot_placer,
        "upscale_delay_seconds": spec.upscale_delay_seconds,
        "downscale_delay_seconds": spec.downscale_delay_seconds,
    }


def resources_meaning(one):
    autostop = one.autostop_config
    return {
        "cloud": str(one.cloud).lower() if one.cloud is not None else None,
        "region": one.region,
        "zone": one.zone,
        "instance_type": one.instance_type,
        "cpus": one._cpus,
        "memory": one._memory,
        "accelerators": one._accelerators,
        "accelerator_args": one._accelerator_args or None,
        "use_spot": one.use_spot,
        "max_hourly_cost": one.max_hourly_cost,
        "disk_size": one.disk_size,
        "disk_tier": one.disk_tier.value if one.disk_tier else None,
        "network_tier": one.network_tier.value if one.network_tier else None,
        "local_disk": one._local_disk,
        "ports": one.ports or [],
        "image_id": one.image_id,
        "docker_image": one._docker_image,
        "labels": one.labels or {},
        "autostop": autostop.to_yaml_config() if autostop else None,
        "priority": one.priority,
        "priority_class": one.priority_class,
        "job_recovery": one.job_recovery,
    }


def volume_meaning(volume):
    return {
        "name": volume.name,
        "type": volume.type,
        "size": volume.size,
        "cloud": volume.cloud.lower() if volume.cloud else None,
        "region": volume.region,
        "zone": volume.zone,
        "labels": volume.labels,
        "use_existing": bool(volume.use_existing),
        "config": volume.config,
    }
