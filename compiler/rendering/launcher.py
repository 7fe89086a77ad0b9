"""The folder of scripts that a rank runs: the launcher, its adapter and the user's texts.

The same on every target; `docs/architecture.md` has the contract of the files in it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from compiler.model import Accelerator, Task
from compiler.rendering.quoting import sh
from compiler.resources import data_folder

LAUNCHER_FILES = ("launcher.sh", "prologue.sh", "bashrc.sh")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """What SKYPILOT_CLUSTER_INFO says: the job's name, and where it runs.

    `cloud` is the dialect's name of the kind (`kubernetes`, `slurm`, `aws`).
    """

    cluster_name: str
    cloud: str
    region: str | None
    zone: str | None

    def to_json(self) -> str:
        fields = ("cluster_name", "cloud", "region", "zone")
        return json.dumps({name: getattr(self, name) for name in fields})


@cache
def launcher_text(name: str) -> str:
    """The text of one of LAUNCHER_FILES."""
    return (data_folder("templates") / "common" / name).read_text(encoding="utf-8")


def gpus_per_node(accelerator: Accelerator | None) -> int:
    """SKYPILOT_NUM_GPUS_PER_NODE: the count rounded up; 0 for CPU tasks and TPUs.

    Neuron devices count, in both phases: SkyPilot says 0 in `run`, and examples that derive
    the tensor-parallel size from it do not work there.
    """
    if accelerator is None or accelerator.name.lower().startswith("tpu"):
        return 0
    return math.ceil(accelerator.count)


def task_env(
    task: Task,
    *,
    task_id: str,
    placement: Placement,
    gpus: int,
    run: int,
    user: str | None = None,
    group: str | None = None,
    job_rank: int | None = None,
    num_jobs: int | None = None,
) -> dict[str, str]:
    """The variables known at compile time, in the order in which they are exported.

    The user's envs come first, the predefined ones overwrite them, except SKYPILOT_TASK_ID,
    which a caller may give. Secrets are not among them and win over envs of the same name.
    What depends on the rank and on the phase is added by the launcher, and so is the user's
    name where `user` is None.
    """
    hidden = {*task.secrets, "SKYPILOT_USER"}
    env = {name: value for name, value in task.envs.items() if name not in hidden}
    predefined: dict[str, object] = {
        "SKYPILOT_NUM_NODES": task.num_nodes,
        "SKYPILOT_NUM_GPUS_PER_NODE": gpus,
        "SKYPILOT_TASK_ID": env.get("SKYPILOT_TASK_ID", task_id),
        "SKYPILOT_CLUSTER_INFO": placement.to_json(),
        "SKYPILOT_INTERNAL_JOB_ID": run,
        "SKYPILOT_USER": user,
        "SKYPILOT_JOBGROUP_NAME": group,
        "SKYPILOT_JOB_RANK": job_rank,
        "SKYPILOT_NUM_JOBS": num_jobs,
    }
    env.update((name, str(value)) for name, value in predefined.items() if value is not None)
    return env


def env_text(env: Mapping[str, str]) -> str:
    """`task.env`: one `export NAME='value'` per variable. ValueError for a name that is none."""
    for name in env:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a shell variable")
    return "".join(f"export {name}={sh(value)}\n" for name, value in env.items())


def script_folder(task: Task, env: Mapping[str, str], platform: str) -> dict[str, str]:
    """File name -> text of everything a rank needs, in a fixed order.

    `env` is what `task_env` gave; `platform` the text of the target's `platform.sh`. The
    user's texts are taken over byte for byte; an absent text gives no file.
    """
    files = {name: launcher_text(name) for name in LAUNCHER_FILES}
    files["platform.sh"] = platform
    files["task.env"] = env_text(env)
    if task.setup is not None:
        files["setup.sh"] = task.setup
    if task.run is not None:
        files["run.sh"] = task.run
    return files
