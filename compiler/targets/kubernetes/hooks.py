"""`config.hooks`: the task's own texts that run when a pod is about to be taken away.

They are a preStop hook, so they run before the signal and while the task still runs, on rank 0,
with the variables of `run`. Kubernetes does not say why a pod goes: what is for preemption and
what is for `down` runs alike. It never stops a pod to start it again.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.model import Hook, Task
from compiler.rendering.environment import render
from compiler.targets.kubernetes.additions import GRACE, NOTHING, Addition

FILE = "hooks.sh"
_EVENTS = ("preemption", "down")
_LONGEST = 600


def hook_calls(task: Task) -> list[tuple[int, str, Hook]]:
    """(number of the text, event to name, hook) of each hook that can run."""
    calls = []
    for number, hook in enumerate(task.hooks):
        event = next((event for event in _EVENTS if event in hook.events), None)
        if event is not None:
            calls.append((number, event, hook))
    return calls


def _scripts(calls: list[tuple[int, str, Hook]], state_folder: str) -> Mapping[str, str]:
    """`hooks.sh`, and the texts that it has the launcher's prologue run as a phase."""
    texts = {f"hook-{number}.sh": hook.run for number, _, hook in calls}
    body = {
        "calls": [
            {"number": number, "event": event, "seconds": hook.timeout}
            for number, event, hook in calls
        ],
        "state_folder": state_folder,
    }
    return {FILE: render("k8s/hooks.sh.j2", body), **texts}


def grace(task: Task) -> int:
    """Seconds that a pod is given to end in, its hooks included."""
    return min(_LONGEST, sum(hook.timeout for _, _, hook in hook_calls(task))) + GRACE


def hooks(task: Task, script_folder: str, state_folder: str) -> Addition:
    """The scripts, and the time that a pod is given to end in: the hooks', as far as the dialect
    goes, and ours."""
    calls = hook_calls(task)
    if not calls:
        return NOTHING
    command = ["/bin/bash", f"{script_folder}/{FILE}"]
    return Addition(
        container={"lifecycle": {"preStop": {"exec": {"command": command}}}},
        spec={"terminationGracePeriodSeconds": grace(task)},
        scripts=_scripts(calls, state_folder),
    )
