"""Slurm's words for what a job is doing."""

from __future__ import annotations

from compiler.planning.states import RunState

WAITING = frozenset(
    ("PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT")
)
# A suspended job keeps its place and computes nothing: it waits.
SUSPENDED = "SUSPENDED"
ENDED = {
    "COMPLETED": RunState.SUCCEEDED,
    "FAILED": RunState.FAILED,
    "BOOT_FAIL": RunState.FAILED,
    "NODE_FAIL": RunState.FAILED,
    "OUT_OF_MEMORY": RunState.FAILED,
    "PREEMPTED": RunState.FAILED,
    "CANCELLED": RunState.CANCELLED,
    "REVOKED": RunState.CANCELLED,
    "TIMEOUT": RunState.TIMED_OUT,
    "DEADLINE": RunState.TIMED_OUT,
}


def base_state(text: str) -> str:
    """Slurm's state without what follows it (`CANCELLED by 1000`, `CANCELLED+`)."""
    return text.split()[0].rstrip("+") if text.split() else ""


def is_end(text: str) -> bool:
    """Whether a job in this state (as Slurm writes it) has ended for good."""
    return base_state(text) in ENDED


def weight(text: str) -> int:
    """Which member of a job speaks for all of it: one that runs, waits, failed, succeeded."""
    state = base_state(text)
    if state not in ENDED:
        return 2 if state in WAITING or state == SUSPENDED else 3
    return 0 if ENDED[state] is RunState.SUCCEEDED else 1
