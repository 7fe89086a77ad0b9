"""Every directive becomes exactly one thing: the table of what, by option.

A rule sees the option that decides (earlier ones of the same name are overridden), writes
into the draft and says what it did. `keeps` tells whether the script is kept as it is on
Slurm, where `sbatch_options` may say everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from compiler.diagnostics import Code
from compiler.diagnostics.codes import migration as codes
from compiler.migration.draft import Draft, task_name
from compiler.migration.gpus import choose, spelled_alike
from compiler.migration.reading.header import Component, Given
from compiler.migration.reading.options import plugin_options
from compiler.migration.result import Outcome, Path
from compiler.migration.script import Script
from compiler.targets.slurm.options import table

OPTIONS: Path = ("config", "slurm", "sbatch_options")
_GPU_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")
_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
_FILES = ("output", "error", "input", "open-mode")


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


def map_directives(mapping: Mapping) -> None:
    """An entry for every directive of the (first) component, in the script's order."""
    component = mapping.component
    deciding = {given.name: index for index, given in enumerate(component.given)}
    for index, given in enumerate(component.given):
        if deciding[given.name] != index and given.name != "mail-type":
            last = component.given[deciding[given.name]]
            where = f"line {last.line}" if last.line else "the command line"
            text = f"{where} has the same option with `{last.value}`"
            mapping.say(given, Outcome.DROPPED, codes.OVERRIDDEN, text)
        elif given.name not in component.settings:
            text = component.changes.get(given.name, "another option excludes it")
            mapping.say(given, Outcome.DROPPED, codes.CHANGED, text)
        else:
            _RULES.get(given.name, _other)(mapping, given)
    for given in component.early:
        text = f"`{given.spelling}` does nothing in a script"
        mapping.say(given, Outcome.DROPPED, codes.NO_EFFECT, text)


def hand_on(mapping: Mapping, given: Given, value: object | None = None, note: str = "") -> None:
    """Into `sbatch_options`, as it was; without a counterpart where the target is another."""
    if not mapping.on_slurm and not mapping.keeps:
        _lost(mapping, given)
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


def _lost(mapping: Mapping, given: Given) -> None:
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


def _other(mapping: Mapping, given: Given) -> None:
    option = table().get(given.name)
    if option is not None and option.role == "client" and given.name not in _KEPT_CLIENT:
        text = f"`--{given.name}` steers sbatch, not the job"
        mapping.say(given, Outcome.DROPPED, codes.CLIENT, text)
        return
    value = mapping.value(given.name) if given.name in ("mail-type", "signal") else None
    if given.name == "mail-type" and mapping.draft.get((*OPTIONS, "mail-type")) is not None:
        text = "added to the events of the other lines"
        mapping.say(given, Outcome.SBATCH_OPTIONS, codes.OPTION, text, (*OPTIONS, "mail-type"))
        return
    hand_on(mapping, given, value)


_KEPT_CLIENT = ("get-user-env", "export-file")


def _name(mapping: Mapping, given: Given) -> None:
    value = given.value or ""
    name = task_name(value)
    mapping.draft.put(("name",), name)
    if name == value:
        mapping.say(given, Outcome.FIELD, codes.FIELD, "the task's name", ("name",))
        return
    text = f"a name of the dialect has no `{value}`"
    mapping.say(given, Outcome.TRANSLATED, codes.FIELD, text, ("name",))


def _nodes(mapping: Mapping, given: Given) -> None:
    request = mapping.script.request
    changed = mapping.component.changes.get("nodes")
    if request.node_count is None:
        if mapping.keeps:
            hand_on(mapping, given, mapping.value("nodes"), "how many of them is left to Slurm")
            return
        least = request.nodes[0] if request.nodes else 1
        text = f"{given.value} nodes: a task has a fixed number; {least} is written"
        mapping.draft.put(("num_nodes",), max(least, 1))
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text, ("num_nodes",))
        return
    mapping.draft.put(("num_nodes",), request.node_count)
    if changed:
        mapping.say(given, Outcome.TRANSLATED, codes.CHANGED, changed, ("num_nodes",))
        return
    mapping.say(given, Outcome.FIELD, codes.FIELD, "the number of nodes", ("num_nodes",))


