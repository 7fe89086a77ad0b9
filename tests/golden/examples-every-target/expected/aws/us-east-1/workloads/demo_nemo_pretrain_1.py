"""demo-nemo-pretrain-1: 2 x p5.48xlarge, 8 H100 each."""

import pulumi
import pulumi_aws as aws

from common import machines, network, permissions, runs, settings

NAME = "demo-nemo-pretrain-1"
RUN = "nemo-pretrain.1"
NODES = 2
TAGS = settings.TAGS | {
    "triplane:work": "nemo-pretrain",
    "triplane:run": "1",
}


def deploy() -> None:
    """Create 2 nodes, and what they need."""
    run = pulumi.ComponentResource("triplane:aws:Run", NAME)
    within = pulumi.ResourceOptions(parent=run)
    scripts = runs.upload_scripts(run, NAME, RUN)
    group = network.security_group(run, NAME, TAGS)
    profile = permissions.instance_profile(run, NAME, RUN, TAGS)
    placement = aws.ec2.PlacementGroup(
        NAME,
        strategy=aws.ec2.PlacementStrategy.CLUSTER,
        tags=TAGS,
        opts=within,
    )
    template = aws.ec2.LaunchTemplate(
        NAME,
        description=f"Nodes of {NAME}",
        image_id=settings.image_id(
            NAME,
            "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
        ),
        instance_type="p5.48xlarge",
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
        placement=aws.ec2.LaunchTemplatePlacementArgs(
            group_name=placement.name,
        ),
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
