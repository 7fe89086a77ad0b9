"""What Slurm makes of every field of the dialect: the table of differences.

A row per field; rows with words in parentheses hold only in that case (`fields.py` says
when). Section 7.9 of SkyPilot's own behaviour is where it refuses, and where it loses a field
without a word, we warn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from compiler.targets.interface import Support, SupportLevel

FULL = SupportLevel.FULL
CHANGED = SupportLevel.CHANGED
IGNORED = SupportLevel.IGNORED
REFUSED = SupportLevel.REFUSED

_ELSEWHERE = "place the task on another target, or remove the field"

_TASK: Final = (
    Support("name", FULL, "part of the job's name"),
    Support("workdir", FULL, "copied into the run's home on the shared file system"),
    Support("workdir (git)", FULL, "cloned when the job starts, on the first node"),
    Support("num_nodes", FULL, "`--nodes`, one rank a node"),
    Support("setup", FULL, "a step on all nodes before `run`"),
    Support("run", FULL, "a step on all nodes; the first failure ends the rest"),
    Support("run (absent)", FULL, "the job keeps its nodes until it is cancelled or out of time"),
    Support("envs", FULL, "exported in each rank, never through `--export`"),
    Support(
        "envs.SKYPILOT_DOCKER_*",
        IGNORED,
        "Slurm starts containers with the credentials of the cluster",
        "put the login into ~/.config/enroot/.credentials on the cluster",
    ),
    Support("secrets", FULL, "sourced on the cluster when the job starts, in no script"),
    Support("managed_secrets", FULL, "like `secrets`"),
    Support(
        "managed_secrets.mount_path",
        REFUSED,
        "a secret is a variable on Slurm, and no file",
        "write the file in `run`, from the variable",
    ),
    Support("inputs", IGNORED, "no cost of moving data is estimated"),
    Support("outputs", IGNORED, "no cost of moving data is estimated"),
    Support("event_callback", IGNORED, "nothing watches a job from outside to call it"),
    Support("api_server_access", IGNORED, "there is no API server that a job could reach"),
    Support("service", REFUSED, "Slurm runs work that ends and no services", _ELSEWHERE),
    Support("pool", REFUSED, "there are no worker pools on Slurm", _ELSEWHERE),
    Support("file_mounts", FULL, "copies in the run's home; other paths are links to a copy"),
    Support(
        "file_mounts (URL)",
        REFUSED,
        "files from a bucket are not brought to a Slurm cluster",
        "download them in `setup`",
    ),
    Support(
        "file_mounts (storage)",
        REFUSED,
        "buckets are neither mounted nor copied on a Slurm cluster",
        "use the cluster's own file system, or download in `setup`",
    ),
    Support("volumes.host_path", FULL, "a bind mount of the container"),
    Support(
        "volumes.host_path (no container)",
        CHANGED,
        "a symbolic link on each node; `mode` is not enforced",
        "use the path itself",
    ),
    Support("volumes.name", REFUSED, "Slurm has no named volumes", "use `host_path`"),
    Support("volumes.size", REFUSED, "Slurm has no ephemeral volumes", "use a path below /tmp"),
    Support(
        "config.slurm",
        FULL,
        "`sbatch_options`, `quota` and `cpu_partition`; `provision_timeout` where there is another "
        "place to go on to",
    ),
    Support("config.kubernetes", FULL, "concerns other infrastructure"),
    Support("config.ssh", FULL, "concerns other infrastructure"),
    Support("config.gcp", FULL, "concerns other infrastructure"),
    Support("config.azure", FULL, "concerns other infrastructure"),
    Support("config.vast", FULL, "concerns other infrastructure"),
    Support("config.active_workspace", FULL, "chooses account, QoS and options"),
    Support("config.docker", IGNORED, "`run_options` are for Docker on virtual machines"),
    Support("config.nvidia_gpus", IGNORED, "jobs cannot change the state of the cluster's GPUs"),
    Support(
        "config.hooks",
        CHANGED,
        "run by the batch script on the first node, in the time that Slurm leaves "
        "(KillWait, or GraceTime before a preemption)",
        "ask for more with `signal` in `config.slurm.sbatch_options`, and a trap in `run`",
    ),
    Support(
        "config.hooks (native_script)",
        REFUSED,
        "a script that is kept runs alone",
        "put a trap into the script",
    ),
    Support("config.triplane.on_files_change", FULL, "decides on a new run"),
    Support(
        "config.triplane.native_script",
        FULL,
        "run as it is, once and by its own interpreter, without the launcher",
    ),
    Support(
        "group",
        FULL,
        "one heterogeneous job, a component a task: all start together, each on nodes of its own",
    ),
    Support(
        "group (host names)",
        CHANGED,
        "`<task>-<node>.<group>` resolves in containers, and outside of them where the site lets "
        "users make namespaces; TRIPLANE_NODES_<TASK> has the addresses everywhere",
        "set `user_namespaces: true` at the target if they are allowed, or use the variables",
    ),
    Support(
        "group (kept script)",
        REFUSED,
        "a script that is kept is the first task's, and all of the others have no `run`",
        "put its text into `run`",
    ),
    Support("group (joined later)", FULL, "a job of its own, cancelled when the group ends"),
    Support("pipeline", FULL, "a job a task; each starts when the one before it has succeeded"),
)

_RESOURCES: Final = (
    Support("resources.infra", FULL, "cluster and partition"),
    Support("resources.cloud", FULL, "older spelling of `infra`"),
    Support("resources.region", FULL, "the cluster"),
    Support("resources.zone", FULL, "the partition"),
    Support(
        "resources.instance_type",
        REFUSED,
        "a Slurm node has no instance type",
        "say `cpus`, `memory` and `accelerators`",
    ),
    Support("resources.cpus", FULL, "`--cpus-per-task`"),
    Support("resources.cpus (fraction)", CHANGED, "whole CPUs are asked for, rounded up"),
    Support("resources.cpus (N+)", CHANGED, "exactly that many CPUs are asked for"),
    Support("resources.memory", FULL, "`--mem`, in units of 1024"),
    Support("resources.memory (N+)", CHANGED, "exactly that much memory is asked for"),
    Support(
        "resources.memory (not handed out)",
        IGNORED,
        "the stack says that the cluster does not hand out memory",
    ),
    Support("resources.accelerators", FULL, "`--gres` or `--gpus-per-node`"),
    Support("resources.gpus", FULL, "as `accelerators`"),
    Support("resources.accelerators (fraction)", CHANGED, "whole GPUs are asked for, rounded up"),
    Support(
        "resources.accelerators (TPU)", REFUSED, "TPUs are not part of Slurm clusters", _ELSEWHERE
    ),
    Support("resources.accelerator_args", IGNORED, "they are for TPUs"),
    Support(
        "resources.use_spot", REFUSED, "Slurm has no spot capacity", "ask for a preemptible QoS"
    ),
    Support("resources.max_hourly_cost", FULL, "decided when the task is placed"),
    Support(
        "resources.job_recovery",
        FULL,
        "`--requeue` after a preemption or a lost node; after errors the script requeues itself",
    ),
    Support(
        "resources.job_recovery (native_script)",
        CHANGED,
        "`--requeue`; exit codes of a script that is kept start nothing again",
        "let the script requeue itself",
    ),
    Support("resources.disk_size", IGNORED, "the size of a node's disk cannot be asked for"),
    Support("resources.disk_tier", IGNORED, "the kind of a node's disk cannot be asked for"),
    Support(
        "resources.network_tier",
        IGNORED,
        "the network is the partition's",
        "choose a partition, or a `constraint` in `config.slurm.sbatch_options`",
    ),
    Support(
        "resources.local_disk",
        REFUSED,
        "local disks cannot be asked for",
        "choose a partition or a `constraint` whose nodes have them",
    ),
    Support("resources.ephemeral_storage", IGNORED, "it has no meaning in the dialect either"),
    Support("resources.ports", REFUSED, "Slurm opens no ports to a job", _ELSEWHERE),
    Support("resources.image_id (docker)", FULL, "a container that Pyxis starts"),
    Support(
        "resources.image_id (docker, Apptainer)",
        CHANGED,
        "started by Apptainer; what `setup` writes outside of the home is not there in `run`",
        "install into the home, or build it into the image",
    ),
    Support(
        "resources.image_id (docker, no Pyxis)",
        REFUSED,
        "the stack does not say that this cluster runs containers with Pyxis",
        "set `containers: pyxis` at the target, or remove `image_id`",
    ),
    Support(
        "resources.image_id (machine)",
        REFUSED,
        "machine images are for virtual machines",
        "use `docker:<image>`",
    ),
    Support("resources.labels", CHANGED, "written into the job's comment"),
    Support("resources.autostop", IGNORED, "a job ends with its `run`"),
    Support(
        "resources.autostop (without run)",
        FULL,
        "the nodes are given back when no command has run for so long; containers are kept for "
        "`triplane start`",
    ),
    Support(
        "resources.autostop (without run, nothing to stop)",
        REFUSED,
        "only containers of Pyxis can be stopped and started again",
        "end the job instead: `autostop: {idle_minutes: 10, down: true}`",
    ),
    Support(
        "resources.autostop (in a group or pipeline)",
        CHANGED,
        "the task ends when it is idle, and cannot be started again",
    ),
    Support(
        "resources.priority",
        IGNORED,
        "users cannot raise the priority of a Slurm job",
        "choose a QoS with `config.slurm.quota.queue`",
    ),
    Support(
        "resources.priority_class",
        IGNORED,
        "Slurm has no priority classes",
        "choose a QoS with `config.slurm.quota.queue`",
    ),
    Support("resources.volumes", REFUSED, "extra disks are for virtual machines", _ELSEWHERE),
    Support("resources.any_of", FULL, "decided when the task is placed"),
    Support("resources.ordered", FULL, "decided when the task is placed"),
)

SUPPORT: Mapping[str, Support] = {row.field: row for row in (*_TASK, *_RESOURCES)}
