"""Names of platform objects: derived, cut with a digest where too long, never guessed twice.

Longest derived name on Kubernetes: a pod's host name `<work>-<run>-<index>` with a
five-digit index must be a DNS label of at most 63 characters.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

DNS_LABEL_LIMIT = 63
_INDEX_DIGITS = 5


def dns_label(text: str) -> str:
    """`text` in lower case with everything that a DNS label cannot hold turned into `-`."""
    return re.sub(r"-{2,}", "-", re.sub(r"[^a-z0-9-]", "-", text.lower())).strip("-") or "x"


def cut(text: str, limit: int) -> str:
    """`text` if it fits, else its head and six hex digits of its sha256, `limit` long."""
    if len(text) <= limit:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{text[: limit - 7].rstrip('-')}-{digest}"


@lru_cache(maxsize=256)
def work_label(set_name: str, work: str) -> str:
    """The DNS label of a work of a set, short enough for every name derived from it.

    `work` is the task's name, with the group's name and a dash before it in a group.
    """
    longest_suffix = 2 * (1 + _INDEX_DIGITS)  # -<run>-<index>
    return cut(dns_label(f"{set_name}-{work}"), DNS_LABEL_LIMIT - longest_suffix)


@lru_cache(maxsize=256)
def run_label(set_name: str, work: str, run: int) -> str:
    """The object name of one run: `<set>-[<group>-]<task>-<run>`."""
    return f"{work_label(set_name, work)}-{run}"


def slurm_job_name(set_name: str, work: str, run: int, spec_digest: str) -> str:
    """`<set>.<task>.<run>.<digest8>`: identity that survives without any record."""
    return f"{set_name}.{work}.{run}.{spec_digest[:8]}"


def task_id(set_name: str, work: str, run: int) -> str:
    """The value of SKYPILOT_TASK_ID: the same in every restart of the run."""
    return f"triplane-{run_label(set_name, work, run)}"
