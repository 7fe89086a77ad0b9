"""Saved plans: JSON out and in, with an id that covers every byte."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping

from compiler.diagnostics.json_text import json_text
from compiler.planning.because import Because
from compiler.planning.cost import Cost, Costs
from compiler.planning.differences import FieldAction, FieldChange
from compiler.planning.outcomes import Action
from compiler.planning.plan import (
    FORMAT_VERSION,
    ObjectChange,
    Overridden,
    PlacementRow,
    Plan,
    Skipped,
    TargetState,
    WorkChange,
)
from compiler.planning.records import Record
from compiler.planning.states import RunState
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.filetree import FileTree

# Members that are data, in which an empty text means something.
_VERBATIM = frozenset({"before", "after", "record", "secrets", "arguments"})
_EVEN_EMPTY = frozenset({"before", "after", "rows"})
# What follows from other members, for readers that are no Python.
_DERIVED = frozenset({"replace_paths"})
# Keys are sorted, so that every saved plan begins like this.
_BEGINNING = re.compile(r'\s*\{\s*"applyable"\s*:')


class BadPlanFile(ValueError):
    """The text is not a plan that this version can apply; the message says why."""


def plan_body(plan: Plan) -> dict[str, object]:
    """The plan as JSON-able data in its versioned shape (schemas/plan.schema.json)."""
    body = {
        "format_version": FORMAT_VERSION,
        "set": plan.set,
        "stack": plan.stack,
        "scope": plan.scope,
        "applyable": plan.applyable,
        "complete": plan.complete,
        "errored": plan.errored,
        "summary": plan.counts(),
        "arguments": dict(plan.arguments),
        "inputs": dict(plan.inputs),
        "noted": dict(plan.noted),
        "targets": [_target_body(item) for item in plan.targets],
        "works": [_work_body(item) for item in plan.works],
        "cost": {
            "changes": _costs_body(plan.cost_of_changes()),
            "all": _costs_body(plan.cost_of_all()),
        },
        "overridden": [_without_empty(dataclasses.asdict(item)) for item in plan.overridden],
    }
    body["id"] = _id(body)
    return body


def plan_id(plan: Plan) -> str:
    """16 hex digits over the whole plan; steps record it to recognise their own work."""
    return str(plan_body(plan)["id"])


def to_json(plan: Plan) -> str:
    """The saved plan; names of files that are no UTF-8 are kept as JSON's own escapes."""
    return json_text(plan_body(plan), sort_keys=True) + "\n"


def is_plan(text: str) -> bool:
    """Whether a text (or its beginning) is meant to be a saved plan, whole or not."""
    return _BEGINNING.match(text) is not None


def from_json(text: str) -> Plan:
    """Raise BadPlanFile for what is truncated, edited by hand, or of another version."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        cut = "cut short or " if is_plan(text) else ""
        raise BadPlanFile(f"{cut}not a plan file: {error}") from None
    if not isinstance(body, dict) or "format_version" not in body or "works" not in body:
        raise BadPlanFile("not a plan file")
    version = str(body["format_version"])
    if version.split(".")[0] != FORMAT_VERSION.split(".")[0]:
        raise BadPlanFile(f"a plan of format {version}; this triplane applies {FORMAT_VERSION}")
    if body.get("id") != _id(body):
        raise BadPlanFile("the plan was edited or cut: its id does not match its content")
    try:
        return Plan(
            set=body["set"],
            stack=body["stack"],
            scope=body["scope"],
            inputs=body["inputs"],
            arguments=body["arguments"],
            noted=body["noted"],
            works=tuple(_work(item) for item in body["works"]),
            targets=tuple(
                TargetState(
                    item["name"],
                    Skipped(item["skipped"]) if "skipped" in item else None,
                    item["reason"],
                )
                for item in body["targets"]
            ),
            errored=body["errored"],
            overridden=tuple(
                Overridden(item["rule"], item.get("work", ""), item["message"])
                for item in body.get("overridden", ())
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadPlanFile(f"not a plan file: {type(error).__name__} at {error}") from None


def _id(body: Mapping[str, object]) -> str:
    rest = {key: value for key, value in body.items() if key != "id"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _target_body(state: TargetState) -> dict[str, object]:
    body: dict[str, object] = {"name": state.target, "asked": state.asked, "reason": state.reason}
    if state.skipped is not None:
        body["skipped"] = str(state.skipped)
    return body


def _work_body(change: WorkChange) -> dict[str, object]:
    alone = dataclasses.replace(change, alternatives=(), needs=())
    body = _without_empty(dataclasses.asdict(alone))
    assert isinstance(body, dict)
    for name in ("alternatives", "needs"):
        if nested := getattr(change, name):
            body[name] = [_work_body(item) for item in nested]
    if change.cost is not None and change.cost.total is not None:
        body["cost"]["total"] = change.cost.total
    if change.action is Action.REPLACE and change.because:
        body["replace_paths"] = [item.field for item in change.because]
    return body


def _costs_body(costs: Costs) -> dict[str, object]:
    return {**dataclasses.asdict(costs), "unknown": list(costs.unknown)}


def _without_empty(value: object) -> object:
    """Optional members that say nothing are left out; data of the user's is kept as it is."""
    if isinstance(value, dict):
        return {
            key: item if _is_verbatim(key, item) else _without_empty(item)
            for key, item in value.items()
            if item is not None and (item not in ((), {}, "") or key in _EVEN_EMPTY)
        }
    if isinstance(value, list | tuple):
        return [_without_empty(item) for item in value]
    return value


def _is_verbatim(key: str, item: object) -> bool:
    # `fields` are a map on a work (names to values), and a list of differences on an object.
    return key in _VERBATIM or (key == "fields" and isinstance(item, dict))


def _work(body: dict) -> WorkChange:
    members = {key: value for key, value in body.items() if key not in _DERIVED}
    members["action"] = Action(body["action"])
    members["rows"] = tuple(RunState(row) if row else None for row in body["rows"])
    if "state" in body:
        members["state"] = RunState(body["state"])
    if "record" in body:
        members["record"] = _record(body["record"])
    members["because"] = _because(body)
    members["objects"] = tuple(_object(item) for item in body.get("objects", ()))
    members["uploads"] = tuple(FileTree(**item) for item in body.get("uploads", ()))
    members["required"] = tuple(body.get("required", ()))
    members["placement"] = tuple(PlacementRow(**item) for item in body.get("placement", ()))
    for name in ("alternatives", "needs"):
        members[name] = tuple(_work(item) for item in body.get(name, ()))
    members.setdefault("reason", "")
    if "cost" in body:
        given = body["cost"]
        members["cost"] = Cost(given.get("hourly"), given.get("most"), given.get("time_limit"))
    return WorkChange(**members)


def _because(body: dict) -> tuple[Because, ...]:
    return tuple(Because(item["field"], item.get("location")) for item in body.get("because", ()))


def _record(body: dict) -> Record:
    return Record(**body).typed()


def _object(body: dict) -> ObjectChange:
    members = dict(body)
    members["action"] = Action(body["action"])
    if "artifact" in body:
        artifact = body["artifact"]
        members["artifact"] = Artifact(
            **{"text": "", **artifact, "kind": ArtifactKind(artifact["kind"])}
        )
    members["fields"] = tuple(
        FieldChange(
            **{
                "path": "",
                **item,
                "action": FieldAction(item["action"]),
                "lines": tuple(item.get("lines", ())),
                "because": _because(item),
            }
        )
        for item in body.get("fields", ())
    )
    return ObjectChange(**members)
