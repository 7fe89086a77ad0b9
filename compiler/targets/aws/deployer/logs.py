"""The logs of a run: what the nodes have brought to the bucket so far."""

from __future__ import annotations

import time
from collections.abc import Iterator

from compiler.planning.records import Record
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.site import Site

# A node brings its log every minute (supervisor.sh).
POLL_SECONDS = 5.0


def lines(site: Site, record: Record, *, follow: bool, tail: int | None) -> Iterator[str]:
    """Lines without their ends; with several ranks those of rank N begin with `(rank N) `.

    `tail` counts the lines of each rank. With `follow`, ends when the run has ended.
    """
    several = "," in (record.identity or "")
    prefix = f"{site.store.run_prefix(record)}logs/"
    offsets: dict[int, int] = {}
    partial: dict[int, bytes] = {}
    while True:
        has_ended = not follow or _has_ended(site, record)
        for rank in _ranks(site, prefix):
            new = site.store.bucket.since(f"{prefix}{rank}.log", offsets.get(rank, 0))
            is_first = rank not in offsets
            offsets[rank] = offsets.get(rank, 0) + len(new)
            *whole, partial[rank] = (partial.get(rank, b"") + new).split(b"\n")
            if is_first and tail is not None:
                whole = whole[len(whole) - tail :] if tail < len(whole) else whole
            for line in whole:
                yield _shown(rank, line, several)
        if has_ended:
            break
        time.sleep(POLL_SECONDS)
    for rank, rest in sorted(partial.items()):
        if rest:
            yield _shown(rank, rest, several)


def _has_ended(site: Site, record: Record) -> bool:
    seen = observe.look(site, record.run_key)
    return not seen or not seen[0].verdict.state.is_live


def _ranks(site: Site, prefix: str) -> list[int]:
    stems = (
        key.removeprefix(prefix).removesuffix(".log") for key in site.store.bucket.keys(prefix)
    )
    return sorted(int(stem) for stem in stems if stem.isdigit())


def _shown(rank: int, line: bytes, several: bool) -> str:
    text = line.decode("utf-8", "replace").rstrip("\r")
    return f"(rank {rank}) {text}" if several else text
