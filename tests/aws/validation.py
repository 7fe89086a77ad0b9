"""Checking a program's inputs against the annotations of the pulumi-aws SDK itself.

The SDK accepts any type and, in dictionaries, any name. This walks the arguments class of
each resource: unknown names, missing required ones, wrong types.
"""

from __future__ import annotations

import collections.abc
import enum
import functools
import importlib
import inspect
import typing
from collections.abc import Iterator, Mapping

from tests.aws.mocks import Project


def faults(project: Project) -> list[str]:
    """One line for every input that does not fit; empty for a sound program."""
    return [
        fault
        for item in project.resources
        for fault in _properties(
            _args_class(item.type), _plain(item.inputs), f"{item.type} {item.name}"
        )
    ]


def _plain(value: object) -> object:
    """Numbers as Python has them: the wire knows only floating point ones."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


@functools.cache
def _args_class(token: str) -> type:
    """`aws:ec2/instance:Instance` -> pulumi_aws.ec2.InstanceArgs."""
    _, module, name = token.split(":")
    package = importlib.import_module(f"pulumi_aws.{module.partition('/')[0]}")
    resource = getattr(package, name)
    return getattr(importlib.import_module(resource.__module__), f"{name}Args")


@functools.cache
def _hints(args: type) -> Mapping[str, object]:
    import pulumi

    names = {
        "Output": pulumi.Output,
        "Input": pulumi.Input,
        "T": typing.TypeVar("T"),
        "T_co": typing.TypeVar("T_co", covariant=True),
    }
    return typing.get_type_hints(args.__init__, localns=names)


@functools.cache
def _python_names(args: type) -> Mapping[str, str]:
    """camelCase -> snake_case, as the class itself declares it."""
    names = {}
    for python, member in inspect.getmembers(args, lambda item: isinstance(item, property)):
        names[getattr(member.fget, "_pulumi_name", python)] = python
    return names


def _properties(args: type, values: Mapping[str, object], where: str) -> Iterator[str]:
    parameters = inspect.signature(args.__init__).parameters
    given = set()
    for key, value in values.items():
        name = _python_names(args).get(key)
        if name is None:
            yield f"{where}.{key}: no property of {args.__name__}"
            continue
        given.add(name)
        yield from _check(value, _hints(args)[name], f"{where}.{key}")
    for name, parameter in parameters.items():
        required = parameter.default is inspect.Parameter.empty
        if required and name not in (*given, "self", "__self__"):
            yield f"{where}: {name} of {args.__name__} is missing"


def _check(value: object, hint: object, where: str) -> list[str]:
    import pulumi

    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any or isinstance(hint, typing.TypeVar):
        return []
    if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
        found = [
            _check(value, one, where)
            for one in inner
            if typing.get_origin(one) not in (pulumi.Output, collections.abc.Awaitable)
        ]
        return min(found, key=len) if all(found) else []
    if hint is type(None):
        return [] if value is None else [f"{where}: {value!r} is not None"]
    if origin in (list, collections.abc.Sequence):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is no list"]
        return [x for i, item in enumerate(value) for x in _check(item, inner[0], f"{where}[{i}]")]
    if origin in (dict, collections.abc.Mapping):
        if not isinstance(value, Mapping):
            return [f"{where}: {value!r} is no mapping"]
        return [x for key, item in value.items() for x in _check(item, inner[1], f"{where}.{key}")]
    if not isinstance(hint, type):
        return []
    if issubclass(hint, enum.Enum):
        known = {member.value for member in hint}
        return [] if value in known else [f"{where}: {value!r} is none of {sorted(known)}"]
    if hint.__module__.startswith("pulumi_aws"):
        if not isinstance(value, Mapping):
            return [f"{where}: {value!r} is no {hint.__name__}"]
        return list(_properties(hint, value, where))
    if hint is float:
        hint = int if isinstance(value, int) else float
    fits = isinstance(value, hint) and not (hint is int and isinstance(value, bool))
    return [] if fits else [f"{where}: {value!r} is no {hint.__name__}"]
