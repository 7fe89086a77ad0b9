"""What a plan was asked for, kept in the plan so that `apply FILE` looks at the same input again.

Values of secrets are no arguments: they are handed over again at apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from compiler.model import Overrides

_FLAGS = ("offline", "rerun", "replace_running", "move", "allow_empty", "every_target")
_LISTS = ("only", "names")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Flags of `plan` and `apply`. `only` names targets, `names` works; both restrict."""

    offline: bool = False
    rerun: bool = False
    replace_running: bool = False
    move: bool = False
    allow_empty: bool = False
    every_target: bool = False
    only: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parallel: int = 8


def plan_arguments(
    paths: Sequence[str], options: PlanOptions, overrides: Overrides | None
) -> dict[str, object]:
    """JSON-able, with nothing in it that was not asked for."""
    asked: dict[str, object] = {"paths": list(paths)}
    asked.update({name: True for name in _FLAGS if getattr(options, name)})
    asked.update({name: list(getattr(options, name)) for name in _LISTS if getattr(options, name)})
    given = {
        item.name: value
        for item in fields(overrides or Overrides())
        if item.name != "secret"
        and (value := getattr(overrides, item.name, None)) not in (None, ())
    }
    if given:
        asked["overrides"] = given
    return asked


def overrides_from_arguments(arguments: Mapping[str, object]) -> Overrides:
    """The overrides of a saved plan, without secrets."""
    given = arguments.get("overrides", {})
    assert isinstance(given, dict)
    return Overrides(
        **{
            name: tuple(tuple(pair) for pair in value) if isinstance(value, list) else value
            for name, value in given.items()
        }
    )