def _tasks(mapping: Mapping, given: Given) -> None:
    if mapping.keeps:
        hand_on(mapping, given)
        return
    request = mapping.script.request
    if (request.node_tasks or 1) == 1:
        text = "one task a node is what a task is"
        mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text)
        return
    text = f"{request.node_tasks} tasks a node, which a launcher starts; `cpus` is for all of them"
    mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text, ("resources", "cpus"))


def _cpus(mapping: Mapping, given: Given) -> None:
    path = ("resources", "cpus")
    request = mapping.script.request
    cpus = request.cpus_per_task if mapping.keeps else request.node_cpus
    mapping.draft.put(path, cpus or request.cpus_per_task or 1)
    tasks = request.node_tasks or 1
    if mapping.keeps or tasks == 1:
        mapping.say(given, Outcome.FIELD, codes.FIELD, "the CPUs of a task", path)
        return
    text = f"{tasks} tasks of {request.cpus_per_task} CPUs on each node"
    mapping.say(given, Outcome.TRANSLATED, codes.FIELD, text, path)


def _memory(mapping: Mapping, given: Given) -> None:
    request = mapping.script.request
    path = ("resources", "memory")
    if given.name != "mem" and mapping.keeps:
        hand_on(mapping, given)
        return
    amount = request.node_memory
    if amount == 0:
        if mapping.keeps:
            hand_on(mapping, given, "0", "all of a node's memory")
            return
        text = "all of a node's memory: how much that is follows from the node"
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text)
        return
    if amount is None:
        text = "how much that is for a node is not certain"
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text)
        return
    mapping.draft.put(path, memory_value(amount))
    if given.name == "mem":
        unit = "" if (given.value or "")[-1:].isalpha() else "; a number alone is MiB"
        mapping.say(given, Outcome.FIELD, codes.FIELD, f"the memory of a node{unit}", path)
        return
    text = f"{given.value} a {given.name.rpartition('-')[2]} is {amount} MiB a node"
    mapping.say(given, Outcome.TRANSLATED, codes.FIELD, text, path)


def memory_value(mib: int) -> int | str:
    """GiB where that is whole, else a text with its unit."""
    return mib // 1024 if mib % 1024 == 0 else f"{mib}MB"


def _gpus(mapping: Mapping, given: Given) -> None:
    script = mapping.script
    request = script.request
    demands = [demand for demand in request.gpus if demand.option == given.name]
    path = ("resources", "accelerators")
    chosen = choose(request, dict(script.options), script.settings)
    if not demands or chosen is None or len(request.gpus) > 1:
        if mapping.keeps:
            hand_on(mapping, given)
        else:
            _lost(mapping, given)
        return
    demand = demands[0]
    exact = (
        demand.per == "node" and not request.other_gres and script.settings.gres_style == "typed"
    )
    alike = demand.kind is not None and spelled_alike(demand.kind)
    if mapping.keeps and not (exact and (alike or chosen.source == "stack")):
        hand_on(mapping, given, None, "asked for as before")
        return
    if chosen.name is None:
        text = "which kind of GPU is not in the script"
        if demand.kind is not None:
            text = f"`{demand.kind}` is no accelerator that the catalogue has"
        if chosen.hint:
            text += f"; {chosen.hint}"
        mapping.draft.put(path, f"{UNKNOWN}:{chosen.count}")
        code = codes.GPU_NAME if demand.kind is not None else codes.GPU_TYPE
        mapping.say(given, Outcome.DECISION, code, text, path)
        return
    mapping.draft.put(path, f"{chosen.name}:{chosen.count}")
    if chosen.source == "stack":
        text = f"the stack has {chosen.name} for partition `{request.partition}`"
        mapping.say(given, Outcome.TRANSLATED, codes.GPU_FROM_STACK, text, path)
        return
    outcome = Outcome.FIELD if alike and demand.per == "node" else Outcome.TRANSLATED
    mapping.say(given, outcome, codes.FIELD, f"{chosen.count} on each node", path)


