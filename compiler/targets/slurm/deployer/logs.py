"""The logs of a run: what its ranks have written, and what the job itself has to say."""

from __future__ import annotations

import time
from collections.abc import Iterator

from compiler.planning.records import Record
from compiler.targets.slurm.deployer.remote import Remote, decoded
from compiler.targets.slurm.deployer.states import is_end

POLL_SECONDS = 1.0


def lines(remote: Remote, record: Record, *, follow: bool, tail: int | None) -> Iterator[str]:
    """Lines without their ends; with several ranks those of rank N begin with `(rank N) `.

    The job's own output (of the script, before and between the ranks) has no prefix. `tail`
    counts the lines of each rank. With `follow`, ends when the job has ended.
    """
    offsets: dict[str, int] = {}
    partial: dict[str, bytes] = {}
    several = False
    while True:
        words = [word for name, at in offsets.items() for word in (name, str(at))]
        answer = remote.call_in_set(
            "logs",
            record.run_key,
            record.identity or "0",
            # Only at the beginning: a log that appears later is shown from its start.
            "-1" if tail is None or offsets else str(tail),
            *words,
        )
        several = several or (answer.first("nodes") or "1") != "1"
        state = answer.first("state") or ""
        grown = False
        for name, offset, content in sorted(map(_part, answer.of("file")), key=_order):
            grown = True
            offsets[name] = offset
            several = several or _rank(name) not in (None, 0)
            *whole, rest = (partial.get(name, b"") + content).split(b"\n")
            partial[name] = rest
            prefix = _prefix(name, several)
            yield from (prefix + _text(line) for line in whole)
        ended = not state or is_end(state.split("|")[0])
        if grown and (ended or not follow):
            continue  # a long log comes in several parts
        if ended or not follow:
            break
        time.sleep(POLL_SECONDS)
    for name in sorted(partial, key=lambda name: _order((name, 0, b""))):
        if partial[name]:
            yield _prefix(name, several) + _text(partial[name])


def _part(line: str) -> tuple[str, int, bytes]:
    name, offset, content = line.split("|", 2)
    return name, int(offset), decoded(content)


def _rank(name: str) -> int | None:
    """`logs/3.log` -> 3; None for the job's own output."""
    stem = name.removeprefix("logs/").removesuffix(".log")
    return int(stem) if stem.isdigit() else None


def _order(part: tuple[str, int, bytes]) -> tuple[int, str]:
    rank = _rank(part[0])
    return (-1 if rank is None else rank, part[0])


def _prefix(name: str, several: bool) -> str:
    rank = _rank(name)
    return f"(rank {rank}) " if several and rank is not None else ""


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
