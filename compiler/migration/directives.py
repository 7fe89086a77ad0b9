"""Every directive becomes exactly one thing: the table of what, by option.

A rule sees the option that decides (earlier ones of the same name are overridden), writes
into the draft and says what it did. `keeps` tells whether the script is kept as it is on
Slurm, where `sbatch_options` may say everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from compiler.diagnostics.codes import migration as codes
from compiler.migration import demands
from compiler.migration.draft import task_name
from compiler.migration.mapping import OPTIONS, Mapping, hand_on, lost
from compiler.migration.reading.header import Given
from compiler.migration.result import Outcome
from compiler.migration.script import Script
from compiler.targets.slurm.options import table

_GPU_OPTIONS = ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket")
_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
_FILES = ("output", "error", "input", "open-mode")


def map_directives(mapping: Mapping) -> None:
    """An entry for every directive of the (first) component, in the script's order."""
    component = mapping.component
    deciding = {given.name: index for index, given in enumerate(component.given)}
    for index, given in enumerate(component.given):
        before = len(mapping.draft.entries)
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
        if given in mapping.script.inherited:  # its line has its outcome in the earlier part
            del mapping.draft.entries[before:]
    for given in component.early:
        text = f"`{given.spelling}` does nothing in a script"
        mapping.say(given, Outcome.DROPPED, codes.NO_EFFECT, text)


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


def _partition(mapping: Mapping, given: Given) -> None:
    value = given.value or ""
    if not mapping.on_slurm and not mapping.keeps:
        lost(mapping, given)
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
        lost(mapping, given)
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
    lost(mapping, given)


_RULES: dict[str, Callable[[Mapping, Given], None]] = {
    "job-name": _name,
    "nodes": demands.nodes,
    "ntasks": demands.tasks,
    "ntasks-per-node": demands.tasks,
    "cpus-per-task": demands.cpus,
    "partition": _partition,
    "chdir": _folder,
    "export": _export,
    "dependency": _dependency,
    "array": demands.array,
    "container-image": demands.image,
    "container-mounts": demands.mounts,
    "time": _time,
    "time-min": _time,
    **dict.fromkeys(_MEMORY, demands.memory),
    **dict.fromkeys(_GPU_OPTIONS, demands.gpus),
    **dict.fromkeys(_FILES, _file),
}
