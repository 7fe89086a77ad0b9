"""The settings of set lab in us-east-1, the same for all workloads.

Three values of the stack configuration are read here: `triplane:finished`, the names of runs
that have ended and whose instances are no longer wanted; `triplane:images`, the AMI that a
run was first started with, by the run's name; and `triplane:released`, the names of volumes
that may be deleted.
"""

import pulumi
import pulumi_aws as aws

REGION = "us-east-1"
PARTITION = "aws"
BUCKET = "lab-runs"
# The runs of this set lie below RUNS in the bucket, work folders of all sets below FILES.
RUNS = ".triplane/lab/runs/us-east-1"
FILES = ".triplane/files"
TAGS = {
    "triplane:set": "lab",
    "triplane:target": "us-east-1",
    "triplane:records": "lab-runs/.triplane/lab",
}

CONFIG = pulumi.Config("triplane")


def finished_runs() -> list[str]:
    return CONFIG.get_object("finished") or []


def released_volumes() -> list[str]:
    return CONFIG.get_object("released") or []


def image_id(name: str, parameter: str) -> pulumi.Input[str]:
    """The AMI that a public parameter names now, or the one that the run started with."""
    pinned = CONFIG.get_object("images") or {}
    if name in pinned:
        return pinned[name]
    return aws.ssm.get_parameter_output(name=parameter).insecure_value


def root_device(ami: pulumi.Input[str]) -> pulumi.Output[str]:
    """The name of an image's root device, which a mapping of its disk must repeat."""
    filters = pulumi.Output.from_input(ami).apply(
        lambda image: [aws.ec2.GetAmiFilterArgs(name="image-id", values=[image])]
    )
    return aws.ec2.get_ami_output(filters=filters).root_device_name
