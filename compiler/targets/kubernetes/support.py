"""What Kubernetes makes of each field of the dialect: the target's table of differences.

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
_LATER = "not rendered for Kubernetes by this version"

# fmt: off
_TASK = (
    ("name", _FULL, "basis of the Job's name"),
    ("num_nodes", _FULL, "completions and parallelism of an Indexed Job, one pod a rank"),
    ("workdir", _FULL,
     "an immutable ConfigMap of up to 512 KiB compressed, above that by the target's `files`: a "
     "clone of a repository, or an upload to a bucket or a volume"),
    ("workdir (git)", _FULL, "cloned by every pod when it starts, with GIT_TOKEN or GIT_SSH_KEY"),
    ("setup", _FULL, "run by the launcher in every pod, with a barrier before `run`"),
    ("run", _FULL, "run by the launcher in every pod; without it the pods are kept"),
    ("envs", _FULL, "exported by the launcher"),
    ("envs.SKYPILOT_DOCKER_*", _IGNORED, "pods do not log in to registries with it",
     "name a pull secret under `config.kubernetes.pod_config.spec.imagePullSecrets`"),
    ("secrets", _FULL, "references to Secrets of the cluster; no value is rendered"),
    ("managed_secrets", _FULL, "as `secrets`"),
    ("managed_secrets.mount_path", _FULL, "the secret mounted as a file"),
    ("file_mounts", _FULL,
     "local files travel with the workdir; every pod fetches s3, gs and https before it starts, "
     "and mounts buckets by a sidecar that may use FUSE"),
    ("file_mounts (other store)", _REFUSED, "pods reach s3, gs and https alone",
     "fetch it in `setup`"),
    ("file_mounts (storage to be filled)", _REFUSED, "nothing uploads local files to a bucket",
     "bring them along as a plain file mount, or upload them first"),
    ("file_mounts (new bucket)", _CHANGED, "the bucket has to be there"),
    ("file_mounts (not persistent)", _IGNORED, "no bucket is deleted"),
    ("volumes", _FULL, "claims and folders of the node; those made for the task go with its run"),
    ("service", _CHANGED,
     "a Deployment and a Service; SKYPILOT_SERVE_REPLICA_ID is the pod's name"),
    ("service (several nodes)", _REFUSED,
     "a replica is one pod, as nothing in Kubernetes starts several again as one and rolls them",
     "use one node a replica, or leave `service` out: rank 0 of a task with `ports` and "
     "`job_recovery` has a Service in front, and its ranks start again together"),
    ("service.tls", _CHANGED,
     "the Ingress ends TLS with the certificate that the target's `ingress` names, and not with "
     "these files"),
    ("service.tls (no certificate)", _REFUSED, "nothing here ends TLS for the service",
     "set `ingress: {host: ..., tls_secret: ...}` at the target, and `ports: ingress` under "
     "the stack's `config.kubernetes`"),
    ("service.load_balancing_policy", _IGNORED, "connections are spread by the cluster"),
    ("service.load_balancer", _IGNORED, "connections are spread by the cluster"),
    ("service.replica_policy (spot)", _IGNORED, "all replicas are of one kind of capacity"),
    ("service.replica_policy (min_replicas: 0)", _CHANGED,
     "an autoscaler keeps one replica at least"),
    ("pool", _REFUSED, "a pool of workers is no Kubernetes object"),
    ("event_callback", _IGNORED, "no controller is there to call it"),
    ("inputs", _IGNORED, "egress is not estimated"),
    ("outputs", _IGNORED, "egress is not estimated"),
    ("api_server_access", _IGNORED, "there is no API server to give access to"),
    ("config.hooks", _CHANGED,
     "run on rank 0 whenever a pod is deleted or evicted, as what is for preemption and what is "
     "for `down` look alike"),
    ("config.hooks (stop)", _IGNORED, "a pod is never stopped to be started again",
     "name `preemption` or `down` among the hook's events"),
    ("config.active_workspace", _FULL, "chooses the namespace and the queue"),
    ("config.kubernetes.pod_config", _FULL, "merged into the pod template, then checked strictly"),
    ("config.kubernetes.custom_metadata", _FULL, "on every object"),
    ("config.kubernetes.provision_timeout", _CHANGED,
     "how long ranks wait for each other, and how long `apply` waits for the start where there is "
     "another place to go on to; without one a pending Job is not given up"),
    ("config.kubernetes.kueue", _FULL, "the label `kueue.x-k8s.io/queue-name` of the Job"),
    ("config.kubernetes.kueue.admission_timeout", _CHANGED,
     "how long `apply` waits for queued work where there is another place to go on to, over and "
     "above `provision_timeout`; without one it stays in the queue"),
    ("config.kubernetes.quota", _FULL, "as `kueue.local_queue_name`"),
    ("config.kubernetes.dws", _FULL,
     "nodes of flex start, or how long Kueue may keep what it provisions"),
    ("config.kubernetes.dws (no GKE)", _REFUSED,
     "flex start is Google's, or goes through Kueue", "set `labels: gke`, or a queue"),
    ("config.kubernetes.remote_identity", _FULL, "the pods' service account; none by default"),
    ("config.kubernetes.remote_identity (SERVICE_ACCOUNT, LOCAL_CREDENTIALS)", _IGNORED,
     "no service account is made and no credentials are copied: pods get no token",
     "name an existing service account"),
    ("config.kubernetes.enable_docker", _FULL, "a sidecar with a daemon, or with a builder"),
    ("config.kubernetes.ports", _FULL, "how ports are opened"),
    ("config.kubernetes.set_pod_resource_limits", _FULL, "limits are requests times the factor"),
    ("config.kubernetes.auto_mounts", _FULL, "mounted by every pod of the stack"),
    ("config.kubernetes.post_provision_runcmd", _FULL, "run in every pod before all else"),
    ("config.kubernetes.rdma", _FULL, "devices and Multus networks of Oracle's RoCE fabric"),
    ("config.kubernetes.allowed_nodes", _FULL, "required node affinity; pairs are alternatives"),
    ("config.kubernetes.allowed_nodes.ips", _REFUSED, "node addresses are not known offline",
     "use `names` or `label_selector`"),
    ("config.kubernetes.autoscaler", _FULL, "how nodes are labelled, unless the target says it"),
    ("config.kubernetes.namespace", _FULL, "the namespace of every object"),
    ("config.slurm", _FULL, "concerns other infrastructure"),
    ("config.ssh", _FULL, "concerns other infrastructure"),
    ("config.gcp", _FULL, "concerns other infrastructure"),
    ("config.azure", _FULL, "concerns other infrastructure"),
    ("config.vast", _FULL, "concerns other infrastructure"),
    ("config.docker", _IGNORED, "pods are not started by docker run"),
    ("config.nvidia_gpus", _IGNORED, "pods cannot change a GPU's ECC mode"),
    ("config.triplane.on_files_change", _FULL, "decided by plan"),
    ("config.triplane.native_script", _REFUSED, "a script for Slurm cannot run in pods"),
    ("group", _FULL, "one JobSet; a task that fails for good ends all of them"),
    ("group (joined later)", _FULL, "a Job that finds the group by its names"),
    ("pipeline", _FULL, "one JobSet, whose tasks start once the one before is complete"),
    ("volume", _FULL, "a claim, or a note of one that is there or of a folder of the nodes"),
    ("volume (cleanup_on_deletion)", _IGNORED,
     "the folder stays on the nodes when the volume is deleted",
     "remove it with a task that mounts it"),
)

_RESOURCES = (
    ("infra", _FULL, "the context, or the key of a target"),
    ("cloud", _FULL, "as `infra`"),
    ("region", _FULL, "the context"),
    ("zone", _FULL, "node selector `topology.kubernetes.io/zone`"),
    ("instance_type", _FULL, "node selector `node.kubernetes.io/instance-type`"),
    ("instance_type (of the form 4CPU--16GB)", _REFUSED, "no node has that type",
     "write cpus, memory and accelerators"),
    ("cpus", _FULL, "a request"),
    ("cpus (N+)", _CHANGED, "a pod requests exactly this many CPUs"),
    ("memory", _FULL, "a request, in GiB"),
    ("memory (N+)", _CHANGED, "a pod requests exactly this much memory"),
    ("accelerators", _FULL, "requests and limits of the device plugin, required node affinity"),
    ("accelerators (fraction)", _REFUSED, "a pod gets whole devices", "ask for a whole number"),
    ("accelerators (Neuron without image_id)", _REFUSED, "the default image has no Neuron SDK",
     "name an image that has it with `image_id`"),
    ("gpus", _FULL, "as `accelerators`"),
    ("accelerator_args", _IGNORED, "node images decide the runtime"),
    ("use_spot", _FULL, "node selector and toleration of spot nodes"),
    ("use_spot (no label)", _REFUSED, "nodes labelled in this way do not say what is spot",
     "set `labels` of the target to gke or karpenter, or use `config.kubernetes.pod_config`"),
    ("max_hourly_cost", _FULL, "checked by placement"),
    ("job_recovery", _CHANGED,
     "started again on the same cluster, whatever the strategy; several nodes by JobSet"),
    ("job_recovery (no JobSet)", _IGNORED,
     "several nodes are started again by JobSet alone, which this target does not name"),
    ("disk_size", _FULL, "an `ephemeral-storage` request"),
    ("ephemeral_storage", _FULL, "an `ephemeral-storage` request"),
    ("disk_tier", _IGNORED, "a pod cannot choose the disk of its node"),
    ("network_tier", _FULL,
     "`best` is the fabric of the target's `network`, with its devices, and one zone for EFA"),
    ("local_disk", _REFUSED, "a pod cannot ask for instance-store disks"),
    ("ports", _FULL, "a LoadBalancer or an Ingress in front of rank 0, or nothing (podip)"),
    ("image_id", _FULL, "the container's image; its entrypoint is replaced"),
    ("image_id (machine image)", _REFUSED, "a pod runs a container image",
     "write `docker:<image>`"),
    ("labels", _FULL, "labels of the Job and its pods"),
    ("autostop", _IGNORED, "a Job ends with `run`"),
    ("autostop (without run)", _REFUSED, "pods that are only kept cannot tell that they are idle"),
    ("priority", _FULL, "the class of the target's `priority_classes` that the number reaches"),
    ("priority (no class)", _IGNORED, "no class of the target begins at or below that number",
     "set `priority_classes: {<class>: <least priority>}` at the target, or use `priority_class`"),
    ("priority (beside priority_class)", _IGNORED, "the class alone decides",
     "leave one of them out"),
    ("priority_class", _FULL,
     "Kueue's WorkloadPriorityClass where a queue is set, else the pods' PriorityClass"),
    ("volumes", _REFUSED, "disks of Google Cloud machines"),
    ("any_of", _FULL, "chosen by placement"),
    ("ordered", _FULL, "chosen by placement"),
)
# fmt: on

SUPPORT: Mapping[str, Support] = MappingProxyType(
    {row[0]: Support(*row) for row in _TASK}
    | {f"resources.{row[0]}": Support(f"resources.{row[0]}", *row[1:]) for row in _RESOURCES}
)
