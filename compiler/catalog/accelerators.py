"""Accelerators by their canonical names: memory, maker, and the spellings people use.

The table is `data/accelerators.csv`. TPU names of the form `tpu-<generation>-<cores>` are not
rows of it: they follow a rule.
"""

from __future__ import annotations

import csv
import difflib
import enum
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

DATA = Path(__file__).parent / "data"


class Family(enum.StrEnum):
    """Which driver and device plugin an accelerator needs."""

    NVIDIA = "nvidia"
    AMD = "amd"
    NEURON = "neuron"
    TPU = "tpu"
    GAUDI = "gaudi"
    QUALCOMM = "qualcomm"


# The maker's name that may stand before a memory size (`nvidia:80GB`), by family.
_VENDORS = {
    Family.NVIDIA: "nvidia",
    Family.AMD: "amd",
    Family.NEURON: "aws",
    Family.TPU: "google",
    Family.GAUDI: "intel",
    Family.QUALCOMM: "qualcomm",
}


@dataclass(frozen=True, slots=True)
class AcceleratorModel:
    """One row of the table; `memory_gib` is of one device, as its maker states it."""

    name: str
    family: Family
    memory_gib: float
    aliases: tuple[str, ...] = ()

    @property
    def vendor(self) -> str:
        return _VENDORS[self.family]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a written name stands for.

    `name` is the canonical one, or None where it is unknown or fits several; `candidates`
    are then the names it fits (`ambiguous`) or the nearest known ones.
    """

    name: str | None
    candidates: tuple[str, ...] = ()
    ambiguous: bool = False


_TPU = re.compile(r"tpu-(v[2-4]|v5litepod|v5p|v6e)-([1-9]\d*)")
_MEMORY = re.compile(
    r"(?:(?P<vendor>[a-z]+):)?(?P<size>\d+)(?P<unit>[mgt])b(?P<more>\+?)", re.IGNORECASE
)
_GIB = {"m": 1 / 1024, "g": 1.0, "t": 1024.0}

# Words that device plugins and clouds add to a product's name and that choose nothing.
_NOISE = re.compile(
    r"nvidia|tesla|geforce|quadro|amd|instinct|sxm\d?|pcie|hbm\d?e?|nvlink"
    r"|generation|blackwell|server|edition|workstation"
)


@cache
def accelerators() -> dict[str, AcceleratorModel]:
    """All rows by canonical name, in the table's order."""
    with (DATA / "accelerators.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["name"]: AcceleratorModel(
                row["name"],
                Family(row["family"]),
                float(row["memory_gib"]),
                tuple(filter(None, row["aliases"].split("|"))),
            )
            for row in csv.DictReader(file)
        }


@cache
def _spellings() -> dict[str, str]:
    """Lower-case spelling -> canonical name; a canonical name wins over an alias."""
    known: dict[str, str] = {}
    for row in accelerators().values():
        for alias in row.aliases:
            known.setdefault(alias.lower(), row.name)
    return known | {name.lower(): name for name in accelerators()}


@cache
def _compact() -> dict[str, str]:
    """Spelling without separators -> canonical name."""
    return {re.sub(r"[^a-z0-9]", "", text): name for text, name in _spellings().items()}


@cache
def resolve_accelerator(name: str) -> Resolution:
    """The canonical name behind a written one.

    Tried in this order: the name or an alias in any case; a TPU name; the product string of a
    device plugin or node label (`NVIDIA-A100-SXM4-80GB`, `nvidia-tesla-t4`); a part of exactly
    one known name.
    """
    lower = name.strip().lower()
    if found := _spellings().get(lower):
        return Resolution(found)
    if _TPU.fullmatch(lower):
        return Resolution(lower)
    words = [word for word in re.split(r"[^a-z0-9]+", lower) if not _NOISE.fullmatch(word)]
    if not any(words):
        return Resolution(None)
    if found := _from_product_string(words):
        return Resolution(found)
    parts = [known for known in accelerators() if lower in known.lower()]
    if len(parts) == 1:
        return Resolution(parts[0])
    if parts:
        return Resolution(None, tuple(parts), ambiguous=True)
    near = difflib.get_close_matches(lower, list(_spellings()), n=3, cutoff=0.6)
    return Resolution(None, tuple(dict.fromkeys(_spellings()[match] for match in near)))


def _from_product_string(words: list[str]) -> str | None:
    if found := _compact().get("".join(words)):
        return found
    size = re.fullmatch(r"(\d+)gb", words[-1])
    base = _compact().get("".join(words[:-1])) if size else None
    if size and base and accelerators()[base].memory_gib == float(size[1]):
        return base
    return None


def family(name: str) -> Family | None:
    """The family of an accelerator in any spelling, None for an unknown one."""
    canonical = resolve_accelerator(name).name
    if canonical is None:
        return None
    row = accelerators().get(canonical)
    return row.family if row else Family.TPU


def memory_gib(name: str) -> float | None:
    """The memory of one device in GiB, None where the table does not know it."""
    canonical = resolve_accelerator(name).name
    row = accelerators().get(canonical) if canonical else None
    return row.memory_gib if row else None


def by_memory(text: str, vendor: str | None = None) -> tuple[str, ...] | None:
    """Canonical names of all devices with the memory that `text` asks for.

    `80GB` is exactly, `80GB+` at least; a maker may stand before it (`amd:192GB+`) or be given
    as `vendor`. None if the text is not such a request, () if no device fits.
    """
    request = _MEMORY.fullmatch(text.strip())
    if request is None:
        return None
    size = float(request["size"]) * _GIB[request["unit"].lower()]
    maker = (request["vendor"] or vendor or "").lower()
    return tuple(
        row.name
        for row in accelerators().values()
        if (row.memory_gib >= size if request["more"] else row.memory_gib == size)
        and maker in ("", row.vendor)
    )


_GKE_SLICES = {
    "v4": ("tpu-v4-podslice", 2),
    "v5litepod": ("tpu-v5-lite-podslice", 1),
    "v5p": ("tpu-v5p-slice", 2),
    "v6e": ("tpu-v6e-slice", 1),
}


def tpu_slice(name: str) -> tuple[str, int] | None:
    """GKE's accelerator name and the chips of a `tpu-v6e-8` style name, None if there is none.

    The number in the name counts cores on v4 and v5p (two a chip) and chips on the others.
    """
    match = _TPU.fullmatch(name.strip().lower())
    if match is None or match[1] not in _GKE_SLICES:
        return None
    accelerator, cores_per_chip = _GKE_SLICES[match[1]]
    return accelerator, max(1, int(match[2]) // cores_per_chip)
