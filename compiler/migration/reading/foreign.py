"""#PBS and #BSUB lines: sbatch translates them and applies them after its own.

Which lines count differs from #SBATCH: they are looked for in the whole file, up to the
hundredth line that does not begin with `#`. Of the two kinds only one is applied, #BSUB first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from compiler.migration.reading.getopt import Found, Options, Unknown
from compiler.migration.reading.numerals import Refused, leading_integer
from compiler.migration.reading.options import OptionTable
from compiler.migration.reading.pbs_resources import resources
from compiler.targets.slurm.options import Option

OTHER_LINES = 100

Translation = tuple[str, str | None]
"""Long name of sbatch's option, and its value."""


@dataclass(frozen=True, slots=True)
class Manager:
    """Another workload manager's lines: `translate` gives sbatch's options for one of its own."""

    name: str
    magic: str
    table: OptionTable
    translate: Callable[[Found, Mapping[str, str]], Iterator[Translation]]


def translated(
    manager: Manager, words: list[str], settings: Mapping[str, str]
) -> Iterator[tuple[Found, Translation]]:
    """sbatch's options for the words, one after the other; `settings` is what holds meanwhile.

    Raise Refused as sbatch does, for an unknown option above all.
    """
    if manager.magic == "#BSUB":
        words = ["-c" if at % 2 == 0 and word == "-cwd" else word for at, word in enumerate(words)]
    options = Options(words, manager.table)
    for found in options:
        for translation in manager.translate(found, settings):
            yield found, translation
    if options.rest < len(words):
        word = words[options.rest]
        raise Unknown(f"`{word}` is no option", options.rest, word)


def _table(letters: str, names: Mapping[str, str]) -> OptionTable:
    """An option table out of a getopt string; `names` are long names by letter."""
    by_name: dict[str, Option] = {}
    by_short: dict[str, str] = {}
    for at, letter in enumerate(letters):
        if letter == ":":
            continue
        takes = letters[at + 1 : at + 2] == ":"
        name = names.get(letter, letter)
        by_name[name] = Option(name, letter, "required" if takes else "none", None, None, "", "")
        by_short[letter] = name
    return OptionTable(by_name, by_short)


def _bsub(found: Found, settings: Mapping[str, str]) -> Iterator[Translation]:
    value = found.value or ""
    match found.option.short:
        case "c":
            yield "chdir", value
        case "e":
            yield "error", value
        case "J":
            yield "job-name", value
        case "o":
            yield "output", value
        case "m":
            yield "nodelist", value.replace(" ", ",")
        case "M":
            yield "mem-per-cpu", value + "K" * value[-1:].isdigit()
        case "n":
            least, comma, most = value.partition(",")
            if comma and not most:
                raise Refused(f"#BSUB -n cannot be `{value}`")
            yield "ntasks", most if comma else least
        case "q":
            yield "partition", value
        case "W":
            yield "time", value
        case "x":
            yield "exclusive", None


def _pbs(found: Found, settings: Mapping[str, str]) -> Iterator[Translation]:
    value = found.value or ""
    match found.option.short:
        case "l":
            yield from resources(value, settings)
        case "m":
            yield "mail-type", _mail(value)
        case "v":
            export = settings.get("export")
            yield "export", f"{export},{value}" if export else value
        case "W" if value.lower().startswith("depend="):
            yield "dependency", value[7:]
        case "W" if value.lower().startswith("umask="):
            mask = leading_integer(value[6:])[0] or 0
            if not 0 <= mask <= 0o777:
                raise Refused(f"#PBS -W umask cannot be `{value[6:]}`")
        case "h":
            yield "hold", None
        case letter if letter in _PBS_SAME:
            yield _PBS_SAME[letter], value


_PBS_SAME = {
    "a": "begin",
    "A": "account",
    "e": "error",
    "o": "output",
    "J": "array",
    "t": "array",
    "M": "mail-user",
    "N": "job-name",
    "p": "nice",
    "q": "partition",
}


def _mail(letters: str) -> str:
    """Events by letter: before, end, abort; n is none."""
    lower = letters.lower()
    if "n" in lower:
        return "NONE"
    events = {"b": "BEGIN", "e": "END", "a": "FAIL"}
    return ",".join(event for letter, event in events.items() if letter in lower)


MANAGERS = (
    Manager(
        "LSF",
        "#BSUB",
        _table(
            "c:e:J:m:M:n:o:q:W:x",
            {
                "c": "cwd",
                "e": "error_file",
                "J": "job_name",
                "m": "hostname",
                "M": "memory_limit",
                "o": "output_file",
                "q": "queue_name",
                "W": "time",
                "x": "exclusive",
            },
        ),
        _bsub,
    ),
    Manager(
        "PBS",
        "#PBS",
        _table(
            "a:A:c:C:e:hIj:J:k:l:m:M:N:o:p:q:r:S:t:u:v:VW:z",
            {
                "a": "start_time",
                "A": "account",
                "c": "checkpoint",
                "C": "working_dir",
                "e": "error",
                "h": "hold",
                "I": "interactive",
                "j": "join",
                "J": "job_array",
                "k": "keep",
                "l": "resource_list",
                "m": "mail_options",
                "M": "mail_user_list",
                "N": "job_name",
                "o": "out",
                "p": "priority",
                "q": "destination",
                "r": "rerunable",
                "S": "script_path",
                "t": "array",
                "u": "running_user",
                "v": "variable_list",
                "V": "all_env",
                "W": "attributes",
                "z": "no_std",
            },
        ),
        _pbs,
    ),
)
"""In the order in which sbatch tries them."""
