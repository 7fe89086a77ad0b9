"""Heterogeneous jobs as groups: a task for each part.

The first part runs the script, which is kept; the others have no `run`, so that they hold
their nodes until the first one ends. Which processes go where stays the work of
`srun --het-group` in the script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from compiler.migration.reading.header import Given
from compiler.migration.result import Migration
from compiler.migration.script import Script
from compiler.migration.several import group_name, joined

_OF_EACH = ("account", "exclude", "hint", "mem", "qos", "reservation", "time", "time-min")
"""What sbatch hands on from a part to the next, and asks for with each of them."""

Writer = Callable[[Script, bool], Migration]


def as_group(script: Script, whole: Migration, write: Writer) -> Migration | None:
    """`whole` with a task for each part; None where one of them cannot be written.

    `write(script, runs)` makes the task of one part; without `runs` it has demands only.
    """
    name = group_name(script.job_name)
    parts = []
    for number, _ in enumerate(script.header.components):
        part = write(_part(script, number, f"{name}-{number}"), number == 0)
        if part.yaml is None or part.script is not None:
            return None
        parts.append(part)
    header = {"name": name, "execution": "parallel", "primary_tasks": [parts[0].name]}
    return joined(whole, header, [], parts)


def _part(script: Script, number: int, name: str) -> Script:
    """The script with this part for its only one."""
    component = script.header.components[number]
    inherited = tuple(_inherited(script, number))
    component = replace(component, given=(*inherited, *component.given))
    settings = replace(script.settings, keep=True, name=name)
    header = replace(script.header, components=(component,))
    return replace(script, header=header, settings=settings, inherited=inherited)


def _inherited(script: Script, number: int) -> Iterator[Given]:
    """Options of earlier parts that hold for this one too."""
    component = script.header.components[number]
    for name in _OF_EACH:
        if component.last(name) is not None or name not in component.settings:
            continue
        earlier = (part.last(name) for part in reversed(script.header.components[:number]))
        yield from list(filter(None, earlier))[:1]
