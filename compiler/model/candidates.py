"""`resources`: one candidate, or several through sets, lists, `any_of` and `ordered`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_resources as codes
from compiler.model.accelerators import Devices, build_accelerators
from compiler.model.builder import Builder
from compiler.model.candidate import Layer, build_candidate
from compiler.model.resources import Choice, Resources, ResourceSet
from compiler.source.paths import Path

PATH: Path = ("resources",)
_AGREEING = ("priority", "priority_class", "job_recovery", "autostop")
_NO_DEVICES = Devices(Choice.ONE, (), ())


class _Alternative(NamedTuple):
    layer: Layer
    devices: Devices
    path: Path


def build_resources(b: Builder, value: object) -> ResourceSet:
    """All candidates of a task; one that asks for nothing where there is no `resources`."""
    outer = b.mapping(PATH, value)
    choice = Choice.ONE
    alternatives = []
    for key, meaning in (("any_of", Choice.ANY_OF), ("ordered", Choice.ORDERED)):
        items = outer.get(key)
        if items is None or items == []:
            continue
        if not isinstance(items, list):
            b.unexpected((*PATH, key), items, "a list of maps")
            continue
        if choice is not Choice.ONE:
            b.report(
                codes.ALTERNATIVES_TWICE,
                (*PATH, key),
                "`any_of` and `ordered` exclude each other",
                at_key=True,
                related=[Related("the other list", b.key_span((*PATH, "any_of")))],
            )
        choice = meaning
        alternatives = list(_overlaid(b, outer, key, items))
    if not alternatives:
        layer = _layer(b, outer, PATH)
        devices = _devices(b, layer)
        choice = devices.choice
        alternatives = [_Alternative(layer, devices, PATH)]
    else:
        _check_outer_devices(b, outer, choice)
    candidates = tuple(_distinct(_candidates(b, alternatives)))
    if len(candidates) == 1:
        choice = Choice.ONE
    _check_agreement(b, candidates)
    return ResourceSet(choice, candidates, b.origin(*PATH))


def _layer(b: Builder, written: Mapping[str, object], path: Path) -> Layer:
    """The keys of one map with the place of each, `gpus` under its proper name."""
    values: dict[str, object] = {}
    where: dict[str, Path] = {}
    for key, value in written.items():
        if key in ("any_of", "ordered"):
            continue
        name = "accelerators" if key == "gpus" else key
        if name in values:
            b.report(
                codes.ACCELERATORS_TWICE,
                (*path, "accelerators"),
                "`gpus` is another name for `accelerators`",
                at_key=True,
                hint="give one of the two",
                related=[Related("given as `gpus` here", b.key_span((*path, "gpus")))],
            )
            continue
        values[name] = value
        where[name] = (*path, key)
    return Layer(values, where)


def _overlaid(
    b: Builder, outer: Mapping[str, object], key: str, items: list[object]
) -> Iterator[_Alternative]:
    base = _layer(b, outer, PATH)
    for at, item in enumerate(items):
        path = (*PATH, key, at)
        written = b.mapping(path, item)
        for nested in ("any_of", "ordered"):
            if nested in written:
                b.report(
                    codes.ALTERNATIVES_NESTED,
                    (*path, nested),
                    f"an item of `{key}` cannot hold alternatives of its own",
                    at_key=True,
                    hint=f"write each combination as an item of `{key}`",
                )
        own = _layer(b, written, path)
        _check_item_devices(b, own)
        values = {**base.values, **own.values}
        labels = (base.values.get("labels"), own.values.get("labels"))
        if all(isinstance(layer, dict) for layer in labels):
            values["labels"] = {**labels[0], **labels[1]}  # type: ignore[dict-item]
        layer = Layer(values, {**base.where, **own.where}, own.where)
        yield _Alternative(layer, _devices(b, layer), path)


def _devices(b: Builder, layer: Layer) -> Devices:
    value = layer.values.get("accelerators")
    if value is None:
        return _NO_DEVICES
    return build_accelerators(b, layer.where["accelerators"], value)


def _check_item_devices(b: Builder, own: Layer) -> None:
    value = own.values.get("accelerators")
    if isinstance(value, list) or (isinstance(value, dict) and len(value) > 1):
        b.report(
            codes.ACCELERATORS_IN_ITEM,
            own.where["accelerators"],
            "an alternative names one kind of accelerator",
            expected="NAME:COUNT, or a map with one entry",
            hint="write an item for each kind",
        )


def _check_outer_devices(b: Builder, outer: Mapping[str, object], choice: Choice) -> None:
    """What a set or a list of accelerators may be combined with."""
    for key in ("accelerators", "gpus"):
        value = outer.get(key)
        if not isinstance(value, dict | list) or len(value) < 2:
            continue
        if isinstance(value, list) or choice is Choice.ORDERED:
            several = "a list of accelerators" if isinstance(value, list) else "a set"
            b.report(
                codes.ACCELERATORS_WITH_ALTERNATIVES,
                (*PATH, key),
                f"{several} cannot be combined with `{choice}`",
                hint=f"name the accelerator in each item of `{choice}`",
                related=[Related("the alternatives", b.key_span((*PATH, choice.value)))],
            )


def _candidates(b: Builder, alternatives: list[_Alternative]) -> Iterator[Resources]:
    """Every alternative with each of its accelerators, in the order written."""
    for layer, devices, path in alternatives:
        if not devices.accelerators:
            yield build_candidate(b, layer, None, path)
        for accelerator, where in zip(devices.accelerators, devices.where, strict=True):
            place = Layer(layer.values, {**layer.where, "accelerators": where}, layer.own)
            yield build_candidate(b, place, accelerator, path)


def _distinct(candidates: Iterator[Resources]) -> list[Resources]:
    found: list[Resources] = []
    for candidate in candidates:
        if candidate not in found:
            found.append(candidate)
    return found


def _check_agreement(b: Builder, candidates: tuple[Resources, ...]) -> None:
    """Settings of the whole task, which alternatives therefore cannot differ in."""
    first = candidates[0]
    for key in _AGREEING:
        for other in candidates[1:]:
            if getattr(other, key) != getattr(first, key):
                differing = other if key in other.where else first
                reference = first if differing is other else other
                b.diagnostics.add(
                    codes.ALTERNATIVES_DISAGREE.at(
                        differing.origin_of(key).span(),
                        f"all alternatives must agree about `{key}`",
                        hint=f"write `{key}` once, beside the alternatives",
                        related=[
                            Related("an alternative with another one", reference.origin.span())
                        ],
                    )
                )
                break
