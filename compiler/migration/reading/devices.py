"""Values about processors and devices: frequencies, bindings, layouts."""

from __future__ import annotations

import re

from compiler.migration.reading.numerals import Refused, leading_integer

_GOVERNORS = {
    "conservative": "Conservative",
    "ondemand": "OnDemand",
    "performance": "Performance",
    "powersave": "PowerSave",
    "userspace": "UserSpace",
    "schedutil": "SchedUtil",
}
_BIND_FLAGS = ("verbose", "prefer", "sort")
_BIND_SHORT = {"p": "prefer", "v": "verbose", "no": "none"}
_HEX_LIST = re.compile(r"(?:0x)?[0-9a-f*]+(?:,(?:0x)?[0-9a-f*]+)*", re.IGNORECASE)
_NUMBER_LIST = re.compile(r"[0-9*]+(?:,[0-9*]+)*")


def cpu_frequency(text: str) -> str:
    """`low`, `2000-3000:ondemand`, a governor."""
    values, colon, governor = text.partition(":")
    low, dash, high = values.partition("-")
    if (known := _governor(low)) is not None:
        if colon:
            raise Refused(f"`{text}` names two governors for --cpu-freq")
        return known
    numbers = [_frequency(part) for part in ([low, high] if dash else [low])]
    if dash and all(number.isdigit() for number in numbers) and int(numbers[1]) < int(numbers[0]):
        raise Refused(f"`{text}`: the highest --cpu-freq is below the lowest")
    shown = "-".join(numbers)
    if not colon:
        return shown
    if not dash or (known := _governor(governor)) is None:
        raise Refused(f"`{text}`: a governor stands behind a range, and `{governor}` is none")
    return f"{shown}:{known}"


def _governor(word: str) -> str | None:
    lower = word.lower()
    return next((shown for name, shown in _GOVERNORS.items() if lower.startswith(name[:4])), None)


def _frequency(word: str) -> str:
    lower = word.lower()
    for start, shown in (("lo", "Low"), ("him1", "Highm1"), ("highm1", "Highm1"), ("hi", "High")):
        if lower.startswith(start):
            return shown
    if lower.startswith("med"):
        return "Medium"
    number = leading_integer(word)[0]
    if not number:
        raise Refused(f"`{word}` is no frequency for --cpu-freq")
    return str(number)


def gpu_binding(text: str) -> str:
    for part in filter(None, f"gpu:{text}".split(";")):
        kind, colon, value = part.partition(":")
        if kind != "gpu" or not colon or not _is_binding(value):
            raise Refused(f"`{text}` is nothing for --gpu-bind")
    return text


def _is_binding(text: str) -> bool:
    rest = text.lower().removeprefix("verbose,")
    if rest[:1] in ("c", "n"):  # closest and none, of which one letter is looked at
        return True
    if rest.startswith("map_gpu:"):
        return _NUMBER_LIST.fullmatch(rest[8:]) is not None
    if rest.startswith("mask_gpu:"):
        return _HEX_LIST.fullmatch(rest[9:]) is not None
    return rest.startswith(("per_task:", "single:")) and ":-" not in rest


def gpu_frequency(text: str) -> str:
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        known = ("low", "medium", "high", "highm1")
        wrong = name != "memory" if equals else name not in ("verbose", *known)
        level = value if equals else name
        if (wrong or (equals and level not in known)) and not level.isdigit():
            raise Refused(f"`{text}` is nothing for --gpu-freq")
    if not text:
        raise Refused("--gpu-freq is empty")
    return text


def memory_binding(text: str) -> str:
    """Flags first, then the one way of binding (the last one given)."""
    flags: set[str] = set()
    way = listed = ""
    for part in re.split(r",(?!(?:0x)?[0-9a-f])", text, flags=re.IGNORECASE):
        word = _BIND_SHORT.get(part.lower(), part.lower())
        if word in _BIND_FLAGS:
            flags.add(word)
        elif word in ("nosort", "q", "quiet"):
            flags.discard("sort" if word == "nosort" else "verbose")
        elif word in ("none", "rank", "local"):
            way, listed = word, ""
        elif word.startswith(("map_mem", "mapmem", "mask_mem", "maskmem")):
            listed = re.sub("0x", "", [*re.split("[:=]", part), ""][1], flags=re.IGNORECASE)
            way = "map_mem" if word.startswith("map") else "mask_mem"
            if not listed:
                raise Refused(f"`{text}`: a list is missing for --mem-bind")
        else:
            raise Refused(f"`{part}` is nothing for --mem-bind")
    names = [*(flag for flag in _BIND_FLAGS if flag in flags), *([way] if way else [])]
    if not names:
        return "unset"
    return ",".join(names) + (f":{listed}" if listed else "")


def layout(text: str) -> str:
    """`sockets[:cores[:threads]]`, each a number, a range or `*`; the least of each is kept."""
    shown: list[str | None] = []
    for part in [*text.split(":"), "", ""][:3]:
        match = re.fullmatch(r"([0-9]+)([km]?)(?:-([0-9]+)[km]?)?", part, re.IGNORECASE)
        if not part or part[0] == "*":
            shown.append(None)
        elif match is None or match[3] == "0":
            raise Refused(f"`{part}` is no number for --extra-node-info")
        else:
            factor = {"": 1, "k": 1024, "m": 1048576}[match[2].lower()]
            shown.append(str(int(match[1]) * factor))
    while shown and shown[-1] is None:
        shown.pop()
    return "".join(
        number if at == 0 and number else f":{number}" for at, number in enumerate(shown) if number
    ) or ("unset")
