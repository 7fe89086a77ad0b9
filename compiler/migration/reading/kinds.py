"""Values of options that take words: read as sbatch does, written as it writes them."""

from __future__ import annotations

import re

from compiler.migration.reading.amounts import seconds, time_text
from compiler.migration.reading.numerals import (
    BLANKS,
    Refused,
    count,
    leading_integer,
    to_int32,
)

UNSET = "(null)"
"""What sbatch prints for an option that has no value any more."""

_MAIL_ALL = ("INVALID_DEPEND", "BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT")
_MAIL = (
    "ARRAY_TASKS",
    *_MAIL_ALL,
    "TIME_LIMIT_50",
    "TIME_LIMIT_80",
    "TIME_LIMIT_90",
    "TIME_LIMIT",
)
_SIGNALS = {
    "HUP": 1,
    "INT": 2,
    "QUIT": 3,
    "ABRT": 6,
    "KILL": 9,
    "ALRM": 14,
    "TERM": 15,
    "USR1": 10,
    "USR2": 12,
    "URG": 23,
    "CONT": 18,
    "STOP": 19,
    "TSTP": 20,
    "TTIN": 21,
    "TTOU": 22,
    "XCPU": 24,
}
_BY_NUMBER = {number: name for name, number in _SIGNALS.items()}
_MAX_16 = 0xFFFF
_DEFAULT_WARNING = 60
_NODES = ("block", "cyclic")
_INNER = ("block", "cyclic", "fcyclic")
_HINTS = ("compute_bound", "memory_bound", "multithread", "nomultithread")
_PROFILES = ("Energy", "Lustre", "Network", "Task")
_DAY = r"(?:(?:19|20)[0-9]{2}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}[./]?[0-9]{1,2}(?:[./]?[0-9]{2})?)"
_CLOCK = r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?[ \t]*(?:[ap]m)?"
_NAMED = r"(?:today|tomorrow|midnight|noon|fika|teatime)"
_UNITS = r"(?:second|minute|hour|day|week)s?"
_MOMENT = re.compile(
    rf"(?:now[ \t]*(?:[+-][ \t]*[0-9]+[ \t]*(?:{_UNITS})?)?|uts[0-9]{{7,}}"
    rf"|(?:[ \tT-]*(?:{_NAMED}|{_CLOCK}|{_DAY}))+)[ \tT-]*",
    re.IGNORECASE,
)
_ACCOUNTING = re.compile(r"(?:(?:energy|task|filesystem|network)=)?[0-9]+", re.IGNORECASE)


def mail_types(text: str, before: str | None) -> str:
    """Events of one option, added to those that were asked for before."""
    found: set[str] = set()
    none = False
    for word in filter(None, text.split(",")):
        name = word.upper()
        if name == "NONE":
            found, none = set(), True
            break
        if name == "ALL":
            found.update(_MAIL_ALL)
        elif name in _MAIL:
            found.add(name)
    if not found and not none:
        raise Refused(f"`{text}` names no event for --mail-type")
    if before and before != "NONE":
        found.update(before.split(","))
    return ",".join(name for name in _MAIL if name in found) or "NONE"


def signal(text: str) -> str:
    """`[R|B]:NAME[@seconds]`; 60 seconds is what holds without a number, and is not written."""
    match = re.match(r"(R?B?R?):?", text, re.IGNORECASE)
    letters = match[1].upper() if match else ""
    rest = text[match.end() :] if match else text
    name, at, delay = rest.partition("@")
    number = signal_number(name)
    if not 1 <= number <= _MAX_16:
        raise Refused(f"`{text}` is no signal for --signal")
    warning: int | None = _DEFAULT_WARNING
    if at:
        warning, behind = leading_integer(delay)
        warning = 0 if warning is None else warning
        if behind or not 0 <= warning <= _MAX_16:
            raise Refused(f"`{text}`: `{delay}` is no number of seconds")
    flags = ("R" if "R" in letters else "") + ("B" if "B" in letters else "")
    shown = f"{flags}:" * bool(flags) + _BY_NUMBER.get(number, str(number))
    return shown if warning == _DEFAULT_WARNING else f"{shown}@{warning}"


def signal_number(name: str) -> int:
    """The number of a signal by name or number; 0 for none."""
    number, rest = leading_integer(name)
    if number is not None:
        return 0 if rest.strip(BLANKS) else number & _MAX_16
    return _SIGNALS.get(name.strip(BLANKS).upper().removeprefix("SIG"), 0)


