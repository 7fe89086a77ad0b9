"""Starting again after a failure, and the hooks that run before the nodes are taken away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.model import Hook, Resources, Task

EVENTS = ("preemption", "stop", "down")


@dataclass(frozen=True, slots=True)
class Recovery:
    """When the script puts its own job back into the queue.

    `restarts` is how many exits with an error are mended so; exits with one of `exit_codes`
    always are, and do not count. Preemption and lost nodes are Slurm's own to mend.
    """

    restarts: int
    exit_codes: tuple[int, ...]

    @property
    def on_errors(self) -> bool:
        """Whether the script has anything to do: Slurm does the rest by itself."""
        return bool(self.restarts or self.exit_codes)


@dataclass(frozen=True, slots=True)
class HookCall:
    """One hook at one event: the `number` of its text among the task's, `seconds` it may take."""

    event: str
    number: int
    seconds: int


def recovery_of(resources: Resources) -> Recovery | None:
    """None where the job ends with its first end, whatever that is."""
    wanted = resources.job_recovery
    if wanted is None or wanted.strategy == "NONE":
        return None
    codes = tuple(code for code in wanted.recover_on_exit_codes if code != 0)
    return Recovery(wanted.max_restarts_on_errors, codes)


def requeue_directive(resources: Resources) -> str:
    """The option that says whether Slurm may start the job again by itself."""
    return "no-requeue" if recovery_of(resources) is None else "requeue"


def hook_calls(task: Task) -> tuple[HookCall, ...]:
    """In the order of running, event by event."""
    return tuple(_calls(task.hooks))


def _calls(hooks: tuple[Hook, ...]) -> Iterator[HookCall]:
    for event in EVENTS:
        for number, hook in enumerate(hooks):
            if event in hook.events:
                yield HookCall(event, number, hook.timeout)


def hook_scripts(task: Task) -> Mapping[str, str]:
    """`hook-<number>.sh` -> the user's text, which the launcher's prologue runs as a phase."""
    return {f"hook-{number}.sh": hook.run for number, hook in enumerate(task.hooks)}
