"""sbatch's options by version, and what users may say with `sbatch_options`.

The options that follow from the task are the compiler's: naming one here is an error and
never a silent loss. So is an option that this version of Slurm does not have.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, Related, Span
from compiler.diagnostics.codes import slurm as codes
from compiler.source import suggest
from compiler.source.numbers import whole
from compiler.targets.slurm.settings import Layer

_TABLE = Path(__file__).with_name("sbatch_options.csv")
_TIME = re.compile(r"\d+(:\d{1,2}){0,2}|\d+-\d{1,2}(:\d{1,2}){0,2}")
_TIMES = ("time", "time-min")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of sbatch.

    `argument` is none, required or optional; `since` and `until` the first version that has
    it and the last, as (year, month), None where that lies outside of 20.11 to 25.05. `role`
    says who gives it: user, task (the compiler, `instead` names the field), client (it means
    something to whoever calls sbatch, and nothing to a job), or plugin (a site's own; only a
    script that is kept may say it).
    """

    name: str
    short: str
    argument: str
    since: tuple[int, int] | None
    until: tuple[int, int] | None
    role: str
    instead: str

    def exists_in(self, version: tuple[int, int] | None) -> bool:
        if version is None:
            return True
        early = self.since is not None and version < self.since
        late = self.until is not None and version > self.until
        return not (early or late)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The value that an option ends up with (None: a bare flag), and who gave it."""

    value: str | None
    layer: Layer
    key: str


@cache
def table() -> Mapping[str, Option]:
    """Every option by its long name."""
    with _TABLE.open(newline="", encoding="utf-8") as file:
        rows = [
            Option(
                name=row["option"],
                short=row["short"],
                argument=row["argument"],
                since=parse_version(row["since"]),
                until=parse_version(row["until"]),
                role=row["role"],
                instead=row["instead"],
            )
            for row in csv.DictReader(file)
        ]
    return {option.name: option for option in rows}


@cache
def _by_short() -> Mapping[str, str]:
    return {option.short: option.name for option in table().values() if option.short}


def parse_version(text: str | None) -> tuple[int, int] | None:
    """`23.11`, `23.11.4` -> (23, 11); None where nothing (or something else) is said."""
    match = re.match(r"(\d+)\.(\d+)", text or "")
    return (whole(match[1]), whole(match[2])) if match else None


def long_name(key: str) -> str:
    """The long name that a key of `sbatch_options` stands for, with `-` for `_`."""
    name = key.replace("_", "-").lstrip("-")
    return _by_short().get(name, name)


def merge(
    layers: Iterable[Layer],
    version: str | None,
    controlled: Mapping[str, str],
    diagnostics: Diagnostics,
    *,
    unlocked: Collection[str] = (),
) -> dict[str, Chosen]:
    """Long option name -> what holds, stronger layers over weaker ones, sorted by name.

    `controlled` has the options that this job's task gives although users may in general,
    with where they come from; `unlocked` those that users may give although it is a task that
    gives them in general. All faults go to `diagnostics`.
    """
    found: dict[str, Chosen] = {}
    for layer in layers:
        spelled: dict[str, str] = {}
        for key, value in layer.values.items():
            name = long_name(key)
            if name in spelled:
                diagnostics.add(
                    codes.SBATCH_OPTION_REPEATED.at(
                        layer.span(key),
                        f"`{key}` and `{spelled[name]}` are the same option of sbatch",
                        related=[Related("the other one", layer.span(spelled[name]))],
                    )
                )
                continue
            spelled[name] = key
            if value is None or value is False:
                found.pop(name, None)
                continue
            findings = Diagnostics(_faults(name, key, value, layer, version, controlled, unlocked))
            diagnostics.extend(findings)
            if not len(findings):
                found[name] = Chosen(None if value is True else str(value), layer, key)
    return dict(sorted(found.items()))


def _faults(
    name: str,
    key: str,
    value: object,
    layer: Layer,
    version: str | None,
    controlled: Mapping[str, str],
    unlocked: Collection[str],
) -> Iterator[Diagnostic]:
    option = table().get(name)
    where = f"{layer.where}.{key}"
    plugin = option is not None and option.role == "plugin" and name not in unlocked
    if option is None or plugin or not option.exists_in(parse_version(version)):
        yield _unknown(name, key, layer, version, option)
    elif name in controlled or (option.role == "task" and name not in unlocked):
        source = controlled.get(name) or option.instead
        yield codes.SBATCH_OPTION_CONTROLLED.at(
            layer.origin.key_span(key),
            f"`--{name}` is written by triplane and cannot be set in `{where}` as well",
            found=f"{key}: {value}",
            hint=f"it comes from: {source}",
        )
    elif option.role == "client" and name not in unlocked:
        yield codes.SBATCH_OPTION_CLIENT.at(
            layer.origin.key_span(key),
            f"`--{name}` means something to whoever calls sbatch and nothing to a job",
            hint="remove it",
        )
    elif value is True and option.argument == "required":
        yield codes.SBATCH_OPTION_VALUE.at(
            layer.span(key), f"`--{name}` needs a value", found="true"
        )
    elif value is not True and option.argument == "none":
        yield codes.SBATCH_OPTION_VALUE.at(
            layer.span(key),
            f"`--{name}` takes no value",
            found=str(value),
            expected="true, false or null",
        )
    elif name in _TIMES:
        yield from _time_faults(name, key, value, layer)


def _unknown(
    name: str, key: str, layer: Layer, version: str | None, option: Option | None
) -> Diagnostic:
    near = suggest(name, [item.name for item in table().values() if item.role == "user"])
    if option is not None and option.since:
        hint = f"it came with Slurm {option.since[0]}.{option.since[1]:02d}"
    elif option is not None and option.until:
        hint = f"Slurm {option.until[0]}.{option.until[1]:02d} was the last to have it"
    elif near:
        hint = f"did you mean `{near}`?"
    else:
        hint = "options of a site's own plug-ins cannot be given here"
    release = f"sbatch {version}" if version else "sbatch"
    return codes.SBATCH_OPTION_UNKNOWN.at(
        layer.origin.key_span(key), f"{release} has no option `--{name}`", hint=hint
    )


def _time_faults(name: str, key: str, value: object, layer: Layer) -> Iterator[Diagnostic]:
    text = str(value)
    expected = "minutes, `hours:minutes:seconds` or `days-hours:minutes:seconds`, in quotes"
    written = _as_written(layer.span(key)) if isinstance(value, int | float) else text
    if text.upper() in ("UNLIMITED", "INFINITE", "-1"):
        yield codes.SBATCH_TIME.at(
            layer.span(key),
            f"`--{name}={text}` keeps a job from starting before maintenance and from backfill",
            found=text,
            expected=expected,
            hint="give a limit, or leave it to the partition",
        )
    elif written != text and ":" in written:
        yield codes.SBATCH_TIME.at(
            layer.span(key),
            f"without quotes `{written}` is the number {text} in YAML 1.1, "
            f"and sbatch takes {text} for minutes",
            found=written,
            hint=f'write "{written}"',
        )
    elif not _TIME.fullmatch(text):
        yield codes.SBATCH_TIME.at(
            layer.span(key), f"`{text}` is no time for `--{name}`", found=text, expected=expected
        )


def _as_written(span: Span) -> str:
    return span.source.line(span.line)[span.column - 1 : span.end_column - 1]
