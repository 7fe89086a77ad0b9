"""The small variant of a task that is tried first."""

from __future__ import annotations

import copy

from compiler.migration.composing import compose
from compiler.migration.draft import Draft
from compiler.migration.script import Script


def smoke_of(script: Script, draft: Draft, comments: list[str]) -> str | None:
    """The same task on one node with one accelerator, and ten minutes: to try it first."""
    small = Draft(copy.deepcopy(draft.task))
    small.task["name"] = f"{small.task['name']}-smoke"
    small.task.pop("num_nodes", None)
    accelerators = small.get(("resources", "accelerators"))
    if isinstance(accelerators, str):
        small.put(("resources", "accelerators"), f"{accelerators.partition(':')[0]}:1")
    options = small.get(("config", "slurm", "sbatch_options")) or {}
    for name in ("nodes", "ntasks", "ntasks-per-node", "array", "exclusive", "nodelist"):
        options.pop(name, None)
    for name in ("gres", "gpus", "gpus-per-node"):
        if name in options:
            options[name] = _one(str(options[name]))
    if script.settings.target == "slurm" or draft.get(("config", "triplane", "native_script")):
        small.put(("config", "slurm", "sbatch_options", "time"), "10")
    head = ["One node, one accelerator, ten minutes: to try it first.", *comments]
    return compose(small.ordered(), head, {})[0]


def _one(value: str) -> str:
    """A demand for devices with 1 for its number."""
    head, colon, count = value.partition(",")[0].rpartition(":")
    if count.isdigit():
        return f"{head}{colon}1"
    return value
