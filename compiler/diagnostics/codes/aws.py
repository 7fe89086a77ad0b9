"""Codes of the AWS target."""

from compiler.diagnostics.code import Code, Severity

BUCKET_MISSING = Code(
    "aws-bucket-missing",
    Severity.ERROR,
    "The AWS target names no bucket.",
    "Nodes take their scripts and files from it, meet in it, and leave the outcome there.",
    "Add `files: {bucket: s3://...}` to the target in the stack file.",
    example="targets: {us-east-1: {kind: aws}}",
)
IMAGE_UNKNOWN = Code(
    "aws-image-unknown",
    Severity.ERROR,
    "There is no public machine image with drivers for this hardware, or the image is no AMI.",
    "A node without its driver would run the task without accelerators.",
    "Name one: `image_id: ami-...` in the task, or `amis` in the stack's target.",
    example="resources: {infra: aws, accelerators: V100:8}",
)
IMAGE_REGION = Code(
    "aws-image-region",
    Severity.ERROR,
    "The map of images has none for the target's region.",
    "An AMI exists in one region only.",
    "Add the region to `image_id`, or place the task in one that it lists.",
    example="resources: {infra: aws/us-east-1, image_id: {eu-west-1: ami-0123456789abcdef0}}",
)
LABEL = Code(
    "aws-label",
    Severity.ERROR,
    "The label cannot be a tag of an instance.",
    "Nodes read their rank from their tags, and AWS then allows fewer characters in keys.",
    "Use letters, digits and `+ - = . , _ : @` in keys, at most 128 characters; no `Name`, "
    "`aws:...` or `triplane:...`; values have at most 256 characters.",
    example="resources: {infra: aws, labels: {kubernetes.io/team: nlp}}",
)
EFA_MISSING = Code(
    "aws-efa-missing",
    Severity.ERROR,
    "`network_tier: best` is asked of an instance type that has no EFA.",
    "Collective operations would fall back to TCP, at a fraction of the bandwidth.",
    "Use an instance type or accelerator count with EFA, or leave `network_tier` out.",
    example="resources: {infra: aws, instance_type: g6.xlarge, network_tier: best}",
)
EFA_NO_ADDRESS = Code(
    "aws-efa-no-public-address",
    Severity.WARNING,
    "Nodes with EFA get no public address, and the target names no subnets of its own.",
    "An instance with several network interfaces is not given a public address; in the default "
    "VPC it then reaches neither S3 nor package servers.",
    "Name `vpc` and `subnets` with a NAT gateway, or add an S3 gateway endpoint to the VPC.",
    example="resources: {infra: aws, accelerators: H100:8, network_tier: best}",
)
SECRET_SOURCE = Code(
    "aws-secret-source",
    Severity.ERROR,
    "The stack takes this secret from a place that nodes on AWS cannot read.",
    "Only Systems Manager and Secrets Manager can be reached with the node's own role.",
    "Use `ssm: <parameter>` or `secrets_manager: <name>` for this target.",
    example="secrets: {HF_TOKEN: {us-east-1: {file: ~/.hf}}}",
)
ZONE = Code(
    "aws-zone",
    Severity.ERROR,
    "The zone is not one of the target's region.",
    "Instances would be refused in a zone that the region does not have.",
    "Name a zone of the region, or the target of the zone's region.",
    example="resources: {infra: aws/us-east-1/eu-west-1a}",
)
RESERVATION_ZONE = Code(
    "aws-reservation-zone",
    Severity.ERROR,
    "Instances would not be started where their capacity reservation is.",
    "A reservation is in one zone; EC2 refuses to start its instances in another.",
    "Name the zone beside the id in the stack's target (`{id: cr-..., zone: us-east-1a}`), and "
    "no other one in the task.",
    example="targets: {us-east-1: {kind: aws, reservations: {p5: cr-0123456789abcdef0}}}",
)
RESERVATION_SPREAD = Code(
    "aws-reservation-spread",
    Severity.WARNING,
    "Several nodes with accelerators are in a reservation that is in no placement group.",
    "EC2 packs instances of a reservation only where it was made in a cluster placement group; "
    "elsewhere they may be far from each other.",
    "Make the reservation in a cluster placement group and name that beside its id "
    "(`{id: cr-..., placement_group: training}`).",
    example="targets: {us-east-1: {kind: aws, reservations: {p4d: cr-0123456789abcdef0}}}",
)
TOO_LARGE = Code(
    "aws-too-large",
    Severity.ERROR,
    "The task asks for more than EC2 takes in one request, or for one instance.",
    "EC2 would refuse it after other parts of the run have been made.",
    "Ask for less: at most 1000 nodes, 65536 GiB of disk, 40 labels.",
    example="num_nodes: 1000000000",
)
POLICY_SIZE = Code(
    "aws-policy-size",
    Severity.ERROR,
    "The policy of the nodes' role would be longer than the 10,240 characters that IAM takes.",
    "It names each archive, bucket and secret that the task uses, and nothing else.",
    "Bring files along as one folder rather than many, and name fewer secrets.",
    example="file_mounts: {~/1: ./1, ~/2: ./2, ~/3: ./3, ...}",
)
VOLUME_ZONE = Code(
    "aws-volume-zone",
    Severity.ERROR,
    "A disk and the nodes that mount it are not in one zone.",
    "A disk of EBS is in one zone, and only instances of that zone can have it.",
    "Give the volume a zone (`infra: aws/us-east-1/us-east-1a`), and the task the same or none.",
    example="name: scratch, type: aws-ebs, size: 100Gi, infra: aws/us-east-1",
)
VOLUME_NODES = Code(
    "aws-volume-nodes",
    Severity.ERROR,
    "A disk is mounted by more nodes than can have it, or a node has too many.",
    "A disk of EBS belongs to one instance at a time, which has a limited number of devices.",
    "Use `type: aws-efs` or `type: aws-fsx-lustre` for what several nodes share.",
    example="num_nodes: 2, volumes: {/data: a-disk}",
)
VOLUME_VALUE = Code(
    "aws-volume-value",
    Severity.ERROR,
    "The service has no volume of this size, speed, type or name.",
    "AWS would refuse to make it.",
    "Choose one of the values that the message lists.",
    example="name: data, type: aws-fsx-lustre, size: 500Gi",
)
TEXT = Code(
    "aws-text",
    Severity.ERROR,
    "A text of the task cannot be written into a script.",
    "A NUL character or half of a surrogate pair ends or spoils the file that it stands in.",
    "Remove the character.",
    example='run: "printf \\0"',
)
USER_DATA_SIZE = Code(
    "aws-user-data-size",
    Severity.ERROR,
    "The boot script is larger than the 16 KiB that EC2 takes.",
    "EC2 refuses the instance. The task's own texts are not part of it, so this is a bug.",
    "Report it with the name of the work.",
)
PROGRAM_INVALID = Code(
    "aws-program-invalid",
    Severity.ERROR,
    "A rendered program is not valid Python.",
    "Pulumi would refuse it. What users write cannot cause this, so this is a bug.",
    "Report it with the message.",
)
