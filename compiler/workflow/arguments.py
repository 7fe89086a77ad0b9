"""What a plan was asked for, kept in the plan so that `apply FILE` looks at the same input again.

Values of secrets are no arguments: they are handed over again at apply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from compiler.diagnostics import WrongUsage
from compiler.model import Overrides, Stack, Task
from compiler.source import suggest
from compiler.workflow import places
from compiler.workflow.works import Work

_FLAGS = (
    "offline",
    "rerun",
    "replace_running",
    "move",
    "allow_empty",
    "every_target",
    "read_only",
    "delete_volumes",
)
_TEXTS = ("group",)
_LISTS = ("only", "names", "labels")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Flags of `plan` and `apply`. `only` names targets, `names` works; both restrict, and so do
    `labels` (`key` or `key=value`, all of which a work has to have). `group` is the running
    group that the tasks join."""

    offline: bool = False
    rerun: bool = False
    replace_running: bool = False
    move: bool = False
    allow_empty: bool = False
    every_target: bool = False
    read_only: bool = False
    delete_volumes: bool = False
    group: str | None = None
    only: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    parallel: int = 8


def plan_arguments(
    paths: Sequence[str], options: PlanOptions, overrides: Overrides | None, stack: Stack
) -> dict[str, object]:
    """JSON-able, with nothing in it that was not asked for; paths start at `root`."""
    asked: dict[str, object] = {
        "paths": [places.shown(path, stack) for path in paths],
        "root": places.base_argument(stack),
    }
    asked.update({name: True for name in _FLAGS if getattr(options, name)})
    asked.update({name: list(getattr(options, name)) for name in _LISTS if getattr(options, name)})
    asked.update({name: getattr(options, name) for name in _TEXTS if getattr(options, name)})
    given = {
        item.name: value
        for item in fields(overrides or Overrides())
        if item.name != "secret"
        and (value := getattr(overrides, item.name, None)) not in (None, ())
    }
    if given:
        asked["overrides"] = given
    if stack.requester:
        asked["requester"] = stack.requester
    if stack.let_pass:
        asked["override_policy"] = sorted(stack.let_pass)
    return asked


def overrides_from_arguments(arguments: Mapping[str, Any]) -> Overrides:
    """The overrides of a saved plan, without secrets."""
    given: dict[str, Any] = arguments.get("overrides", {})
    values: dict[str, Any] = {
        name: tuple(tuple(pair) for pair in value) if isinstance(value, list) else value
        for name, value in given.items()
    }
    return Overrides(**values)


def with_values(overrides: Overrides | None, environ: Mapping[str, str] | None) -> Overrides:
    """The overrides with the variables of the environment that `--env NAME` asks for.

    A plan holds what was planned with; the environment of its apply says nothing.
    """
    overrides = overrides or Overrides()
    given = environ or {}
    return replace(
        overrides,
        env=tuple(
            (name, given.get(name, value)) if value is None else (name, value)
            for name, value in overrides.env
        ),
    )


def require_targets(only: Sequence[str], stack: Stack) -> None:
    """Raise WrongUsage for a `--target` that the stack does not have."""
    for key in only:
        if key not in stack.targets:
            close = suggest(key, stack.targets)
            hint = f"did you mean `{close}`?" if close else f"it has {', '.join(stack.targets)}"
            raise WrongUsage(f"stack `{stack.name}` has no target `{key}`; {hint}")


def require_works(names: Sequence[str], known: Sequence[str]) -> None:
    """Raise WrongUsage for a `--work` that no input holds."""
    for name in names:
        if name not in known:
            close = suggest(name, known)
            hint = f"; did you mean `{close}`?" if close else ""
            raise WrongUsage(f"no input holds a task `{name}`{hint}")


def is_selected(work: Work, names: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether the filters leave a work in: one of `names`, and with all of `labels`."""
    if names and work.name not in names:
        return False
    return all(any(_has(task, label) for task in work.tasks) for label in labels)


def require_labels(labels: Sequence[str], works: Sequence[Work]) -> None:
    """Raise WrongUsage for a `--label` that no work of the input has."""
    for label in labels:
        if not any(is_selected(work, (), (label,)) for work in works):
            key = label.partition("=")[0]
            known = {
                name
                for work in works
                for task in work.tasks
                for candidate in task.resources.candidates
                for name in candidate.labels
            }
            close = suggest(key, sorted(known - {key}))
            hint = f"; did you mean `{close}`?" if close else ""
            raise WrongUsage(f"no task of the input has the label `{label}`{hint}")


def _has(task: Task, label: str) -> bool:
    key, sign, value = label.partition("=")
    return any(
        key in candidate.labels and (not sign or candidate.labels[key] == value)
        for candidate in task.resources.candidates
    )
