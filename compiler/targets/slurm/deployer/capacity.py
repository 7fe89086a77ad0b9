"""Free accelerators of a cluster, from `scontrol -d -o show node`, as far as our limits go."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from compiler.catalog.accelerators import resolve_accelerator
from compiler.targets.interface import Capacity
from compiler.targets.slurm.deployer import quotas

_FIELD = re.compile(r"(?:^|\s)(NodeName|State|Gres|GresUsed|Partitions)=(\S*)")
_PARTITION = re.compile(r"partition\|([^|]+)\|(\S+)")
_USABLE = frozenset(("IDLE", "MIXED", "ALLOCATED"))
# Flags of a node that starts nothing now. A node that a cloud has powered down is not one of
# them: it comes up for the job.
_SHUT = frozenset(
    (
        "DRAIN",
        "FAIL",
        "INVALID_REG",
        "MAINT",
        "MAINTENANCE",
        "NOT_RESPONDING",
        "NO_RESPOND",
        "POWERING_DOWN",
        "POWER_DOWN",
        "REBOOT",
        "REBOOT_ISSUED",
        "REBOOT_REQUESTED",
        "RESERVED",
        "UNDRAIN",
    )
)
UNTYPED = "GPU"


def parse(
    text: str,
    own_names: Mapping[str, str] | None = None,
    room: Mapping[str, int] | None = None,
) -> Capacity:
    """Accelerators by canonical name, over all nodes that take jobs in a partition that is up.

    `own_names` are the site's types by accelerator (the stack's `gres_types`). A type that
    neither it nor the catalogue knows keeps Slurm's name in upper case; GPUs without a type are
    `GPU`. `room` is what the limits of account and QOS leave (`quotas.room`).
    """
    room = room or {}
    known = {kind.lower(): name for name, kind in (own_names or {}).items()}
    shut_down = {name for name, state in _PARTITION.findall(text) if state != "up"}
    free: Counter[str] = Counter()
    nodes = shut = 0
    for line in text.splitlines():
        fields = dict(reversed(_FIELD.findall(line)))  # a reason, at the end, may hold anything
        if "NodeName" not in fields:
            continue
        nodes += 1
        places = set(filter(None, fields.get("Partitions", "").split(",")))
        usable = takes_jobs(fields.get("State", "")) and not (places and places <= shut_down)
        shut += not usable
        total, used = gpus(fields.get("Gres", "")), gpus(fields.get("GresUsed", ""))
        for kind, count in total.items():
            taken = used.get(kind, 0) if kind in used else used.get("", 0) * (len(total) == 1)
            name = known.get(kind.lower()) or canonical(kind)
            free[name] += max(0, count - taken) if usable else 0
    by_type = {
        known.get(kind.lower()) or canonical(kind): left for kind, left in room.items() if kind
    }
    for name, count in free.items():
        free[name] = min(count, room.get("", count), by_type.get(name, count))
    detail = f"{nodes} nodes" + (f", {shut} of them take no jobs now" if shut else "")
    limits = quotas.said(room)
    return Capacity(dict(sorted(free.items())), f"{detail}; {limits}" if limits else detail)


def takes_jobs(state: str) -> bool:
    """`state` as scontrol writes it: `IDLE+CLOUD+POWERED_DOWN`, `MIXED*`, `DOWN`."""
    base, *flags = state.rstrip("*~#!%$@^-").split("+")
    silent = "*" in state
    return base in _USABLE and not silent and not _SHUT.intersection(flags)


def gpus(gres: str) -> dict[str, int]:
    """`gpu:h100:8(S:0-1),gpu:2,nvme:1` -> {"h100": 8, "": 2}."""
    found: dict[str, int] = {}
    for entry in re.sub(r"\([^)]*\)", "", gres).split(","):
        words = entry.split(":")
        if words[0] == "gpu" and words[-1].isdigit():
            kind = words[1] if len(words) > 2 else ""
            found[kind] = found.get(kind, 0) + int(words[-1])
    return found


def canonical(kind: str) -> str:
    if not kind:
        return UNTYPED
    return resolve_accelerator(kind).name or kind.upper()
