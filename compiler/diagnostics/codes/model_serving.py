"""Codes for services, pools, pipelines and groups."""

from compiler.diagnostics.code import Code, Severity

PROBE_PATH = Code(
    "probe-path",
    Severity.ERROR,
    "The readiness probe has no usable path.",
    "Nobody could tell when a replica is ready.",
    "Write a path that starts with a slash.",
    example="service: {readiness_probe: health}",
)
POST_DATA = Code(
    "post-data",
    Severity.ERROR,
    "The body of the readiness probe is text, but no JSON.",
    "It is sent as JSON.",
    "Write a map, or correct the text.",
    example="service: {readiness_probe: {path: /, post_data: '{x'}}",
)
REPLICAS_TWICE = Code(
    "replicas-twice",
    Severity.ERROR,
    "`replicas` and `replica_policy` are both given.",
    "Both say how many replicas there are.",
    "Keep one of the two.",
)
REPLICA_RANGE = Code(
    "replica-range",
    Severity.ERROR,
    "`max_replicas` is less than `min_replicas`.",
    "No number of replicas fits.",
    "Raise the one or lower the other.",
)
SCALING_NEEDS_TARGET = Code(
    "scaling-needs-target",
    Severity.ERROR,
    "The number of replicas may vary, but nothing says with what.",
    "Scaling follows queries per second and replica.",
    "Set `target_qps_per_replica`, or `max_replicas` to the same as `min_replicas`.",
    example="service: {readiness_probe: /, replica_policy: {min_replicas: 1, max_replicas: 3}}",
)
SCALING_NEEDS_MAXIMUM = Code(
    "scaling-needs-maximum",
    Severity.ERROR,
    "Replicas follow the load without an upper bound.",
    "A peak would cost without limit.",
    "Set `max_replicas`.",
    example="replica_policy: {min_replicas: 1, target_qps_per_replica: 2}  # of a service",
)
QPS_BY_DEVICE = Code(
    "qps-by-device",
    Severity.ERROR,
    "A target for each accelerator and the load balancing policy do not fit.",
    "Only `instance_aware_least_load` knows the accelerator behind a replica, and it needs the "
    "targets.",
    "Use the map and the policy together, or neither.",
)
FALLBACK_WITHOUT_SPOT = Code(
    "fallback-without-spot",
    Severity.ERROR,
    "The policy is about spot replicas, and none is spot.",
    "It would do nothing.",
    "Set `use_spot: true`, or leave the key out.",
)
SERVICE_MIXED_SPOT = Code(
    "service-mixed-spot",
    Severity.ERROR,
    "A service's alternatives are partly spot.",
    "Spot and on-demand replicas are mixed by the policy, not by alternatives.",
    "Make all alternatives spot, and use `dynamic_ondemand_fallback`.",
    example="resources: {any_of: [{use_spot: true}, {use_spot: false}]}  # with a service",
)
SERVICE_PORT = Code(
    "service-port",
    Severity.ERROR,
    "It is not clear which port the service listens on.",
    "The load balancer needs exactly one.",
    "Set `service.ports`, or one port in `resources.ports`.",
)
TLS_FILES = Code(
    "tls-files",
    Severity.ERROR,
    "`tls` lacks the key or the certificate.",
    "Both are needed.",
    "Set `keyfile` and `certfile`.",
)
RECOVERY_OF_SERVICE = Code(
    "recovery-of-service",
    Severity.ERROR,
    "`job_recovery` is given for a service or a pool.",
    "It is for jobs; replicas and workers are replaced anyway.",
    "Leave it out.",
)
SERVICE_AND_POOL = Code(
    "service-and-pool",
    Severity.ERROR,
    "A task is a service and a pool.",
    "It can be one of them.",
    "Split the file in two.",
)
POOL_SIZE = Code(
    "pool-size",
    Severity.ERROR,
    "A pool has no size.",
    "There would be no workers.",
    "Set `workers`, or `max_workers` for a pool that scales.",
    example="pool: {}",
)
POOL_RANGE = Code(
    "pool-range",
    Severity.ERROR,
    "`max_workers` is less than the fewest workers.",
    "No number of workers fits.",
    "Raise the one or lower the other.",
    example="pool: {min_workers: 3, max_workers: 2}",
)
POOL_NEEDS_MAXIMUM = Code(
    "pool-needs-maximum",
    Severity.ERROR,
    "A key for pools that scale is given without `max_workers`.",
    "A pool without an upper bound does not scale.",
    "Set `max_workers`, or leave the key out.",
    example="pool: {workers: 2, queue_length_threshold: 4}",
)
POOL_ORDERED = Code(
    "pool-ordered",
    Severity.ERROR,
    "A pool has ordered alternatives.",
    "Workers of one pool are equals.",
    "Use `any_of`.",
    example="resources: {ordered: [{infra: k8s}, {infra: aws}]}  # with a pool",
)
POOL_PORTS = Code(
    "pool-ports",
    Severity.ERROR,
    "A pool opens ports.",
    "Nothing is served by workers.",
    "Leave out `ports`.",
)
TASK_NAMES_COLLIDE = Code(
    "task-names-collide",
    Severity.ERROR,
    "Two tasks of one file have the same name, or names that give the same object name.",
    "Their objects would replace each other.",
    "Give one of them another name.",
)
PRIORITIES_DIFFER = Code(
    "priorities-differ",
    Severity.ERROR,
    "The tasks of a pipeline have different priorities.",
    "A pipeline waits in the queue as one job.",
    "Give all tasks the same `priority`.",
)
GROUP_NAME = Code(
    "group-name",
    Severity.ERROR,
    "The group has no usable name.",
    "It is the last part of the host names of all its tasks.",
    "Use letters, digits, `-` and `_`.",
    example="name: my.group  # with execution: parallel",
)
GROUP_NAME_LENGTH = Code(
    "group-name-length",
    Severity.ERROR,
    "A host name of the group has a part that is too long.",
    "A part of a host name has at most 63 characters.",
    "Use a shorter name.",
)
GROUP_TASK_NAME = Code(
    "group-task-name",
    Severity.ERROR,
    "A task of a group has no usable name.",
    "The other tasks reach it as `<task>-<node>.<group>`.",
    "Give it a name of letters, digits, `-` and `_`.",
)
GROUP_POOL = Code(
    "group-pool",
    Severity.ERROR,
    "A task of a group is a pool.",
    "A group ends, a pool waits.",
    "Put the pool into a file of its own.",
)
SERVICE_AMONG_TASKS = Code(
    "service-among-tasks",
    Severity.ERROR,
    "A task of a group or a pipeline is a service.",
    "A group and a pipeline end, a service does not.",
    "Put the service into a file of its own; in a group, a task that serves needs no `service`.",
)
GROUP_UNKNOWN_TASK = Code(
    "group-unknown-task",
    Severity.ERROR,
    "The header of a group names a task that the group does not have.",
    "The setting would hold for nothing.",
    "Use the name of a task of the group.",
    example="primary_tasks: [trainr]  # of a group",
)
TERMINATION_DELAY = Code(
    "termination-delay",
    Severity.ERROR,
    "A termination delay is not in a form that the dialect has.",
    "How long the task may go on is not clear.",
    "Write seconds, or a number with s, m, h, d or w.",
    example="termination_delay: 1.5h  # of a group",
)
