"""The value of each option as sbatch understands it, in the form in which it prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from compiler.migration.reading import devices, kinds
from compiler.migration.reading.amounts import (
    mebibytes,
    mebibytes_text,
    minutes,
    minutes_text,
    node_range,
    nodes_text,
)
from compiler.migration.reading.kinds import UNSET
from compiler.migration.reading.numerals import Refused, count

_COUNTS = (
    *("cores-per-socket", "cpus-per-gpu", "cpus-per-task", "mincpus", "ntasks"),
    *("ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket"),
    *("ntasks-per-tres", "sockets-per-node", "thread-spec", "threads-per-core"),
)
_AMOUNTS = ("mem", "mem-per-cpu", "mem-per-gpu", "tmp")
_GROUPS = (
    ("exclusive", "oversubscribe"),
    ("requeue", "no-requeue"),
    ("clusters", "cluster"),
)
"""Options that set the same thing: the last one counts for all."""

_LAYOUT = ("sockets-per-node", "cores-per-socket", "threads-per-core")
NO_VALUE = "-2"
"""How sbatch prints a number that is not set any more."""

_INSTEAD = {"nodelist": "nodefile", "nodefile": "nodelist"}


def _count(name: str, *, positive: bool = True) -> Callable[[str], str]:
    return lambda text: str(count(text, name, positive=positive))


def _amount(name: str) -> Callable[[str], str]:
    return lambda text: mebibytes_text(mebibytes(text, name))


def _time(name: str) -> Callable[[str], str]:
    return lambda text: minutes_text(minutes(text, name))


def _file(text: str) -> str:
    return "/dev/null" if text.lower() == "none" else text


def _nodes(text: str) -> str:
    return nodes_text(*node_range(text))


def _only_root(name: str) -> Callable[[str], str]:
    def refuse(text: str) -> str:
        raise Refused(f"only root may give --{name}")

    return refuse


_READERS: Mapping[str, Callable[..., str]] = {
    **{name: _count(name) for name in _COUNTS},
    "core-spec": _count("core-spec", positive=False),
    **{name: _amount(name) for name in _AMOUNTS},
    **{name: _time(name) for name in ("time", "time-min")},
    **dict.fromkeys(("error", "input", "output"), _file),
    **{name: _only_root(name) for name in ("gid", "uid")},
    "nodes": _nodes,
    "acctg-freq": kinds.accounting_frequency,
    "begin": kinds.moment,
    "deadline": kinds.moment,
    "cpu-freq": devices.cpu_frequency,
    "delay-boot": kinds.delay_boot,
    "distribution": kinds.distribution,
    "exclusive": kinds.exclusive,
    "extra-node-info": devices.layout,
    "get-user-env": kinds.user_environment,
    "gpu-bind": devices.gpu_binding,
    "gpu-freq": devices.gpu_frequency,
    "gres-flags": kinds.one_of("gres-flags", "disable-binding", "enforce-binding"),
    "kill-on-invalid-dep": kinds.one_of("kill-on-invalid-dep", "yes", "no"),
    "mem-bind": devices.memory_binding,
    "nice": kinds.nice,
    "no-kill": kinds.no_kill,
    "open-mode": kinds.open_mode,
    "power": kinds.power,
    "priority": kinds.priority,
    "profile": kinds.profile,
    "signal": kinds.signal,
    "switches": kinds.switches,
    "wait-all-nodes": kinds.wait_all_nodes,
}
_FLAGS = {"oversubscribe": "oversubscribe", "requeue": "requeue", "no-requeue": "no-requeue"}


def normal(name: str, value: str | None, before: str | None) -> str:
    """The value in sbatch's own form; `before` is what the option had. Raise Refused.

    Text that sbatch only hands on (names, lists, file patterns) stays as it is.
    """
    if name == "mail-type":
        return kinds.mail_types(value or "", before)
    if name in _FLAGS:
        return _FLAGS[name]
    if name == "propagate":
        return value or "ALL"
    reader = _READERS.get(name)
    if reader is not None:
        return reader(value if value is not None or name in _OPTIONAL else "")
    return "set" if value is None else value


_OPTIONAL = ("exclusive", "get-user-env", "nice", "no-kill")


def apply(settings: dict[str, str], name: str, shown: str) -> None:
    """Give the option that value, and what goes with it to others."""
    settings[name] = shown
    for group in _GROUPS:
        if name in group:
            settings.update({other: shown for other in group if other in settings})
    if _INSTEAD.get(name) in settings:
        settings[_INSTEAD[name]] = UNSET
    if name == "extra-node-info":
        parts = [*shown.split(":"), "", ""]
        for other, part in zip(_LAYOUT, parts, strict=False):
            if other in settings:
                settings[other] = part if part.isdigit() else NO_VALUE
