"""lab-desk-1: 1 x m6i.2xlarge."""

import pulumi
import pulumi_aws as aws

from common import machines, network, permissions, runs, settings

NAME = "lab-desk-1"
RUN = "desk.1"
NODES = 1
TAGS = settings.TAGS | {
    "triplane:work": "desk",
    "triplane:run": "1",
}


def deploy() -> None:
    """Create one node, and what it needs."""
    run = pulumi.ComponentResource("triplane:aws:Run", NAME)
    within = pulumi.ResourceOptions(parent=run)
    scripts = runs.upload_scripts(run, NAME, RUN)
    group = network.security_group(run, NAME, TAGS)
    profile = permissions.instance_profile(run, NAME, RUN, TAGS)
    template = aws.ec2.LaunchTemplate(
        NAME,
        description=f"Nodes of {NAME}",
        image_id=settings.image_id(
            NAME,
            "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
        ),
        instance_type="m6i.2xlarge",
        instance_initiated_shutdown_behavior="terminate",
        iam_instance_profile=aws.ec2.LaunchTemplateIamInstanceProfileArgs(
            arn=profile.arn,
        ),
        metadata_options=machines.metadata(),
        block_device_mappings=machines.root_volume(
            "/dev/sda1",
            size=256,
            volume_type="gp3",
            iops=3500,
            throughput=218,
        ),
        vpc_security_group_ids=[group.id],
        tag_specifications=machines.tagged(TAGS),
        user_data=runs.user_data(NAME),
        update_default_version=True,
        tags=TAGS,
        opts=within,
    )
    nodes = [
        aws.ec2.Instance(
            f"{NAME}-{rank}",
            launch_template=aws.ec2.InstanceLaunchTemplateArgs(
                id=template.id,
                version=template.latest_version.apply(str),
            ),
            subnet_id=network.subnet_id(),
            tags=TAGS | {"Name": f"{NAME}-{rank}", "triplane:rank": str(rank)},
            opts=pulumi.ResourceOptions(
                parent=run,
                depends_on=scripts,
                # A node is never replaced while its run lasts: a new image or
                # setting counts from the next run on.
                ignore_changes=["launch_template", "subnet_id"],
            ),
        )
        for rank in range(NODES)
    ]
    outputs = {
        "image": template.image_id,
        "instances": [node.id for node in nodes],
    }
    run.register_outputs(outputs)
    pulumi.export(NAME, outputs)
