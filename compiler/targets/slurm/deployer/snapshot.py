"""What one look at a cluster brought back: rows of squeue and sacct, and the set's files.

The texts are those that squeue -o and sacct -P give; they are the same from Slurm 20.11 to
25.05, where their JSON is not.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import io
import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from compiler.targets.slurm.deployer.remote import Answer, decoded
from compiler.targets.slurm.deployer.vocabulary import weight

# 7, of an array 7_3 or 7_[0-9%2], of a heterogeneous job 7+1
_JOB_ID = re.compile(r"([0-9]+)(?:[_+].*)?")


class Accounting(enum.StrEnum):
    """AWAY: there is accounting, and it did not answer."""

    ON = "on"
    OFF = "off"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A job as the controller has it. `submitted` in seconds since 1970; times in Slurm's form.

    `exit_code` is only known where the controller was asked for it (without accounting).
    """

    job_id: str
    state: str
    name: str
    reason: str = ""
    submitted: int | None = None
    nodes: str = ""
    partition: str = ""
    time_limit: str = ""
    qos: str = ""
    account: str = ""
    nice: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class AccountRow:
    """A job as the accounting has it; `state` may be more than one word."""

    job_id: str
    state: str
    name: str = ""
    exit_code: int | None = None
    nodes: str = ""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What lies in a run folder: `started` as (job id, restarts), `ended` as (code, job id);
    `parts` are those of a pipeline's tasks, in order, each with its `name`; `stopped` is the job
    that was stopped, to be started again (empty where its id was not noted)."""

    started: tuple[tuple[str, int], ...] = ()
    ended: tuple[int, str] | None = None
    record: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[RunFiles, ...] = ()
    stopped: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`records` by run key as text; `runs` has every run folder; rows by job id; `secrets` and
    `joined` are the run keys that have some, and that others have joined."""

    now: int
    base: str
    locked: bool
    accounting: Accounting
    accounting_words: str
    records: Mapping[str, str]
    runs: Mapping[str, RunFiles]
    secrets: frozenset[str]
    joined: frozenset[str]
    queue: Mapping[str, QueueRow]
    accounted: Mapping[str, AccountRow]


_Row = TypeVar("_Row", QueueRow, AccountRow)


def parse(answer: Answer) -> Snapshot:
    """The snapshot from what observe.sh printed."""
    status, _, words = (answer.first("accounting") or "off|").partition("|")
    records, runs = _read_files(answer.first("files") or "")
    exits = dict(_pairs(answer.of("exit")))
    queue = _by_job(map(_queue_row, answer.of("queue")))
    for job_id, row in queue.items():
        queue[job_id] = dataclasses.replace(row, exit_code=_exit_code(exits.get(job_id, "")))
    return Snapshot(
        now=int(answer.first("now") or 0),
        base=answer.first("base") or "",
        locked=answer.first("locked") is not None,
        accounting=Accounting(status),
        accounting_words=words.strip(),
        records=records,
        runs=runs,
        secrets=frozenset(answer.of("secret")),
        joined=frozenset(answer.of("joined")),
        queue=queue,
        accounted=_by_job(map(_account_row, answer.of("account"))),
    )


def _pairs(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        job_id, _, value = line.partition("|")
        yield job_id, value


def _by_job(rows: Iterator[_Row | None]) -> dict[str, _Row]:
    """One row a job. Arrays and heterogeneous jobs have one a member, under the job's id."""
    found: dict[str, _Row] = {}
    for row in rows:
        if row is None:
            continue
        other = found.get(row.job_id)
        if other is None or weight(row.state) > weight(other.state):
            found[row.job_id] = row
    return found


def _queue_row(line: str) -> QueueRow | None:
    """None for a line that is not a row."""
    words = line.split("|", 10)
    if len(words) != 11:
        return None
    job_id, state, reason, submitted, nodes, partition, limit, qos, account, nice, name = words
    if not (match := _JOB_ID.fullmatch(job_id)):
        return None
    return QueueRow(
        job_id=match[1],
        state=state,
        name=name,
        reason="" if reason == "None" else reason,
        submitted=int(submitted) if submitted.isdigit() else None,
        nodes=nodes,
        partition=partition,
        time_limit=limit,
        qos=qos,
        account=account,
        nice=nice,
    )


def _exit_code(text: str) -> int | None:
    """From `<code>:<signal>`, or from what wait() gives, as squeue prints it up to 23.02."""
    code, _, signal = text.partition(":")
    if code.isdigit() and not signal:
        code, signal = str(int(code) >> 8 & 0xFF), str(int(code) & 0x7F)
    if not code.isdigit() or not signal.isdigit():
        return None
    if int(code) or not int(signal):
        return int(code)
    # 125 and the like are Slurm's own marks (out of memory), no signals.
    return 128 + int(signal) if int(signal) < 65 else None


def _account_row(line: str) -> AccountRow | None:
    words = line.split("|", 4)
    if len(words) != 5 or not (match := _JOB_ID.fullmatch(words[0])):
        return None
    nodes = "" if words[3] == "None assigned" else words[3]
    return AccountRow(match[1], words[1], words[4], _exit_code(words[2]), nodes)


def _read_files(text: str) -> tuple[dict[str, str], dict[str, RunFiles]]:
    records: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    if not text:
        return records, {}
    with tarfile.open(fileobj=io.BytesIO(decoded(text)), mode="r:gz") as archive:
        for member in archive:
            parts = member.name.strip("/").split("/")
            content = archive.extractfile(member)
            body = content.read().decode("utf-8", "replace") if content else ""
            if parts[0] == "records":
                records[parts[1].removesuffix(".json")] = body
            elif member.isdir() and len(parts) == 2:
                found.setdefault(parts[1], {})
            elif content and len(parts) >= 3:
                found.setdefault(parts[1], {})["/".join(parts[2:])] = body
    return records, {key: _run_files(texts) for key, texts in found.items()}


def _run_files(texts: dict[str, str]) -> RunFiles:
    starts = (line.split() for line in texts.pop("started", "").splitlines())
    started = tuple(
        (words[0], int(words[1]) if len(words) > 1 and words[1].isdigit() else 0)
        for words in starts
        if words and words[0].isdigit()
    )
    words = texts.pop("ended", "").split()
    ended = None
    if len(words) == 2 and words[0].isdigit() and words[1].isdigit():
        ended = (int(words[0]), words[1])
    stopped = texts.pop("stopped", None)
    stopped = None if stopped is None else stopped.strip()
    parts = []
    for part in texts.pop("parts", "").splitlines():
        names = [name for name in ("started", "ended") if f"{part}/{name}" in texts]
        found = _run_files({name: texts.pop(f"{part}/{name}") for name in names})
        parts.append(dataclasses.replace(found, name=part))
    return RunFiles(started, ended, texts.pop("record.json", None), texts, tuple(parts), stopped)


def text_digest(text: str) -> str:
    """How settle.sh knows that a record is still the one that was read."""
    return hashlib.sha256(text.encode()).hexdigest()
