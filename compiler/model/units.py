"""Amounts as the dialect writes them: vCPUs, memory, disk sizes, durations.

All functions raise Malformed for what they cannot read. Sizes are powers of 1024.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

from compiler.model.builder import Malformed, is_number, shown
from compiler.model.resources import Amount, LocalDisk
from compiler.source.numbers import whole

_UNITS = {"k": 1 / 1024**2, "m": 1 / 1024, "g": 1.0, "t": 1024.0, "p": 1024.0**2}
_number = r"(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})"
_amount = re.compile(rf"\s*({_number}(?:e[+-]?[0-9]+)?)\s*(?:([kmgtp])[bi]|(x))?(\+?)", re.I)
_cpus = re.compile(rf"\s*({_number}(?:e[+-]?[0-9]+)?)\s*(\+?)", re.I)
_whole_size = re.compile(r"\s*([0-9]{1,300})(?:([kmgtp])[bi])?\s*", re.I)
_unit_without_b = re.compile(rf"{_number}\s*[kmgtp](?:ib)?\+?", re.I)
_delay = re.compile(r"([0-9]{1,300})([smhdw]?)", re.I)
_local_disk = re.compile(rf"\s*(?:(nvme|ssd)(?::({_number})(\+?))?|({_number})(\+?))\s*", re.I)

_MINUTES = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}
_DEFAULT_LOCAL_DISK_GB = 100.0


MOST_CPUS = 100_000
MOST_GIB = 16 * 1024**2
MOST_CLAIM_GIB = 16 * 1024**3
"""Far more than any node has: what is above is a slip of the pen. Targets have lower limits."""


def _at_most(value: float, most: int, what: str) -> None:
    if value > most:
        raise Malformed(f"no node has {value:.12g} {what}", expected=f"at most {most}")


_CPUS_FORMS = 'a number, or "N+" for at least N'


def parse_cpus(value: object) -> Amount:
    """vCPUs: a number, `"4"` or `"4+"`; fractions are fine, 0 is not."""
    if isinstance(value, str):
        amount = _cpus_text(value)
    elif is_number(value):
        amount = Amount(float(value))  # type: ignore[arg-type]
    else:
        raise Malformed(f"`cpus` cannot be {shown(value)}", expected=_CPUS_FORMS)
    if amount.value <= 0:
        raise Malformed("`cpus` must be more than 0", expected="a number above 0")
    _at_most(amount.value, MOST_CPUS, "vCPUs")
    return amount


@lru_cache(maxsize=256)
def _cpus_text(text: str) -> Amount:
    match = _cpus.fullmatch(text)
    if match is not None and math.isfinite(float(match[1])):
        return Amount(float(match[1]), at_least=bool(match[2]))
    plain = text.strip()
    hint = None
    if re.fullmatch(r"[0-9]+m", plain):
        hint = f"{plain} in Kubernetes is {whole(plain[:-1]) / 1000:g} here"
    raise Malformed(f"`cpus` cannot be {shown(text)}", expected=_CPUS_FORMS, hint=hint)


_MEMORY_FORMS = 'GiB as a number, "N+", "N<unit>" with KB, MB, GB, TB or PB, or "Nx" (per cpu)'


def parse_memory(value: object) -> Amount:
    """Memory in GiB: a number, `"16+"`, `"512MB"`, `"16Gi+"`, or `"4x"` (times the vCPUs).

    0 is read as 0: whether it may stand is for the caller to say.
    """
    if isinstance(value, str):
        amount = _memory_text(value)
    elif is_number(value):
        amount = Amount(float(value))  # type: ignore[arg-type]
    else:
        raise Malformed(f"`memory` cannot be {shown(value)}", expected=_MEMORY_FORMS)
    if amount.value < 0:
        raise Malformed("`memory` must not be negative", expected="a number above 0")
    if not amount.per_cpu:
        _at_most(amount.value, MOST_GIB, "GiB of memory")
    return amount


@lru_cache(maxsize=256)
def _memory_text(text: str) -> Amount:
    match = _amount.fullmatch(text)
    if match is None or not math.isfinite(float(match[1])):
        hint = None
        if _unit_without_b.fullmatch(text.strip()):
            hint = "units are KB, MB, GB, TB, PB or Ki, Mi, Gi, Ti, Pi"
        raise Malformed(f"`memory` cannot be {shown(text)}", expected=_MEMORY_FORMS, hint=hint)
    if match[3] and match[4]:
        raise Malformed(
            f"`memory` cannot be {shown(text)}: a ratio to the cpus takes no `+`",
            expected=_MEMORY_FORMS,
        )
    factor = _UNITS[match[2].lower()] if match[2] else 1.0
    return Amount(float(match[1]) * factor, bool(match[4]), bool(match[3]))


def parse_disk_size(value: object) -> int:
    """Whole GiB: an integer, or an integer with a unit that makes whole GiB."""
    expected = 'whole GiB: an integer, or an integer with a unit ("100GB", "1TB")'
    if isinstance(value, str):
        match = _whole_size.fullmatch(value)
        if match is None:
            raise Malformed(f"`disk_size` cannot be {shown(value)}", expected=expected)
        size = int(match[1]) * (_UNITS[match[2].lower()] if match[2] else 1)
    elif is_number(value):
        size = value  # type: ignore[assignment]
    else:
        raise Malformed(f"`disk_size` cannot be {shown(value)}", expected=expected)
    if size != int(size):
        raise Malformed(
            f"`disk_size` is {size:g} GiB, which is not a whole number", expected=expected
        )
    if size < 1:
        raise Malformed("`disk_size` must be at least 1 GiB", expected=expected)
    _at_most(size, MOST_GIB, "GiB of disk")
    return int(size)


def parse_claim_size(value: object) -> tuple[int, bool]:
    """The size of a volume in GiB, and whether it was rounded up to whole GiB.

    An integer or text such as `"10"`, `"10Gi"`, `"1500Mi"`, `"1Ti"`.
    """
    expected = 'GiB: an integer, or an integer with a unit ("100Gi", "1TB")'
    if isinstance(value, str):
        match = _whole_size.fullmatch(value)
        if match is None:
            hint = None
            decimal = re.fullmatch(rf"\s*({_number})\s*([kmgtp])b?\s*", value, re.I)
            if decimal is not None and "." not in decimal[1]:
                hint = f'write "{decimal[1]}{decimal[2].upper()}i"'
            raise Malformed(
                f"a volume's size cannot be {shown(value)}", expected=expected, hint=hint
            )
        size = int(match[1]) * (_UNITS[match[2].lower()] if match[2] else 1)
    elif is_number(value) and value == int(value):  # type: ignore[call-overload]
        size = value  # type: ignore[assignment]
    else:
        raise Malformed(f"a volume's size cannot be {shown(value)}", expected=expected)
    if size < 1:
        raise Malformed("a volume must have at least 1 GiB", expected=expected)
    gib = math.ceil(size)
    if gib > MOST_CLAIM_GIB:
        raise Malformed(f"no volume has {gib:.12g} GiB", expected=f"at most {MOST_CLAIM_GIB}")
    return gib, gib != size


@lru_cache(maxsize=256)
def parse_minutes(text: str) -> int:
    """Minutes: `"10"`, `"30m"`, `"2h"`, `"1d"`, `"1w"`."""
    match = _delay.fullmatch(text.strip())
    unit = match[2].lower() if match else "s"
    if match is None or unit == "s":
        raise Malformed(
            f"{shown(text)} is no time",
            expected='minutes: an integer, or "30m", "2h", "1d", "1w"',
        )
    return int(match[1]) * _MINUTES.get(unit, 1)


@lru_cache(maxsize=256)
def parse_seconds(text: str) -> int:
    """Seconds: `"30"`, `"30s"`, `"5m"`, `"1h"`, `"2d"`, `"1w"`."""
    match = _delay.fullmatch(text.strip())
    if match is None:
        raise Malformed(
            f"{shown(text)} is no delay",
            expected='seconds: an integer, or "30s", "5m", "1h", "2d", "1w"',
        )
    return (
        int(match[1]) * 60 * _MINUTES[unit]
        if (unit := match[2].lower()) in _MINUTES
        else int(match[1])
    )


def parse_local_disk(value: object) -> LocalDisk:
    """`nvme:1000+`, `ssd`, `500+`: mode (default nvme) and GB (default at least 100)."""
    match = _local_disk.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Malformed(
            f"`local_disk` cannot be {shown(value)}",
            expected='"mode:size", "mode" or "size"; mode nvme or ssd, size in GB, `+` at least',
        )
    size = match[2] or match[4]
    if size is None:
        return LocalDisk(match[1].lower(), _DEFAULT_LOCAL_DISK_GB, at_least=True)
    if float(size) <= 0:
        raise Malformed("the size of `local_disk` must be more than 0", expected="GB above 0")
    mode = match[1].lower() if match[1] else "nvme"
    return LocalDisk(mode, float(size), at_least=bool(match[3] or match[5]))
