"""The value of #PBS -l: a list of resources, read as sbatch reads it.

It walks over the text and takes what it knows wherever that begins, in any place of a word;
what it does not know is passed over letter by letter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.migration.reading.hostlists import ranged
from compiler.migration.reading.numerals import count, leading_integer

Translation = tuple[str, str | None]

_TIMES = ("cput", "pcput", "walltime")
_AMOUNTS = {"file": "tmp", "mem": "mem"}
_SKIPPED = ("arch", "host", "opsys", "other", "pmem", "pvmem", "software", "vmem")
_IN_ANY_CASE = ("accelerator", "mpiprocs", "naccelerators", "ncpus", "select")
_ORDER = (
    *("accelerator", "arch", "cput", "file", "host", "mem", "mpiprocs", "naccelerators"),
    *("ncpus", "nice", "nodes", "opsys", "other", "pcput", "pmem", "proc", "pvmem"),
    *("select", "software", "vmem", "walltime"),
)


def resources(text: str, settings: Mapping[str, str]) -> Iterator[Translation]:
    """sbatch's options for the list; `settings` is what holds while they are applied."""
    at = gpus = 0
    seen: set[str] = set()
    while at < len(text):
        key = _key(text, at)
        if key is None:
            at += 1
            continue
        at += len(key) + 1
        end = "," if key not in ("mpiprocs", "ncpus", "select") else ":"
        if key == "accelerator":
            gpus = gpus or int(text[at : at + 4].lower() == "true")
            continue
        value, _, _ = text[at:].partition(end)
        at = min(at + len(value) + 1, len(text))
        seen.add(key)
        if key in _SKIPPED:
            continue
        if key == "naccelerators":
            gpus = count(value, "naccelerators")
        elif key == "proc":
            constraint = settings.get("constraint")
            yield "constraint", f"{value},{constraint}" if constraint else value
            at += len(text[at:].partition(",")[0]) + 1
        else:
            yield from _option(key, value)
    yield from _cpus(seen, settings)
    if gpus:
        gres = settings.get("gres")
        yield "gres", f"{gres},gpu:{gpus}" if gres else f"gpu:{gpus}"


def _key(text: str, at: int) -> str | None:
    for key in _ORDER:
        part = text[at : at + len(key) + 1]
        if part == f"{key}=" or (key in _IN_ANY_CASE and part.lower() == f"{key}="):
            return key
    return None


def _option(key: str, value: str) -> Iterator[Translation]:
    if key in _TIMES:
        yield "time", value
    elif key in _AMOUNTS:
        yield _AMOUNTS[key], value[:-1] if value[-1:].upper() == "B" else value
    elif key == "mpiprocs":
        yield "ntasks-per-node", value
    elif key == "ncpus":
        yield "mincpus", value
    elif key == "nice":
        yield "nice", value
    elif key == "select":
        yield "nodes", value
    elif key == "nodes":
        yield from _nodes(value)


def _nodes(text: str) -> Iterator[Translation]:
    """`2:ppn=4`, `n1+n2:ppn=2`."""
    nodes = per_node = 0
    names: list[str] = []
    for part in text.replace("+", ":").split(":"):
        if part.startswith("gpus="):
            yield "gpus-per-node", part[5:]
        elif part.startswith("ppn="):
            per_node += leading_integer(part[4:])[0] or 0
        elif part[:1].isdigit():
            nodes += leading_integer(part)[0] or 0
        elif part[:1].isalpha():
            names.append(part)
    if nodes:
        yield "nodes", str(nodes)
    if per_node:
        yield "ntasks", str(per_node * (nodes or 1))
    if names:
        yield "nodelist", ranged(names)


def _cpus(seen: set[str], settings: Mapping[str, str]) -> Iterator[Translation]:
    """CPUs of a task, where the list is one of PBS Pro with tasks and CPUs for a chunk."""
    if {"select", "ncpus", "mpiprocs"} <= seen:
        cpus, tasks = int(settings.get("mincpus", 0)), int(settings.get("ntasks-per-node", 0))
        if tasks and cpus > tasks:
            yield "cpus-per-task", str(cpus // tasks)
