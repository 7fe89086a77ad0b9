"""The state of one mapping, and what every rule does with it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compiler.diagnostics import Code
from compiler.diagnostics.codes import migration as codes
from compiler.migration.draft import Draft
from compiler.migration.reading.header import Component, Given
from compiler.migration.reading.options import plugin_options
from compiler.migration.result import Outcome, Path
from compiler.migration.script import Script

OPTIONS: Path = ("config", "slurm", "sbatch_options")


@dataclass
class Mapping:
    """The state of one mapping."""

    script: Script
    draft: Draft
    keeps: bool
    on_slurm: bool

    @property
    def component(self) -> Component:
        return self.script.component

    def value(self, name: str) -> str:
        return self.component.settings[name]

    def say(
        self, given: Given, outcome: Outcome, code: Code, message: str, path: Path | None = None
    ) -> None:
        self.draft.add(given.line, shown(given), outcome, code, message, path)


def shown(given: Given) -> str:
    """The directive as it was written, without the magic word."""
    if given.original is not None:
        return f"{given.magic} {given.original}"
    if given.value is None:
        return given.spelling
    joint = "=" if given.spelling.startswith("--") else " "
    return f"{given.spelling}{joint}{given.value}"


def hand_on(mapping: Mapping, given: Given, value: object | None = None, note: str = "") -> None:
    """Into `sbatch_options`, as it was; without a counterpart where the target is another."""
    if not mapping.on_slurm and not mapping.keeps:
        lost(mapping, given)
        return
    path = (*OPTIONS, given.name)
    if value is None:
        value = True if given.value is None else given.value
    mapping.draft.put(path, _number(given.name, value))
    plugin = plugin_options().get(given.name)
    if plugin is not None:
        text = f"an option of the plug-in {plugin[1]}"
        mapping.say(given, Outcome.SBATCH_OPTIONS, codes.PLUGIN, text, path)
        return
    mapping.say(given, Outcome.SBATCH_OPTIONS, codes.OPTION, note or "handed to sbatch", path)


def _number(name: str, value: object) -> object:
    """Plain numbers as numbers; times stay texts, which they are in every other form."""
    if not isinstance(value, str) or name in ("time", "time-min", "begin"):
        return value
    return int(value) if re.fullmatch(r"0|[1-9][0-9]{0,17}", value) else value


def lost(mapping: Mapping, given: Given) -> None:
    target = mapping.script.settings.target
    text = _INSTEAD.get(given.name, "nothing there is like it").format(target=target)
    code = codes.MAIL if given.name.startswith("mail-") else codes.NO_COUNTERPART
    mapping.say(given, Outcome.DROPPED, code, text)


_INSTEAD = {
    "account": "who pays follows from namespace or account of the target",
    "qos": "`resources.priority_class` is the nearest",
    "time": "a task has no time limit there",
    "time-min": "a task has no time limit there",
    "partition": "the stack's targets stand for partitions",
    "constraint": "nodes are chosen by accelerator and size",
    "nodelist": "nodes have other names there",
    "exclude": "nodes have other names there",
    "reservation": "capacity reservations are the stack's",
    "licenses": "licences are not counted there",
    "exclusive": "whole nodes are taken by asking for all they have",
    "mail-type": "no mail is sent: watch with `triplane wait`",
    "mail-user": "no mail is sent",
    "comment": "`resources.labels` is the nearest",
    "nice": "`resources.priority_class` is the nearest",
    "hint": "threads are not placed there",
    "distribution": "processes are not placed there",
    "dependency": "a pipeline (`---` between tasks) is the nearest",
}
