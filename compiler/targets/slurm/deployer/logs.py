"""The logs of a run: what its ranks have written, and what the job itself has to say."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from compiler.planning.records import Record
from compiler.targets.slurm.deployer.remote import Remote, decoded
from compiler.targets.slurm.deployer.vocabulary import is_end

POLL_SECONDS = 1.0

_OWN_WORDS = (b"triplane: ", b"srun: ", b"slurmstepd: ")
_LABELLED = re.compile(rb" *[0-9]+: ")  # by srun --label


def lines(remote: Remote, record: Record, *, follow: bool, tail: int | None) -> Iterator[str]:
    """Lines without their ends; with several ranks those of rank N begin with `(rank N) `, in a
    group or a pipeline with `(<task>, rank N) `.

    The job's own output has no prefix: all of it as long as there is no rank, then only what
    the script and Slurm say themselves, as the ranks' lines are in it too. `tail` counts the
    lines of each rank. With `follow`, ends when the job has ended.
    """
    offsets: dict[str, int] = {}
    partial: dict[str, bytes] = {}
    several = has_ranks = False
    from_end = -1 if tail is None else tail
    while True:
        words = [word for name, at in offsets.items() for word in (name, str(at))]
        answer = remote.call_in_set(
            "logs",
            record.run_key,
            record.identity or "0",
            str(from_end),
            *words,
        )
        from_end = -1  # a log that appears later is shown from its start
        several = several or (answer.first("nodes") or "1") != "1"
        state = answer.first("state") or ""
        grown = False
        parts = sorted(map(_part, answer.of("file")), key=_order)
        has_ranks = has_ranks or any(_rank(name) is not None for name, _, _ in parts)
        for name, offset, content in parts:
            grown = True
            offsets[name] = offset
            several = several or _rank(name) not in (None, 0)
            *whole, rest = (partial.get(name, b"") + content).split(b"\n")
            partial[name] = rest
            for line in whole:
                if _is_shown(name, line, several, has_ranks):
                    yield _prefix(name, several) + _text(line)
        ended = not state or is_end(state)
        if grown and (ended or not follow):
            continue  # a long log comes in several parts
        if ended or not follow:
            break
        time.sleep(POLL_SECONDS)
    for name in sorted(partial, key=lambda name: _order((name, 0, b""))):
        if partial[name] and _is_shown(name, partial[name], several, has_ranks):
            yield _prefix(name, several) + _text(partial[name])


def _part(line: str) -> tuple[str, int, bytes]:
    name, offset, content = line.split("|", 2)
    return name, int(offset), decoded(content)


def _rank(name: str) -> int | None:
    """`logs/3.log`, `<task>/logs/3.log` -> 3; None for the job's own output."""
    stem = name.rpartition("logs/")[2].removesuffix(".log")
    return int(stem) if stem.isdigit() else None


def _task(name: str) -> str:
    """The task of a group or a pipeline that a log is of, empty for a task alone."""
    folder, _, rest = name.partition("/")
    return folder if rest and folder != "logs" else ""


def _is_shown(name: str, line: bytes, several: bool, has_ranks: bool) -> bool:
    if _rank(name) is not None:
        return True
    if has_ranks:
        return line.startswith(_OWN_WORDS)
    return not (several and _LABELLED.match(line))


def _order(part: tuple[str, int, bytes]) -> tuple[str, int, str]:
    rank = _rank(part[0])
    return (_task(part[0]), -1 if rank is None else rank, part[0])


def _prefix(name: str, several: bool) -> str:
    rank, task = _rank(name), _task(name)
    words = [task] if task else []
    words += [f"rank {rank}"] if several and rank is not None else []
    return f"({', '.join(words)}) " if words else ""


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
