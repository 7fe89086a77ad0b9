"""`config.hooks`: the task's own texts that run on rank 0's node before it is gone.

The supervisor runs them (templates/aws/hooks.sh): for `preemption` when EC2 announces that it
takes a spot instance of the run back, for `down` when the run has ended or is taken away. An
instance of a run is never stopped to be started again.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.model import Task

EVENTS = ("preemption", "down")
_LONGEST = 600  # seconds, in all; EC2 leaves an instance that it stops a few minutes
_GRACE = 90


def hook_calls(task: Task) -> dict[str, list[tuple[int, int]]]:
    """event -> (number of the text, seconds) of its hooks; events without any are left out."""
    calls = {
        event: [
            (number, hook.timeout) for number, hook in enumerate(task.hooks) if event in hook.events
        ]
        for event in EVENTS
    }
    return {event: found for event, found in calls.items() if found}


def hook_texts(task: Task) -> Mapping[str, str]:
    """The texts that the launcher's prologue runs as phases of their own."""
    used = {number for found in hook_calls(task).values() for number, _ in found}
    return {f"hook-{number}.sh": task.hooks[number].run for number in sorted(used)}


def stop_seconds(task: Task) -> int:
    """How long the supervisor is given to end in when its node is taken away."""
    return _GRACE + min(_LONGEST, sum(seconds for _, seconds in hook_calls(task).get("down", ())))
