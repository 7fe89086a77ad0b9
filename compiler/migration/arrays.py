"""Job arrays elsewhere: as many runs, each of which finds its index by its number."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
_MOST = 100_000
FILE = "FILE"


@dataclass(frozen=True, slots=True)
class Array:
    """The indices in ascending order, and how many may run at once (None: all)."""

    indices: tuple[int, ...]
    at_once: int | None

    @property
    def step(self) -> int | None:
        """The distance between neighbours, None where it is not the same everywhere."""
        found = {b - a for a, b in zip(self.indices, self.indices[1:], strict=False)}
        return found.pop() if len(found) == 1 else None if found else 1


def array_of(text: str) -> Array | None:
    """`1-9:2,20%4`; None for what is none, or has too many members to be written down."""
    text = text.replace("[", "").replace("]", "")
    listed, _, limit = text.partition("%")
    found: set[int] = set()
    for part in listed.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            return None
        first, last = int(match[1]), int(match[2] or match[1])
        if last - first > _MOST:
            return None
        found.update(range(first, last + 1, int(match[3] or 1) or 1))
    if not found or (limit and not limit.isdigit()):
        return None
    at_once = int(limit) if limit else None
    return Array(tuple(sorted(found)), at_once if at_once and at_once < len(found) else None)


def export_lines(array: Array, reads: set[str]) -> list[str]:
    """Lines that set Slurm's variables of an array, the index first."""
    indices, step = array.indices, array.step
    count = len(indices)
    if step is None:
        listed = " ".join(map(str, indices))
        index = f"$(cut -d ' ' -f \"$((SKYPILOT_JOB_RANK + 1))\" <<<'{listed}')"
    else:
        factor = "" if step == 1 else f" * {step}"
        index = f"$((SKYPILOT_JOB_RANK{factor} + {indices[0]}))"
    lines = [
        f'[ "$SKYPILOT_NUM_JOBS" = {count} ] || echo "one of {count} members of an array: '
        f'triplane run --num-jobs {count}" >&2',
        f"export SLURM_ARRAY_TASK_ID={index}",
    ]
    others = {
        "SLURM_ARRAY_TASK_COUNT": str(count),
        "SLURM_ARRAY_TASK_MIN": str(indices[0]),
        "SLURM_ARRAY_TASK_MAX": str(indices[-1]),
        "SLURM_ARRAY_TASK_STEP": str(step or 1),
        "SLURM_ARRAY_JOB_ID": '"$SKYPILOT_INTERNAL_JOB_ID"',
    }
    lines += [f"export {name}={value}" for name, value in others.items() if name in reads]
    return lines


VARIABLES = frozenset(
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"}
    | {"SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_JOB_ID"}
)
