"""Codes for what a Slurm cluster refuses when a job is submitted or changed."""

from compiler.diagnostics.code import Code, Severity

ACCOUNT_REFUSED = Code(
    "slurm-account-refused",
    Severity.ERROR,
    "The cluster does not let this user submit under this account (or under it to this partition).",
    "Accounts decide who pays and which partitions are open; the job was not submitted.",
    "Name an account that `sacctmgr show assoc user=$USER` lists, or leave the default.",
    example="config: {slurm: {quota: {account: nobody}}}",
)
QOS_REFUSED = Code(
    "slurm-qos-refused",
    Severity.ERROR,
    "The cluster does not let this account use this QOS.",
    "A QOS decides priority and limits; the job was not submitted.",
    "Name a QOS of the account, or leave it away to get the account's default.",
    example="config: {slurm: {quota: {queue: platinum}}}",
)
PARTITION_REFUSED = Code(
    "slurm-partition-refused",
    Severity.ERROR,
    "The cluster has no such partition.",
    "The job was not submitted.",
    "Name one of the partitions that `sinfo -s` lists as the third part of `infra`.",
    example="resources: {infra: slurm/alpha/gpus}  # it is called gpu",
)
TIME_REFUSED = Code(
    "slurm-time-refused",
    Severity.ERROR,
    "The time limit is longer than the partition (or the QOS) allows.",
    "The job was not submitted.",
    "Ask for less time, or choose a partition that allows more.",
    example='config: {slurm: {sbatch_options: {time: "30-00:00:00"}}}',
)
FEATURE_REFUSED = Code(
    "slurm-feature-refused",
    Severity.ERROR,
    "No node of the partition has the feature that the job is constrained to.",
    "The job was not submitted.",
    "Name features that the nodes have, or leave the constraint away.",
    example="config: {slurm: {sbatch_options: {constraint: h200}}}",
)
LIMIT_REFUSED = Code(
    "slurm-limit-refused",
    Severity.ERROR,
    "The job asks for more than a limit of the account or the QOS allows.",
    "Such a job would wait for ever; the cluster refuses it at once.",
    "Ask for less, or choose an account or a QOS with a higher limit.",
    example="resources: {accelerators: H100:8}  # under a QOS with 4 GPUs a user",
)
NODES_REFUSED = Code(
    "slurm-nodes-refused",
    Severity.ERROR,
    "The partition has no such nodes, or not as many.",
    "The job could never start; the cluster refuses it at once.",
    "Ask for what the nodes have: accelerators, CPUs and memory of one node, and their number.",
    example="num_nodes: 100  # in a partition of 16 nodes",
)
PERMISSION_REFUSED = Code(
    "slurm-permission-refused",
    Severity.ERROR,
    "The cluster does not let this user do this.",
    "Nothing was changed.",
    "Ask the administrators for access, or use another partition or account.",
    example="resources: {infra: slurm/alpha/admins}",
)
