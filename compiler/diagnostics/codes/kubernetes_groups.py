"""Codes for groups and pipelines on Kubernetes."""

from compiler.diagnostics.code import Code, Severity

GROUP_NOT_GANG = Code(
    "group-not-gang",
    Severity.WARNING,
    "The tasks of a group are Jobs of their own, which nothing starts or ends together.",
    "Without JobSet on the cluster one task may wait for nodes while the others hold theirs, and a "
    "task that fails leaves the others running.",
    'Install JobSet on the cluster and say so at the target: `jobset: "0.12"`.',
    example="targets: {prod: {kind: kubernetes}}  # without jobset",
)
NEEDS_JOBSET = Code(
    "needs-jobset",
    Severity.ERROR,
    "A pipeline, a group with auxiliary tasks, or one that triplane deploys itself cannot do "
    "without JobSet on the cluster.",
    "Jobs alone cannot start one after the other, nothing would end the auxiliary tasks, and no "
    "one object would say what became of the group.",
    'Install JobSet on the cluster and say so at the target: `jobset: "0.12"`.',
    example="targets: {prod: {kind: kubernetes}}  # without jobset, for a pipeline",
)
GROUP_RECOVERS_WHOLE = Code(
    "group-recovers-whole",
    Severity.WARNING,
    "A task of several nodes in a group or a pipeline recovers together with all others.",
    "JobSet starts a single Job again only behind its gate RestartJob, which is off by default.",
    "Turn the gate on in the cluster and say so at the target: `jobset_gates: [RestartJob]`; or "
    "give the task one node, which its own Job starts again.",
    example="num_nodes: 2  # in a group, with resources: {job_recovery: {strategy: FAILOVER}}",
)
MEMBERS_DIFFER = Code(
    "members-differ",
    Severity.ERROR,
    "The tasks of a group or a pipeline are configured for different namespaces or queues.",
    "They are parts of one object, which is in one namespace and waits in one queue.",
    "Set `namespace` and `kueue.local_queue_name` alike in the `config.kubernetes` of all tasks, "
    "or in the stack.",
    example="two tasks of a group, one with config: {kubernetes: {namespace: team-a}}",
)
