"""The options that sbatch, salloc or srun knows, in one version and with a site's plug-ins."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from compiler.targets.slurm.options import Option, parse_version, table

_PLUGINS = Path(__file__).with_name("plugin_options.csv")
_STEPS = Path(__file__).with_name("step_options.csv")

EARLY = frozenset({"help", "quiet", "usage", "verbose", "version", "wrap"})
"""Only looked at on the command line: in a script they do nothing."""

INHERITED = frozenset(
    {
        *("account", "acctg-freq", "array", "batch", "bbf", "begin", "cluster-constraint"),
        *("chdir", "clusters", "cluster", "comment", "container", "context", "deadline"),
        *("delay-boot", "dependency", "error", "exclude", "export", "export-file"),
        *("get-user-env", "gid", "hold", "ignore-pbs", "input", "job-name"),
        *("kill-on-invalid-dep", "mcs-label", "mem", "nice", "no-kill", "no-requeue"),
        *("open-mode", "output", "parsable", "prefer", "priority", "profile", "propagate", "qos"),
        *("reboot", "requeue", "reservation", "signal", "test-only", "time", "time-min"),
        *("uid", "wait", "wait-all-nodes", "wckey", "extra"),
        "hint",  # through the environment: sbatch sets SLURM_HINT, and reads it again
    }
)
"""What the later components of a heterogeneous job take over from those before them."""

_SYNONYMS = {"tasks-per-node": "ntasks-per-node"}


@dataclass(frozen=True)
class OptionTable:
    """`by_name` in no order; `by_short` maps a letter to a long name."""

    by_name: Mapping[str, Option]
    by_short: Mapping[str, str]
    plugins: Mapping[str, str] = field(default_factory=dict)

    def matches(self, prefix: str) -> list[Option]:
        """The options that a (perhaps abbreviated) long name can mean."""
        exact = self.by_name.get(prefix)
        if exact is not None:
            return [exact]
        return [option for name, option in self.by_name.items() if name.startswith(prefix)]

    def short(self, letter: str) -> Option | None:
        name = self.by_short.get(letter)
        return self.by_name[name] if name else None


def canonical(name: str) -> str:
    """The one name of options that are the same to Slurm."""
    return _SYNONYMS.get(name, name)


@cache
def plugin_options() -> Mapping[str, tuple[Option, str]]:
    """Option and plug-in by the option's name."""
    with _PLUGINS.open(newline="", encoding="utf-8") as file:
        return {
            row["option"]: (
                Option(row["option"], "", row["argument"], None, None, "user", ""),
                row["plugin"],
            )
            for row in csv.DictReader(file)
        }


def known_plugins() -> frozenset[str]:
    return frozenset(plugin for _, plugin in plugin_options().values())


@cache
def option_table(version: str | None = None, plugins: frozenset[str] | None = None) -> OptionTable:
    """sbatch's options. None stands for any version, and for all plug-ins that are known."""
    wanted = known_plugins() if plugins is None else plugins
    parsed = parse_version(version)
    extra = plugin_options()
    options = {
        name: option
        for name, option in table().items()
        if name not in extra and option.exists_in(parsed)
    }
    provided = {name: plugin for name, (_, plugin) in extra.items() if plugin in wanted}
    options.update({name: extra[name][0] for name in provided if name not in options})
    return OptionTable(options, _shorts(options.values()), provided)


@cache
def step_table(command: str) -> OptionTable:
    """The options of `srun` or `salloc`, with those that the known plug-ins give to both."""
    options: dict[str, Option] = {}
    with _STEPS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if command in row["commands"].split():
                options[row["option"]] = Option(
                    row["option"], row["short"], row["argument"], None, None, "user", ""
                )
    extra = plugin_options()
    options.update({name: option for name, (option, _) in extra.items() if name not in options})
    provided = {name: plugin for name, (_, plugin) in extra.items()}
    return OptionTable(options, _shorts(options.values()), provided)


def _shorts(options: Iterable[Option]) -> dict[str, str]:
    return {option.short: option.name for option in options if option.short}
