"""Which branch of an `anyOf` or `oneOf` the writer meant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler.source.schemas import Node
from compiler.source.words import is_variable

if TYPE_CHECKING:
    from jsonschema import ValidationError


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a value that fits no branch.

    Exactly one of the attributes says something: `errors` are those of the branch that was
    meant; `required` are fields of which one is needed; `values` are branches of the right type
    whose values differ. All empty: the value's type fits none.
    """

    errors: tuple[ValidationError, ...] = ()
    required: tuple[str, ...] = ()
    values: tuple[Node, ...] = ()


def verdict(error: ValidationError, node: Node) -> Verdict:
    """Judge an `anyOf`/`oneOf` error of the sub-schema `node`."""
    branches = _by_branch(error)
    if all(found.validator == "required" for found in error.context):
        names = [name for found in error.context for name in found.validator_value]
        if not any(found.relative_path for found in error.context):
            return Verdict(required=tuple(dict.fromkeys(names)))
    parts = node[1][error.validator]
    if not (isinstance(error.instance, str) and "$" in error.instance):
        branches = {
            index: found
            for index, found in branches.items()
            if not is_variable((node[0], parts[index]))
        }
    fitting = {index: found for index, found in branches.items() if not _of_other_type(found)}
    if not fitting:
        return Verdict()
    if len(fitting) > 1 and not isinstance(error.instance, dict | list):
        return Verdict(values=tuple((node[0], parts[index]) for index in fitting))
    best = min(fitting, key=lambda index: (_distance(fitting[index]), index))
    return Verdict(errors=tuple(fitting[best]))


def _by_branch(error: ValidationError) -> dict[int, list[ValidationError]]:
    branches: dict[int, list[ValidationError]] = defaultdict(list)
    for found in error.context:
        branches[found.relative_schema_path[0]].append(found)
    return branches


def _of_other_type(errors: list[ValidationError]) -> bool:
    """Whether a branch is for values of another type than the one at hand."""
    for found in errors:
        if found.relative_path:
            continue
        if found.validator == "type":
            return True
        nested = _by_branch(found).values() if found.validator in ("anyOf", "oneOf") else ()
        if nested and all(_of_other_type(branch) for branch in nested):
            return True
    return False


def _distance(errors: list[ValidationError]) -> float:
    """How much would have to change for the branch to fit."""
    return sum(_weight(found) for found in errors)


def _weight(error: ValidationError) -> float:
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        return sum(key not in known for key in error.instance)
    # A wrong value deep inside means that the fields around it were recognised.
    return 0.5 if error.relative_path else 1.0
