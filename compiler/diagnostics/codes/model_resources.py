"""Codes for `resources`: amounts, devices, places, images and how alternatives combine."""

from compiler.diagnostics.code import Code, Severity

CPUS_VALUE = Code(
    "cpus-value",
    Severity.ERROR,
    "`cpus` is no number of vCPUs, or more than any node has.",
    "What each node needs is not clear.",
    'Write a number above 0, or "N+" for at least N.',
    example="resources: {cpus: 500m}",
)
MEMORY_VALUE = Code(
    "memory-value",
    Severity.ERROR,
    "`memory` is no amount of memory, or more than any node has.",
    "What each node needs is not clear.",
    'Write GiB as a number, with a unit ("512MB"), with `+` for at least, or "4x" for 4 GiB per '
    "vCPU.",
    example="resources: {memory: 16G}",
)
DISK_SIZE_VALUE = Code(
    "disk-size-value",
    Severity.ERROR,
    "A disk size is not a whole number of GiB, or more than any node has.",
    "Disks come in whole GiB.",
    'Write an integer, or an integer with a unit such as "1TB".',
    example="resources: {disk_size: 1.5TB}",
)
LOCAL_DISK_VALUE = Code(
    "local-disk-value",
    Severity.ERROR,
    "`local_disk` is not in a form that the dialect has.",
    "Which instance-store disk is needed is not clear.",
    'Write "nvme", "ssd:500" or "nvme:1000+" (GB).',
    example="resources: {local_disk: 'hdd:100'}",
)
PORTS_VALUE = Code(
    "ports-value",
    Severity.ERROR,
    "A port or a range of ports does not exist.",
    "Nothing could be opened.",
    "Write ports from 1 to 65535, ranges with the lower one first.",
    example="resources: {ports: 8090-8080}",
)
PRIORITY_RANGE = Code(
    "priority-range",
    Severity.ERROR,
    "`priority` is out of range.",
    "The queue knows -1000 to 1000.",
    "Write an integer from -1000 to 1000.",
    example="resources: {priority: 5000}",
)
LABEL_VALUE = Code(
    "label-value",
    Severity.ERROR,
    "A label's key or value is not allowed.",
    "Labels are text, and each platform has rules for their keys and values.",
    "Quote numbers and booleans; keep to letters, digits, `-`, `_` and `.`.",
    example="resources: {labels: {stage: 1}}",
)
INFRA_VALUE = Code(
    "infra-value",
    Severity.ERROR,
    "`infra` or `cloud` names no place that the dialect knows.",
    "The task could be placed nowhere.",
    "Write `cloud`, `cloud/region` or `cloud/region/zone`; on Kubernetes all behind the first "
    "slash is the context.",
    example="resources: {infra: kubernets/prod}",
)
INFRA_TWICE = Code(
    "infra-twice",
    Severity.ERROR,
    "`infra` stands beside `cloud`, `region` or `zone`.",
    "Both say where the task goes.",
    "Put everything into `infra`.",
    example="resources: {infra: aws, region: us-east-1}",
)
ACCELERATOR_VALUE = Code(
    "accelerator-value",
    Severity.ERROR,
    "An accelerator is not in a form that the dialect has.",
    "Which device, or how many of it, is not clear.",
    "Write NAME, NAME:COUNT with a count above 0, or an amount of memory such as 80GB+:8.",
    example="resources: {accelerators: 'H100:0'}",
)
ACCELERATOR_UNRESOLVED = Code(
    "accelerator-unresolved",
    Severity.ERROR,
    "No known accelerator has the memory that is asked for.",
    "Devices are chosen by memory from the catalogue.",
    "Ask for another amount, use `+` for at least, or name the device.",
    example="resources: {accelerators: '999GB+'}",
)
ACCELERATORS_TWICE = Code(
    "accelerators-twice",
    Severity.ERROR,
    "`accelerators` and `gpus` are both given.",
    "They are two names of one field.",
    "Give one of them.",
    example="resources: {accelerators: H100:8, gpus: A100:8}",
)
ACCELERATORS_IN_ITEM = Code(
    "accelerators-in-item",
    Severity.ERROR,
    "An alternative names several kinds of accelerators.",
    "Each item of `any_of` and `ordered` is one alternative.",
    "Write an item for each kind.",
    example="resources: {any_of: [{accelerators: {H100: 8, A100: 8}}]}",
)
ACCELERATORS_WITH_ALTERNATIVES = Code(
    "accelerators-with-alternatives",
    Severity.ERROR,
    "Several accelerators are combined with alternatives in a way that has no order.",
    "A list of accelerators has an order of its own; `ordered` takes one accelerator for each "
    "item.",
    "Name the accelerator in each item.",
    example="resources: {accelerators: [H100:8, A100:8], any_of: [{use_spot: true}]}",
)
ALTERNATIVES_TWICE = Code(
    "alternatives-twice",
    Severity.ERROR,
    "`any_of` and `ordered` are both given.",
    "Alternatives have an order or they have none.",
    "Keep one of the two.",
)
ALTERNATIVES_NESTED = Code(
    "alternatives-nested",
    Severity.ERROR,
    "An alternative holds alternatives.",
    "One level of alternatives is all there is.",
    "Write every combination as an item.",
    example="resources: {any_of: [{any_of: [{infra: k8s}]}]}",
)
ALTERNATIVES_DISAGREE = Code(
    "alternatives-disagree",
    Severity.ERROR,
    "Alternatives differ in something that holds for the whole task.",
    "`priority`, `priority_class`, `job_recovery` and `autostop` are decided before an "
    "alternative is chosen.",
    "Write the key once, beside the alternatives.",
    example="resources: {any_of: [{priority: 1}, {priority: 2}]}",
)
IMAGE_VALUE = Code(
    "image-value",
    Severity.ERROR,
    "`image_id` names no image.",
    "The task has nothing to run in.",
    "Write `docker:<image>`, a machine image, or a map from region to machine image.",
    example="resources: {image_id: 'docker:'}",
)
IMAGE_NEEDS_CLOUD = Code(
    "image-needs-cloud",
    Severity.ERROR,
    "An image without the prefix `docker:` is given, but no cloud.",
    "The same text is a container image on Kubernetes and a machine image on AWS.",
    "Write `docker:<image>` for a container image, or name the cloud in `infra`.",
    example="resources: {image_id: 'python:3.12'}",
)
IMAGE_NEEDS_REGION = Code(
    "image-needs-region",
    Severity.ERROR,
    "A machine image is given without its region.",
    "An AMI exists in one region only.",
    "Name the region in `infra`, or give a map from region to image.",
    example="resources: {infra: aws, image_id: ami-0123456789abcdef0}",
)
IMAGE_REGION = Code(
    "image-region",
    Severity.ERROR,
    "There is no image for the region that the task is pinned to.",
    "The machines could not be started.",
    "Add the region to the map, or choose another region.",
    example="resources: {infra: aws/us-west-2, image_id: {us-east-1: ami-0123456789abcdef0}}",
)
IMAGE_WITH_NETWORK_TIER = Code(
    "image-with-network-tier",
    Severity.ERROR,
    "A machine image of your own is combined with `network_tier: best`.",
    "The fast network needs drivers that only known machine images have.",
    "Use a container image, or leave out `network_tier`.",
)
RESOURCES_VOLUMES = Code(
    "resources-volumes",
    Severity.ERROR,
    "`resources.volumes` is used outside of Google Cloud.",
    "The field means disks of Google Cloud machines.",
    "Use the task's `volumes`.",
    example="resources: {volumes: [{path: /mnt, name: d}]}",
)
AUTOSTOP_VALUE = Code(
    "autostop-value",
    Severity.ERROR,
    "`autostop` is not in a form that the dialect has.",
    "When the nodes stop is not clear.",
    'Write true, false, minutes, "30m", "2h", "1d", "1w", or a map.',
    example="resources: {autostop: 10s}",
)
AUTOSTOP_HOOK = Code(
    "autostop-hook",
    Severity.WARNING,
    "`autostop.hook` is an old spelling.",
    "It still works, as a hook for the event `stop` (or `down`).",
    "Move it to `config.hooks`.",
    example="resources: {autostop: {idle_minutes: 10, hook: ./save.sh}}",
)
JOB_RECOVERY_STRATEGY = Code(
    "job-recovery-strategy",
    Severity.ERROR,
    "There is no such recovery strategy.",
    "What happens after a failure is not clear.",
    "Use EAGER_NEXT_REGION, FAILOVER or none.",
    example="resources: {job_recovery: {strategy: DYNAMIC_NODE_SET}}",
)
JOB_RECOVERY_KEY = Code(
    "job-recovery-key",
    Severity.ERROR,
    "`job_recovery` has a key that means nothing.",
    "SkyPilot accepts it and never uses it.",
    "Use strategy, max_restarts_on_errors and recover_on_exit_codes.",
    example="resources: {job_recovery: {max_restarts: 3}}",
)
