"""Codes about what pods can have beside their containers: volumes, networks, recovery, ports."""

from compiler.diagnostics.code import Code, Severity

VOLUME_NAMESPACE = Code(
    "kubernetes-volume-namespace",
    Severity.ERROR,
    "A volume's claim is in another namespace than the pods.",
    "A pod can mount claims of its own namespace only.",
    "Set `namespace` of the target, or give the volume no namespace.",
    example="config: {namespace: data}  # of the volume, and pods in `default`",
)
STORAGE_CLASS = Code(
    "kubernetes-storage-class",
    Severity.ERROR,
    "The cluster has no storage class that can give the volume.",
    "The claim would stay pending, and with it every pod that mounts it.",
    "Name another class or access mode, or correct `storage_classes` of the target.",
    example="config: {access_mode: ReadWriteMany, storage_class_name: gp3}",
)
NETWORK_UNKNOWN = Code(
    "kubernetes-network-unknown",
    Severity.ERROR,
    "Nothing says which fast network the cluster's nodes have.",
    "Without it the work would run over TCP, many times slower, and nobody would be told.",
    "Set `network` of the target, or `network_tier: standard`.",
    example="resources: {network_tier: best}  # on nodes labelled by gfd",
)
NETWORK_COUNT = Code(
    "kubernetes-network-count",
    Severity.ERROR,
    "It is not known how many interfaces of the fast network belong to the request.",
    "A pod that asks for none of them runs over TCP.",
    "Ask for accelerators of machines that have the network, or name an `instance_type`.",
    example="resources: {network_tier: best, accelerators: V100:1}  # on AWS",
)
GANG_UNAVAILABLE = Code(
    "kubernetes-gang-unavailable",
    Severity.ERROR,
    "The target cannot start the pods of a task all together in the way that the stack says.",
    "Two tasks that each hold half of a cluster would wait for each other.",
    "Set `gang` to what the cluster has, or leave it out.",
    example='targets: {prod: {kind: kubernetes, version: "1.34", gang: core}}',
)
RECOVERY_NEEDS_JOBSET = Code(
    "recovery-needs-jobset",
    Severity.WARNING,
    "A task with several nodes is not started again after a failure without JobSet.",
    "Several ranks are one: they begin again together, which a Job cannot do.",
    "Install JobSet on the cluster and set `jobset` of the target to its version.",
    example="resources: {job_recovery: FAILOVER}  # and num_nodes: 2",
)
POD_SECURITY = Code(
    "kubernetes-pod-security",
    Severity.ERROR,
    "The Pod Security level of the namespace refuses the pod.",
    "The Job would be accepted and never get a pod.",
    "Use a namespace of a lower level, leave out what needs more, or set the pod's "
    "`securityContext` with `config.kubernetes.pod_config`.",
    example="targets: {prod: {kind: kubernetes, pod_security: baseline, network: efa}}",
)
PORTS_TOO_MANY = Code(
    "kubernetes-ports-too-many",
    Severity.ERROR,
    "The task opens more ports than one Service should have.",
    "Each port is an entry of the Service and a listener of its balancer.",
    "Open fewer ports, or set `ports: podip` under `config.kubernetes`.",
    example="resources: {ports: 1-65535}",
)
SERVICE_METRIC = Code(
    "kubernetes-service-metric",
    Severity.ERROR,
    "Nothing says by which metric the service's replicas are scaled.",
    "`target_qps_per_replica` counts requests; the processor's load is not a stand-in for them.",
    "Name the metric with `metrics` of the target, or set `replicas` to a fixed number.",
    example="service: {replica_policy: {min_replicas: 1, max_replicas: 4, "
    "target_qps_per_replica: 5}}",
)
REQUEST_TOO_LARGE = Code(
    "kubernetes-request-too-large",
    Severity.ERROR,
    "The task asks for more than any node has, or for more nodes than a Job has pods.",
    "Its pods would wait for ever.",
    "Correct the number; memory and disk are in GiB.",
    example="resources: {memory: 1000000}",
)
CONTAINER_BESIDE = Code(
    "kubernetes-container-beside",
    Severity.WARNING,
    "`pod_config` adds a container that runs beside the task's.",
    "A Job's pod ends when all its containers have: one that serves for ever keeps it running.",
    "Make it a sidecar, which Kubernetes ends with the task.",
    example="pod_config: {spec: {containers: [{name: proxy, image: nginx}]}}",
)