def distribution(text: str) -> str:
    """`block:cyclic,pack`, `plane=4`; `*` stands for the default of its place."""
    if text[:5].lower() == "plane":
        size, rest = leading_integer(text.partition("=")[2])
        if size is None or rest or not 0 < size <= 0x7FFFFFFF:
            raise Refused("--distribution=plane needs a size")
        return f"plane={size}"
    base, _, flag = text.partition(",")
    parts = [part for part in base.split(":") if part]
    if not base or len(parts) > 3:
        raise Refused(f"`{text}` is no --distribution")
    defaults = ("block", "cyclic", parts[1] if len(parts) > 1 and parts[1] != "*" else "cyclic")
    names = [defaults[at] if part == "*" else part.lower() for at, part in enumerate(parts)]
    shown = ":".join(names)
    if len(names) == 1 and shown in ("pack", "nopack"):
        if flag and flag.lower() not in ("pack", "nopack"):
            raise Refused(f"`{text}` is no --distribution")
        return shown if flag.lower() in ("", shown) else UNSET
    if shown == "hostfile":
        shown = "arbitrary"
    known = shown == "arbitrary" or (
        names[0] in _NODES and all(name in _INNER for name in names[1:])
    )
    if not known or (flag and flag.lower() not in ("pack", "nopack")):
        raise Refused(f"`{text}` is no --distribution")
    return f"{shown},{flag.lower()}" if flag else shown


def exclusive(text: str | None) -> str:
    word = (text or "exclusive").lower()
    if word not in ("exclusive", "oversubscribe", "user", "mcs"):
        raise Refused(f"`{text}` is nothing that --exclusive knows")
    return word


def hint(text: str) -> str:
    for word in re.split(r",(?![0-9])", text):
        if word.lower() not in _HINTS:
            raise Refused(f"`{word}` is nothing that --hint knows")
    return text


def open_mode(text: str) -> str:
    letter = text[:1].lower()
    if letter not in ("a", "t") or not letter:
        raise Refused(f"`{text}` is neither append nor truncate")
    return letter


def user_environment(text: str | None) -> str:
    if not text:
        return "0"
    number, rest = leading_integer(text)
    number = number or 0
    if not rest:
        return str(number)
    if rest[0].upper() not in "SL":
        raise Refused(f"`{text}` is nothing for --get-user-env")
    return f"{number}{rest[0].upper()}"


def nice(text: str | None) -> str:
    number = leading_integer(text)[0] or 0 if text else 100
    if abs(number) > 0x7FFFFFFF - 3:
        raise Refused(f"{text} is out of range for --nice")
    return str(number)


def priority(text: str) -> str:
    if text.upper() == "TOP":
        return "-3"
    number = leading_integer(text)[0] or 0
    if not 0 <= number < 0xFFFFFFFE:
        raise Refused(f"{text} is out of range for --priority")
    return str(to_int32(number))


def profile(text: str) -> str:
    lower = text.lower()
    if "none" in lower:
        return "None"
    found = [name for name in _PROFILES if "all" in lower or name.lower() in lower]
    if not found:
        raise Refused(f"`{text}` is nothing that --profile knows")
    return ",".join(found)


def switches(text: str) -> str:
    number, at, delay = text.partition("@")
    shown = str(count(number, "switches"))
    if not at:
        return shown
    wait = seconds(delay)
    return f"{shown}@{'INVALID' if wait is None else time_text(wait)}"


def accounting_frequency(text: str) -> str:
    for word in filter(None, text.split(",")):
        if not _ACCOUNTING.match(word):
            raise Refused(f"`{word}` is nothing for --acctg-freq")
    return text


def moment(text: str) -> str:
    """A time of day or a date, as it was written: what it means depends on when it is read."""
    if not _MOMENT.fullmatch(text):
        raise Refused(f"`{text}` is no point in time")
    return text


def delay_boot(text: str) -> str:
    found = seconds(text)
    if found is None:
        raise Refused(f"`{text}` is no time for --delay-boot")
    return time_text(found)


def one_of(option: str, *names: str):
    """A reader of a word out of `names`, in any case."""

    def read(text: str) -> str:
        if text.lower() not in names:
            raise Refused(f"`{text}` is none of {', '.join(names)} for --{option}")
        return text.lower()

    return read


def no_kill(text: str | None) -> str:
    if not text or text.lower() == "set":
        return "set"
    if text.lower() in ("off", "no"):
        return "unset"
    raise Refused(f"`{text}` is nothing for --no-kill")


def power(text: str) -> str:
    return "LEVEL" if "level" in text.lower() else "unset"


def wait_all_nodes(text: str) -> str:
    number = count(text, "wait-all-nodes", positive=False) & _MAX_16
    if number > 1:
        raise Refused(f"--wait-all-nodes is 0 or 1, not {text}")
    return str(number)
