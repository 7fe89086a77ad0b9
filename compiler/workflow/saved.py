"""Saved plans: opened together with the input that they were made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from compiler.diagnostics import Diagnostics, InvalidInput, PlanOutdated, WrongUsage
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Overrides, Stack
from compiler.planning.plan import Plan
from compiler.planning.plan_file import BadPlanFile, from_json
from compiler.source.reading import shown_path, special_file
from compiler.source.special import special_kind
from compiler.workflow import places
from compiler.workflow.arguments import is_selected, overrides_from_arguments
from compiler.workflow.desired import values_to_hand_over
from compiler.workflow.inputs import input_digests
from compiler.workflow.joining import joining
from compiler.workflow.loading import load_stack
from compiler.workflow.planner import Planned
from compiler.workflow.prepare import prepare
from compiler.workflow.rendering import load_tasks
from compiler.workflow.works import Work

SecretValues = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Opened:
    """A saved plan, its stack, the secret values handed over again, and the works it is of."""

    plan: Plan
    stack: Stack
    secrets: SecretValues
    works: tuple[Work, ...] = ()


def open_plan(
    path: str,
    stack_path: str | None = None,
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Opened:
    """Read a saved plan and check its inputs.

    Raise InvalidInput for a file that is no plan of this format, PlanOutdated if an input
    (YAML, stack, files) is no longer what it was. `overrides` hands over secrets again; the
    other overrides are the plan's own, and others than secrets raise WrongUsage.
    """
    handed_over = overrides or Overrides()
    if replace(handed_over, secret=()):
        raise WrongUsage("a saved plan is applied as it is: only --secret goes with it")
    try:
        kind = special_kind(path)
        if kind is not None:
            raise InvalidInput([special_file(shown_path(path), kind)])
        plan = from_json(Path(path).read_bytes().decode("utf-8"))
    except (BadPlanFile, UnicodeDecodeError) as error:
        raise InvalidInput([codes.BAD_PLAN.at(None, f"{path}: {error}")]) from None
    diagnostics = Diagnostics()
    stack = load_stack(stack_path or plan.stack, diagnostics)
    diagnostics.raise_if_errors()
    assert stack is not None
    if stack.set_name != plan.set:
        raise PlanOutdated([f"the plan is of set {plan.set!r}, the stack's is {stack.set_name!r}"])
    stack = replace(stack, requester=plan.arguments.get("requester"))
    if plan.scope == "destroy":
        return Opened(plan, stack, {})
    stack = places.with_base(stack, str(plan.arguments["root"]))
    own = replace(overrides_from_arguments(plan.arguments), secret=handed_over.secret)
    loaded = load_tasks(
        [_opened(item, stack) for item in plan.arguments["paths"]],
        stack,
        diagnostics,
        overrides=own,
        environ=environ,
        may_be_empty="allow_empty" in plan.arguments,
    )
    group = plan.arguments.get("group")
    if group is not None:
        loaded = joining(loaded, str(group))
    names, labels = (plan.arguments.get(name, ()) for name in ("names", "labels"))
    prepared = [
        prepare(work, stack, diagnostics, loaded.known_volumes)
        for work in loaded.works
        if is_selected(work, names, labels)
    ]
    moved = list(_moved(plan.inputs, input_digests(loaded.inputs, prepared, stack), stack))
    if moved:
        raise PlanOutdated(moved)
    diagnostics.raise_if_errors()
    works = [item.work for item in prepared]
    return Opened(plan, stack, values_to_hand_over(plan.works, works, stack), tuple(works))


def secrets_for(planned: Planned, stack: Stack) -> SecretValues:
    """The values that an apply of this fresh plan hands over."""
    return values_to_hand_over(planned.plan.works, planned.loaded.works, stack)


def _opened(path: str, stack: Stack) -> str:
    """A path of the plan's arguments, which start at its base."""
    return path if places.is_special(path) else str(Path(places.base_of(stack)) / path)


def _moved(then: Mapping[str, str], now: Mapping[str, str], stack: Stack) -> Iterator[str]:
    folder = Path(places.stack_folder(stack))
    for name, digest in then.items():
        if now.get(name) != digest:
            # A file that is there and can no longer be read is not in the new list.
            is_there = name in now or (folder / name).is_file()
            lost = "is no longer used" if name.endswith("/") else "is gone"
            yield f"{name} {'changed' if is_there else lost}"
    for name in now:
        if name not in then:
            yield f"{name} is new"
