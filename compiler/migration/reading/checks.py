"""What sbatch checks, and changes, when all options of a job are known."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.migration.reading import hostlists, kinds
from compiler.migration.reading.amounts import node_range, nodes_text
from compiler.migration.reading.kinds import UNSET
from compiler.migration.reading.numerals import Refused
from compiler.migration.reading.values import NO_VALUE

_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")
_NOT_WITH_HINT = ("ntasks-per-core", "threads-per-core", "extra-node-info")
_EMPTIED_BY_HINT = ("sockets-per-node", "cores-per-socket")
_NOT_WITH_TASKS_PER_GPU = ("gpus-per-task", "gpus-per-socket", "ntasks-per-node")


def settle(settings: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(what holds in the end, option -> what sbatch changed about it). Raise Refused."""
    settled = dict(settings)
    changes: dict[str, str] = {}
    _exclude(settled)
    if "hint" in settled:
        other = next((name for name in _NOT_WITH_HINT if name in settled), None)
        if other is None:
            kinds.hint(settled["hint"])
            settled.update({name: NO_VALUE for name in _EMPTIED_BY_HINT if name in settled})
        else:
            del settled["hint"]
            changes["hint"] = f"ignored because of --{other}"
    _nodes(settled, changes)
    return settled, changes


def _exclude(settings: Mapping[str, str]) -> None:
    """Options that sbatch does not take together."""
    if "ntasks-per-gpu" in settings or "ntasks-per-tres" in settings:
        per_gpu, per_tres = settings.get("ntasks-per-gpu"), settings.get("ntasks-per-tres")
        if per_gpu and per_tres and per_gpu != per_tres:
            raise Refused("--ntasks-per-gpu and --ntasks-per-tres say different things")
        for name in _NOT_WITH_TASKS_PER_GPU:
            if name in settings:
                raise Refused(f"--{name} and --ntasks-per-gpu exclude each other")
    if "core-spec" in settings and "thread-spec" in settings:
        raise Refused("--core-spec and --thread-spec exclude each other")
    amounts = [f"--{name}" for name in _MEMORY if name in settings]
    if len(amounts) > 1:
        raise Refused(f"{' and '.join(amounts)} exclude each other")
    if "bb" in settings and "bbf" in settings:
        raise Refused("--bb and --bbf exclude each other")


def _nodes(settings: dict[str, str], changes: dict[str, str]) -> None:
    """The number of nodes follows from the list of nodes and from the number of tasks too."""
    given = settings.get("nodes")
    least, most = node_range(given) if given is not None else (1, 0)
    is_set = given is not None
    listed = settings.get("nodelist", UNSET)
    if listed != UNSET and "/" not in listed:
        hosts = hostlists.count(listed)
        least = max(hosts, least) if is_set else hosts
        is_set = True
    tasks = int(settings["ntasks"]) if "ntasks" in settings else None
    per_node = int(settings.get("ntasks-per-node", 0))
    if tasks is None and per_node and (most == 0 or least == most):
        tasks = least * per_node
    if most and least > most:
        raise Refused(f"--nodelist names {least} nodes, --nodes asks for at most {most}")
    _plane(settings, least, tasks)
    if given is not None:
        settings["nodes"] = nodes_text(least, most)
    if not is_set or tasks is None:
        return
    most = min(most, tasks)
    if tasks < least:
        changes["nodes"] = f"{tasks} tasks cannot run on {least} nodes: {tasks} are asked for"
        least = most = tasks
        if listed != UNSET and hostlists.count(listed) > tasks:
            names = list(dict.fromkeys(hostlists.hosts(listed)))[:tasks]
            settings["nodelist"] = hostlists.ranged(names)
            changes["nodelist"] = f"cut to {tasks} nodes, as there are {tasks} tasks"
    if given is not None:
        settings["nodes"] = nodes_text(least, most)


def _plane(settings: Mapping[str, str], least: int, tasks: int | None) -> None:
    layout = settings.get("distribution", "")
    if not layout.startswith("plane="):
        return
    size, tasks = int(layout.removeprefix("plane=")), tasks or 1
    if (least <= 0 or tasks // size < least) and (least - 1) * size >= tasks:
        raise Refused("too few tasks for --distribution=plane")
