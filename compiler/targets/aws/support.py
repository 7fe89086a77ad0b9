"""What AWS makes of each field of the dialect: the target's table of differences.

The diagnostics, the refusals of placement and the support matrix in the docs come from SUPPORT.
A field that is good only with some values has a second row, named by what it holds; losses.py
finds which rows a task makes use of.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from compiler.targets.interface import Support, SupportLevel

_FULL, _CHANGED = SupportLevel.FULL, SupportLevel.CHANGED
_IGNORED, _REFUSED = SupportLevel.IGNORED, SupportLevel.REFUSED
_LATER = "not rendered for AWS by this version"

# fmt: off
_TASK = (
    ("name", _FULL, "basis of the names of instances and of the program's module"),
    ("num_nodes", _FULL, "one instance a rank, all in one subnet"),
    ("workdir", _FULL, "an archive of the bucket, unpacked at boot"),
    ("workdir (git)", _FULL, "cloned at boot, with GIT_TOKEN or GIT_SSH_KEY"),
    ("setup", _FULL, "run by the launcher on every node, with a barrier before `run`"),
    ("run", _FULL, "run by the launcher on every node; without it the nodes are kept"),
    ("envs", _FULL, "exported by the launcher"),
    ("envs.SKYPILOT_DOCKER_*", _FULL, "log in to the registry before the image is pulled"),
    ("secrets", _FULL, "read at boot from Systems Manager or Secrets Manager, never rendered"),
    ("managed_secrets", _FULL, "as `secrets`"),
    ("managed_secrets.mount_path", _FULL, "written to a file before `setup`, mode 0600"),
    ("file_mounts", _FULL, "local files travel as archives of the bucket"),
    ("file_mounts (URL)", _FULL, "fetched by every node before `setup`: s3 and https"),
    ("file_mounts (other store)", _REFUSED, "nodes reach s3 and https alone",
     "copy it with the store's own tool in `setup`"),
    ("file_mounts (storage)", _FULL, "a copy, a mount by Mountpoint for Amazon S3, or one by "
     "rclone with a cache on a local disk that is flushed when `run` has ended"),
    ("file_mounts (storage to be filled)", _REFUSED, "nothing uploads local files to a bucket",
     "bring them along as a plain file mount, or upload them first"),
    ("file_mounts (new bucket)", _CHANGED, "the bucket has to be there"),
    ("file_mounts (not persistent)", _IGNORED, "no bucket is deleted"),
    ("volumes", _FULL, "mounted by every node before `setup`, a part of one by its `sub_path`; "
     "a disk (aws-ebs) by one node"),
    ("volumes (ephemeral)", _REFUSED, "no volume is made for one run",
     "use `disk_size`, or the instance's own disks"),
    ("service", _REFUSED, f"serving is {_LATER}"),
    ("pool", _REFUSED, f"a pool of workers is {_LATER}"),
    ("event_callback", _IGNORED, "no controller is there to call it"),
    ("inputs", _IGNORED, "egress is not estimated"),
    ("outputs", _IGNORED, "egress is not estimated"),
    ("api_server_access", _IGNORED, "there is no API server to give access to"),
    ("config.hooks", _FULL, "run on rank 0's node: when EC2 announces that it takes a spot node "
     "back, and before the node is gone"),
    ("config.hooks (container)", _CHANGED, "run on the node, outside of the container"),
    ("config.hooks (stop)", _IGNORED, "an instance is never stopped to be started again",
     "name `preemption` or `down` among the hook's events"),
    ("config.active_workspace", _IGNORED, "accounts are chosen by the stack's targets"),
    ("config.docker.run_options", _FULL, "options of `docker run`"),
    ("config.nvidia_gpus", _IGNORED, "a GPU's ECC mode is left as the image has it"),
    ("config.kubernetes", _FULL, "concerns other infrastructure"),
    ("config.slurm", _FULL, "concerns other infrastructure"),
    ("config.ssh", _FULL, "concerns other infrastructure"),
    ("config.gcp", _FULL, "concerns other infrastructure"),
    ("config.azure", _FULL, "concerns other infrastructure"),
    ("config.vast", _FULL, "concerns other infrastructure"),
    ("config.triplane.on_files_change", _FULL, "decided by plan"),
    ("config.triplane.native_script", _REFUSED, "a script for Slurm cannot run on instances"),
    ("group", _REFUSED, f"a job group is {_LATER}"),
    ("group (joined later)", _REFUSED, f"joining a running group is {_LATER}"),
    ("pipeline", _REFUSED, f"a pipeline is {_LATER}"),
    ("volume", _FULL, "aws-ebs is an encrypted disk, aws-efs a file system with one mount target, "
     "aws-fsx-lustre one of persistent type 2; `use_existing` finds it by its Name tag or its id"),
    ("volume (storage_class_name)", _IGNORED, "`storage_class_name` is one of Kubernetes",
     "`config: {volume_type: ...}`"),
    ("volume (namespace)", _IGNORED, "`namespace` is one of Kubernetes"),
)

_RESOURCES = (
    ("infra", _FULL, "the region, or the key of a target; the zone chooses the subnet"),
    ("cloud", _FULL, "as `infra`"),
    ("region", _FULL, "the target's region"),
    ("zone", _FULL, "chooses the subnet"),
    ("instance_type", _FULL, "the instances' type, with all its accelerators"),
    ("cpus", _FULL, "chooses the instance type"),
    ("memory", _FULL, "chooses the instance type"),
    ("accelerators", _FULL, "chooses the instance type and the machine image"),
    ("gpus", _FULL, "as `accelerators`"),
    ("accelerator_args", _REFUSED, "options of TPUs, which AWS does not have"),
    ("use_spot", _CHANGED, "one-time spot instances: a run that is interrupted is not restarted"),
    ("max_hourly_cost", _FULL, "limits the choice of the instance type, by on-demand price"),
    ("max_hourly_cost (spot)", _CHANGED, "compared with the on-demand price; "
     "spot prices move hourly"),
    ("job_recovery", _IGNORED, "an interrupted or failed run is not restarted"),
    ("disk_size", _FULL, "size of the encrypted root volume; 256 GiB if not given"),
    ("disk_tier", _FULL, "gp3 with its baseline (low), 3500 (medium) or 7000 IOPS (high), "
     "io2 with 20000 (ultra, best)"),
    ("network_tier", _FULL, "`standard` is what every instance has; `best` is EFA on all network "
     "cards; several nodes with accelerators are in a cluster placement group anyway"),
    ("network_tier (best, CPU task)", _CHANGED, "the ordinary network: EFA comes with large "
     "instance types, which a task that asks for CPUs does not get", "name an `instance_type`"),
    ("local_disk", _FULL, "chooses the instance type; the disks are as the image leaves them"),
    ("ephemeral_storage", _IGNORED, "the root volume is what `disk_size` says", "use `disk_size`"),
    ("ports", _FULL, "opened to the world in the nodes' security group"),
    ("image_id", _FULL, "the machine image, or a container on it; its entrypoint is replaced"),
    ("labels", _FULL, "tags of everything that is made"),
    ("autostop", _CHANGED, "instances are terminated when `run` ends, without waiting"),
    ("autostop (without run)", _FULL, "with `down`, instances are terminated when no session or "
     "command of Systems Manager was on any of them for so long"),
    ("autostop (without run or down)", _REFUSED, "instances that are stopped are not started again",
     "`autostop: {idle_minutes: ..., down: true}`, or no autostop and `destroy`"),
    ("priority", _IGNORED, "there is no queue"),
    ("priority_class", _IGNORED, "there is no queue"),
    ("volumes", _REFUSED, "disks of Google Cloud machines"),
    ("any_of", _FULL, "chosen by placement"),
    ("ordered", _FULL, "chosen by placement"),
)

# Keys of the stack's `config.aws` and of the target itself.
_STACK = (
    ("config.aws.vpc_name", _FULL, "the VPC, unless the target names one"),
    ("config.aws.vpc_names", _CHANGED, "only the first VPC is used"),
    ("config.aws.subnet_names", _FULL, "the subnets, unless the target names them"),
    ("config.aws.labels", _FULL, "tags of everything"),
    ("config.aws.disk_encrypted", _FULL, "disks are always encrypted"),
    ("config.aws.disk_encrypted (false)", _CHANGED, "disks are always encrypted"),
    ("config.aws.security_group_name", _IGNORED, "every run has a security group of its own"),
    ("config.aws.use_internal_ips", _IGNORED, "the subnet decides", "name private `subnets`"),
    ("config.aws.use_ssm", _FULL, "sessions are the only way to a node"),
    ("config.aws.ssh_proxy_command", _IGNORED, "nodes are not reached by SSH"),
    ("config.aws.ssh_user", _IGNORED, "nodes are not reached by SSH"),
    ("config.aws.prioritize_reservations", _IGNORED, "open reservations are used as EC2 does"),
    ("config.aws.specific_reservations", _IGNORED, "a reservation is of one instance type",
     "`reservations` or `capacity_blocks` of the target, by instance type"),
    ("config.aws.remote_identity", _IGNORED, "every run has a role of its own"),
    ("config.aws.enforce_tags", _FULL, "everything that is made is tagged"),
    ("config.aws.capabilities", _FULL, "concerns SkyPilot's own choice of clouds"),
    ("config.aws.post_provision_runcmd", _IGNORED, "nothing is run before `setup`",
     "put it into `setup`"),
    ("logs", _FULL, "the output of each rank, by CloudWatch's own agent; it is in the bucket, too"),
)
# fmt: on

SUPPORT: Mapping[str, Support] = MappingProxyType(
    {row[0]: Support(*row) for row in (*_TASK, *_STACK)}
    | {f"resources.{row[0]}": Support(f"resources.{row[0]}", *row[1:]) for row in _RESOURCES}
)