UNKNOWN = "DECIDE"
"""Stands where an accelerator has to be named; no target takes it."""


def _partition(mapping: Mapping, given: Given) -> None:
    value = given.value or ""
    if not mapping.on_slurm and not mapping.keeps:
        _lost(mapping, given)
        return
    if not value or any(character in value for character in ",/*# "):
        if mapping.keeps:
            hand_on(mapping, given, None, "the first of them that is free")
            return
        text = f"`{value}`: a task names one partition"
        mapping.say(given, Outcome.DECISION, codes.NODE_RANGE, text, ("resources", "infra"))
        return
    cluster = mapping.script.settings.cluster or "*"
    mapping.draft.put(("resources", "infra"), f"slurm/{cluster}/{value}")
    text = "the last part of `infra`"
    mapping.say(given, Outcome.FIELD, codes.FIELD, text, ("resources", "infra"))


def _file(mapping: Mapping, given: Given) -> None:
    if mapping.keeps:
        value = given.value or ""
        if "%x" in value and "\\" not in value:
            name = mapping.script.job_name
            hand_on(mapping, given, value.replace("%x", name), f"`%x` is `{name}`")
            return
        hand_on(mapping, given)
        return
    if given.name == "open-mode":
        text = "the output of a run is always added to"
        mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text)
        return
    text = "goes to the run folder: `triplane logs` shows it"
    mapping.say(given, Outcome.DROPPED, codes.OUTPUT, text)


def _folder(mapping: Mapping, given: Given) -> None:
    if mapping.keeps:
        hand_on(mapping, given)
        return
    text = "the script changes to that folder first"
    mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text, ("run",))


def folder_of(script: Script) -> str | None:
    """Where the script starts: its --chdir, else the submit folder; None where unknown."""
    submit = script.settings.submit_folder
    chdir = script.options.get("chdir")
    if chdir is None:
        return submit
    if chdir.startswith("/"):
        return chdir
    return str(PurePosixPath(submit) / chdir) if submit else None


def _export(mapping: Mapping, given: Given) -> None:
    value = given.value or ""
    if not mapping.keeps and value.upper() == "ALL":
        text = "everything is exported to a task"
        mapping.say(given, Outcome.TRANSLATED, codes.IMPLIED, text)
        return
    hand_on(mapping, given)


def _time(mapping: Mapping, given: Given) -> None:
    if not mapping.on_slurm and not mapping.keeps:
        _lost(mapping, given)
        return
    value = mapping.value(given.name)
    if value == "UNLIMITED":
        text = "no limit of its own keeps a job from backfill and before a maintenance"
        mapping.say(given, Outcome.DECISION, codes.NO_LIMIT, text)
        return
    if _TIME.fullmatch(given.value or ""):
        hand_on(mapping, given)
        return
    hand_on(mapping, given, value, f"`{given.value}` is {value}")


_TIME = re.compile(r"\d+(:\d{1,2}){0,2}|\d+-\d{1,2}(:\d{1,2}){0,2}")


def _dependency(mapping: Mapping, given: Given) -> None:
    if mapping.on_slurm or mapping.keeps:
        hand_on(mapping, given)
        if (given.value or "").lower() != "singleton":
            entry = mapping.draft.entries.pop()
            text = "a job's number is that of one submission"
            mapping.say(given, Outcome.DECISION, codes.DEPENDENCY, text, entry.path)
        return
    _lost(mapping, given)


_RULES: dict[str, Callable[[Mapping, Given], None]] = {
    "job-name": _name,
    "nodes": _nodes,
    "ntasks": _tasks,
    "ntasks-per-node": _tasks,
    "cpus-per-task": _cpus,
    "partition": _partition,
    "chdir": _folder,
    "export": _export,
    "dependency": _dependency,
    "time": _time,
    "time-min": _time,
    **dict.fromkeys(_MEMORY, _memory),
    **dict.fromkeys(_GPU_OPTIONS, _gpus),
    **dict.fromkeys(_FILES, _file),
}
