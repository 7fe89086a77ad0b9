"""What an engine's events say of each resource, in planning's terms."""

from __future__ import annotations

import base64
import binascii
import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compiler.planning.differences import FieldAction, FieldChange
from compiler.planning.outcomes import Action

if TYPE_CHECKING:
    from pulumi.automation import EngineEvent

STACK_TYPE = "pulumi:pulumi:Stack"
_SECRET = "4dabf18193072939515e22adb298388d"  # how the SDK marks a value as secret
_ACTIONS = {
    "create": Action.CREATE,
    "update": Action.UPDATE,
    "replace": Action.REPLACE,
    "create-replacement": Action.REPLACE,
    "delete-replaced": Action.REPLACE,
    "delete": Action.DELETE,
    "import": Action.CREATE,
}
_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.\[]+)')


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """One resource that an operation changes; `forced_by` are the inputs that replace it."""

    urn: str
    type: str
    name: str
    parent: str
    action: Action
    fields: tuple[FieldChange, ...] = ()
    forced_by: tuple[str, ...] = field(default=())

    @property
    def kind(self) -> str:
        return kind_of(self.type)

    @property
    def address(self) -> str:
        """`ec2.Instance llama-train-1-0`, as plans show it."""
        return f"{self.kind} {self.name}"

    @property
    def is_component(self) -> bool:
        """Whether it only holds others and is nothing on the platform."""
        return self.type.startswith("triplane:")


def kind_of(token: str) -> str:
    """`ec2.Instance` of `aws:ec2/instance:Instance`, with or without the types of its parents:
    as the program calls it."""
    _, _, rest = token.rpartition("$")[2].partition(":")
    module, _, name = rest.rpartition(":")
    return f"{module.partition('/')[0]}.{name}"


def steps_of(events: Iterable[EngineEvent]) -> tuple[ResourceStep, ...]:
    """The changes of resources in the order of type and name; what stays is left out."""
    found: dict[str, ResourceStep] = {}
    for event in events:
        pre = event.resource_pre_event
        if pre is None:
            continue
        data = pre.metadata
        action = _ACTIONS.get(str(getattr(data.op, "value", data.op)))
        if action is None or data.type == STACK_TYPE or data.type.startswith("pulumi:providers:"):
            continue
        state = data.new or data.old
        earlier = found.get(data.urn)
        fields, forced = _differences(data)
        if earlier is not None and earlier.action is Action.REPLACE:
            fields = earlier.fields or fields
            forced = earlier.forced_by or forced
            action = Action.REPLACE
        found[data.urn] = ResourceStep(
            urn=data.urn,
            type=data.type,
            name=data.urn.rpartition("::")[2],
            parent=state.parent if state else "",
            action=action,
            fields=fields,
            forced_by=forced,
        )
    return tuple(sorted(found.values(), key=lambda step: (step.type, step.name)))


def _differences(data: Any) -> tuple[tuple[FieldChange, ...], tuple[str, ...]]:
    old = data.old.inputs if data.old else {}
    new = data.new.inputs if data.new else {}
    fields, forced = [], []
    for path, change in sorted((data.detailed_diff or {}).items()):
        kind = str(getattr(change.diff_kind, "value", change.diff_kind))
        if kind.endswith("-replace"):
            forced.append(path)
        before, after = value_at(old, path), value_at(new, path)
        if before is None and data.old is not None:
            before = value_at(data.old.outputs, path)
        fields.append(_field(path, before, after))
    return tuple(fields), tuple(forced)


def _field(path: str, before: object, after: object) -> FieldChange:
    action = FieldAction.CHANGE
    if before is None:
        action = FieldAction.ADD
    elif after is None:
        action = FieldAction.REMOVE
    if is_secret(before) or is_secret(after):
        return FieldChange(path, action, sensitive=True)
    if path in ("userData", "userDataBase64"):
        lines = difflib.unified_diff(_decoded(before), _decoded(after), lineterm="", n=3)
        return FieldChange(path, action, lines=tuple(lines)[2:])
    return FieldChange(path, action, before, after)


def _decoded(value: object) -> list[str]:
    """The lines of a boot script, which the API takes in base64."""
    try:
        return base64.b64decode(str(value or ""), validate=True).decode().splitlines()
    except (binascii.Error, UnicodeDecodeError):
        return str(value).splitlines()


def value_at(values: object, path: str) -> object:
    """The value at a Pulumi property path (`tags["a.b"]`, `ebs[0].size`), None for none."""
    for quoted, index, name in _STEP.findall(path):
        if index:
            if not isinstance(values, list) or int(index) >= len(values):
                return None
            values = values[int(index)]
        elif isinstance(values, Mapping):
            values = values.get(quoted.replace('\\"', '"') if quoted else name)
        else:
            return None
    return values


def is_secret(value: object) -> bool:
    return value == "[secret]" or (isinstance(value, Mapping) and _SECRET in value)
