"""The differences between what SkyPilot means by a file and what triplane does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MISSING = object()


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """One line a field that differs: where, what SkyPilot has, what triplane has."""
    left, right = _whole(theirs), _whole(ours)
    return [f"{where}: {a!r} and {b!r}" for where, a, b in _walk("", left, right)]


def _walk(where: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted({*a, *b}, key=str):
            yield from _walk(f"{where}.{key}", a.get(key, _MISSING), b.get(key, _MISSING))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for at, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _walk(f"{where}[{at}]", x, y)
    elif a != b:
        yield where.lstrip("."), _shown(a), _shown(b)


def _shown(value: Any) -> Any:
    return "nothing" if value is _MISSING else value


def _whole(meaning: dict[str, Any]) -> dict[str, Any]:
    """The shape in which both are compared."""
    tasks = [_task(task) for task in meaning["tasks"]]
    result: dict[str, Any] = {"kind": meaning["kind"], "tasks": tasks}
    if meaning["kind"] != "task":
        result["name"] = meaning["name"]
    if meaning["kind"] == "group":
        every = sorted(str(task["name"]) for task in tasks)
        result["primary_tasks"] = sorted(meaning["primary_tasks"] or every)
        helpers = [name for name in every if name not in result["primary_tasks"]]
        delays = meaning["termination_delay"] or {}
        result["termination_delay"] = {name: delays.get(name) or 0 for name in helpers}
        result["inter_connection"] = meaning["inter_connection"]
    else:
        for at, task in enumerate(tasks):
            # SkyPilot gives these names when it launches.
            if meaning["name"] and meaning["kind"] == "pipeline" and not task["name"]:
                task["name"] = f"{meaning['name']}-{at}"
    return result


def _task(task: dict[str, Any]) -> dict[str, Any]:
    made = dict(task)
    made["volumes"] = sorted(task["volumes"])
    # One map reaches the task, in which a secret wins.
    made["envs"] = {k: v for k, v in task["envs"].items() if k not in task["secrets"]}
    candidates = [_candidate(one) for one in task["resources"]]
    if made["choice"] == "any_of":
        candidates.sort(key=str)
    made["resources"] = [one for at, one in enumerate(candidates) if one not in candidates[:at]]
    made["hooks"] = [{**hook, "events": sorted(hook["events"])} for hook in task["hooks"]]
    for key in ("setup", "run", "event_callback"):
        made[key] = task[key] or None
    workdir = task["workdir"]
    if isinstance(workdir, dict):
        made["workdir"] = {"url": workdir["url"], "ref": workdir.get("ref")}
    made["config"] = _filled({k: v for k, v in task["config"].items() if k != "triplane"})
    if made["service"] is not None:
        made["service"] = _service(made["service"])
        if not made["service"]["pool"] and made["service"]["ports"] is None:
            # SkyPilot finds it when the service is started.
            made["service"]["ports"] = _number("".join(task["resources"][0]["ports"]))
    made["inputs"], made["outputs"] = (_estimate(task[key]) for key in ("inputs", "outputs"))
    return made


def _filled(value: Any) -> Any:
    """Without maps that hold nothing."""
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(item) for key, item in value.items()}
    return {key: item for key, item in filled.items() if item != {}}


def _estimate(value: Any) -> Any:
    return [value[0], float(value[1])] if value else None


def _service(service: dict[str, Any]) -> dict[str, Any]:
    result = {key: _number(value) for key, value in service.items()}
    if service["pool"]:
        result["max_workers"] = result["max_workers"] or result["workers"]
        result["queue_length_threshold"] = result["queue_length_threshold"] or 1.0
        return result
    result["max_replicas"] = result["max_replicas"] or result["min_replicas"]
    result["load_balancing_policy"] = service["load_balancing_policy"] or "least_load"
    result["dynamic_ondemand_fallback"] = bool(service["dynamic_ondemand_fallback"])
    for key, default in (("upscale_delay_seconds", 300), ("downscale_delay_seconds", 1200)):
        result[key] = _number(default if service[key] is None else service[key])
    result["initial_delay_seconds"] = _number(service["initial_delay_seconds"])
    result["headers"] = service["headers"] or None
    return result


def _number(value: Any) -> Any:
    """A number, also one in a text."""
    if isinstance(value, bool) or value is None:
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _candidate(one: dict[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in one.items() if key not in ("image_id", "docker_image")}
    for key in ("cpus", "memory"):
        made[key] = _amount(one[key])
    accelerators = one["accelerators"]
    made["accelerators"] = (
        {name.strip(): float(count) for name, count in accelerators.items()}
        if accelerators
        else None
    )
    made["image"] = _our_image(one) if "image" in one else _their_image(one)
    made["priority"] = one["priority"] or 0
    made["max_hourly_cost"] = _number(one["max_hourly_cost"])
    made["autostop"] = _autostop(one["autostop"])
    made["job_recovery"] = _recovery(one["job_recovery"])
    made["local_disk"] = _local_disk(one["local_disk"])
    # SkyPilot merges neighbours to a range, which is the same ports.
    made["ports"] = sorted(number for text in one["ports"] for number in _ports(text))
    return made


def _ports(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _amount(text: str | None) -> Any:
    """The number, and what stands behind it."""
    if text is None:
        return None
    digits = text.rstrip("x+")
    return [float(digits), text[len(digits) :]]


def _their_image(one: dict[str, Any]) -> Any:
    container = one["docker_image"]
    machines = {}
    in_pods = one["cloud"] in ("kubernetes", "ssh")
    for region, image in (one["image_id"] or {}).items():
        unnamed = region in (None, "None")  # the key None, as text
        of_pod = in_pods and unnamed and not image.startswith("skypilot:")
        if image.startswith("docker:") or of_pod:
            container = image
        else:
            machines[one["region"] if unnamed else region] = image
    return _image(container, machines)


def _our_image(one: dict[str, Any]) -> Any:
    image = one["image"]
    if image is None:
        return None
    machines = dict(image["by_region"])
    if image["machine"]:
        machines = {one["region"]: image["machine"]}
    return _image(image["docker"], machines)


def _image(container: str | None, machines: dict[str, str]) -> Any:
    if not container and not machines:
        return None
    return {"container": (container or "").removeprefix("docker:"), "machines": machines}


def _autostop(value: Any) -> Any:
    if not value:
        return None
    if not isinstance(value, dict):  # ours
        return [value.idle_minutes, value.down, value.wait_for]
    # 0 is turned into 1 when it launches.
    minutes = max(value["idle_minutes"], 1)
    return [minutes, bool(value["down"]), value.get("wait_for") or "jobs_and_ssh"]


def _recovery(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, dict):  # ours
        return _enabled(
            [value.strategy, value.max_restarts_on_errors, list(value.recover_on_exit_codes)]
        )
    codes = value.get("recover_on_exit_codes")
    codes = [codes] if isinstance(codes, int) else list(codes or ())
    strategy = value.get("strategy")
    name = strategy.upper() if strategy else None
    return _enabled([name, value.get("max_restarts_on_errors") or 0, codes])


def _enabled(recovery: list[Any]) -> Any:
    """None where it is switched off, as SkyPilot has it."""
    return None if recovery == ["NONE", 0, []] else recovery


def _local_disk(value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, str):  # ours
        return [value.mode, value.size_gb, value.at_least]
    mode, _, size = value.partition(":")
    return [mode, float(size.rstrip("+")), size.endswith("+")]
