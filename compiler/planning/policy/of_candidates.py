"""Rules about one task on one target, with one of the resources that it accepts.

A candidate that breaks one is refused like any other that does not fit, so that a task goes
where the rules allow it, and fails if that is nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from compiler.catalog import Choice, choose_instance
from compiler.diagnostics import Span
from compiler.diagnostics.codes import policy as codes
from compiler.model import Resources, Stack, TargetKind, TargetSpec, Task
from compiler.planning.cost import most_replicas
from compiler.planning.policy.patterns import (
    field_pattern,
    fields_of,
    image_matches,
    place_matches,
    registry_matches,
)
from compiler.planning.policy.rule import Finding, finding


@dataclass(frozen=True, slots=True)
class Candidate:
    """One task with one of its resources on one target; `hourly` in $/h for all its nodes."""

    task: Task
    resources: Resources
    target: TargetSpec
    stack: Stack
    hourly: Callable[[], float | None]


def candidate_findings(candidate: Candidate) -> Iterator[Finding]:
    """Every rule of the stack that the candidate breaks."""
    for rule, check in _CHECKS.items():
        limit = candidate.stack.policy.get(rule)
        if limit is not None:
            yield from check(candidate, rule, limit)


def accelerators_of(task: Task, resources: Resources, target: TargetSpec) -> int:
    """Devices of one work: on all nodes, of all replicas; those of its AWS type, if it has more."""
    count = resources.accelerator.count if resources.accelerator else 0.0
    if target.kind is TargetKind.AWS and resources.instance_type is not None:
        choice = choose_instance(resources, str(target.options.get("region") or target.key))
        if isinstance(choice, Choice):
            count = max(count, choice.instance.accelerator_count)
    return math.ceil(count) * task.num_nodes * most_replicas(task)


def _max_accelerators(item: Candidate, rule: str, limit: object) -> Iterator[Finding]:
    asked = accelerators_of(item.task, item.resources, item.target)
    if asked > int(str(limit)):
        key = "accelerators" if "accelerators" in item.resources.given else "instance_type"
        times = f" on {item.task.num_nodes} nodes" if item.task.num_nodes > 1 else ""
        yield finding(
            codes.POLICY_ACCELERATORS,
            item.stack,
            rule,
            item.resources.origin_of(key).span(),
            f"the task asks for {asked} accelerators{times}, the policy allows {limit}",
        )


def _allowed_infra(item: Candidate, rule: str, allowed: object) -> Iterator[Finding]:
    patterns = _texts(allowed)
    if any(place_matches(text, item.resources.infra, item.target) for text in patterns):
        return
    place = f"{item.target.kind}/{item.target.key}"
    if item.resources.infra.zone and item.target.kind is not TargetKind.KUBERNETES:
        place += f"/{item.resources.infra.zone}"
    yield finding(
        codes.POLICY_INFRA,
        item.stack,
        rule,
        _where(item, "infra"),
        f"the policy does not allow {place}",
        expected=", ".join(patterns) or "nothing: the list is empty",
    )


def _allowed_images(item: Candidate, rule: str, allowed: object) -> Iterator[Finding]:
    patterns = _texts(allowed)
    for image, is_container, span in _images(item):
        fits = image_matches if is_container else _same_text
        if not any(fits(text, image) for text in patterns):
            yield finding(
                codes.POLICY_IMAGE,
                item.stack,
                rule,
                span,
                f"the policy does not allow the image `{image}`",
                expected=", ".join(patterns) or "none: the list is empty",
            )


def _allowed_registries(item: Candidate, rule: str, allowed: object) -> Iterator[Finding]:
    patterns = _texts(allowed)
    for image, is_container, span in _images(item):
        if is_container and not any(registry_matches(text, image) for text in patterns):
            yield finding(
                codes.POLICY_IMAGE,
                item.stack,
                rule,
                span,
                f"the policy does not allow the registry of `{image}`",
                expected=", ".join(patterns) or "none: the list is empty",
            )


def _required_labels(item: Candidate, rule: str, required: object) -> Iterator[Finding]:
    for name in _texts(required):
        if not item.resources.labels.get(name):
            yield finding(
                codes.POLICY_LABEL,
                item.stack,
                rule,
                _where(item, "labels"),
                f"the policy requires the label `{name}`",
                hint=f"add `{name}: ...` under `resources.labels`",
            )


def _spot(item: Candidate, rule: str, wanted: object) -> Iterator[Finding]:
    uses = item.resources.use_spot
    if wanted == "forbidden" and uses:
        words = "the policy forbids spot capacity"
    elif wanted == "required" and not uses and item.target.kind is TargetKind.AWS:
        words = "the policy requires spot capacity"
    else:
        return
    yield finding(codes.POLICY_SPOT, item.stack, rule, _where(item, "use_spot"), words)


def _max_hourly_cost(item: Candidate, rule: str, limit: object) -> Iterator[Finding]:
    most = float(str(limit))
    hourly = item.hourly()
    if hourly is None:
        words = f"what the task costs on {item.target.key} is not known"
    elif hourly * most_replicas(item.task) > most:
        total = hourly * most_replicas(item.task)
        words = f"the task costs {total:.2f} $/h on {item.target.key}"
    else:
        return
    span = item.resources.origin.span()
    words = f"{words}, the policy allows {most:.2f} $/h"
    yield finding(codes.POLICY_COST, item.stack, rule, span, words)


def _forbidden_pod_config(item: Candidate, rule: str, forbidden: object) -> Iterator[Finding]:
    if item.target.kind is not TargetKind.KUBERNETES:
        return
    patterns = {text: field_pattern(text) for text in _texts(forbidden)}
    for place in _pod_configs(item.task):
        for path in fields_of(_at(item.task.config, place)):
            dotted = ".".join(str(step) for step in path)
            broken = [text for text, pattern in patterns.items() if pattern.fullmatch(dotted)]
            for text in broken:
                yield finding(
                    codes.POLICY_POD_CONFIG,
                    item.stack,
                    rule,
                    item.task.origin.child("config").span(*place, *path),
                    f"the policy forbids `{dotted}` in `pod_config`",
                    expected=None if text == dotted else f"nothing that fits `{text}`",
                )


_CHECKS: Mapping[str, Callable[[Candidate, str, object], Iterator[Finding]]] = {
    "max_accelerators": _max_accelerators,
    "allowed_infra": _allowed_infra,
    "allowed_images": _allowed_images,
    "allowed_registries": _allowed_registries,
    "required_labels": _required_labels,
    "spot": _spot,
    "max_hourly_cost": _max_hourly_cost,
    "forbidden_pod_config": _forbidden_pod_config,
}
RULES_OF_CANDIDATES = tuple(_CHECKS)


def _images(item: Candidate) -> Iterator[tuple[str, bool, Span]]:
    """(image, whether it is a container's, where it is written) of everything that would run."""
    image, span = item.resources.image, _where(item, "image_id")
    if image is not None:
        if image.docker is not None:
            yield image.docker, True, span
        machines = [image.machine] if image.machine is not None else image.by_region.values()
        if item.target.kind is TargetKind.AWS:
            for machine in machines:
                yield machine, False, span
    if item.target.kind is not TargetKind.KUBERNETES:
        return
    for place in _pod_configs(item.task):
        pod_config = _at(item.task.config, place)
        for path in fields_of(pod_config):
            value = _at(pod_config, path)
            if path[-1] == "image" and isinstance(value, str):
                yield value, True, item.task.origin.child("config").span(*place, *path)


def _pod_configs(task: Task) -> Iterable[tuple[str | int, ...]]:
    """Where the task's own configuration has a `pod_config`."""
    return [path for path in fields_of(task.config) if path[-1] == "pod_config"]


def _at(value: object, path: tuple[str | int, ...]) -> object:
    for step in path:
        value = value[step]  # type: ignore[index]
    return value


def _where(item: Candidate, key: str) -> Span:
    """Where the candidate has the key, else the candidate as a whole."""
    given = key in item.resources.given
    return (item.resources.origin_of(key) if given else item.resources.origin).span()


def _same_text(pattern: str, text: str) -> bool:
    return pattern in ("*", text)


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
