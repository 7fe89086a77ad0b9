"""What all nodes have alike: an encrypted disk, guarded metadata, tags on all that they own."""

import pulumi
import pulumi_aws as aws


def root_volume(
    device: pulumi.Input[str],
    size: int,
    volume_type: str,
    iops: int,
    throughput: int | None = None,
) -> list[aws.ec2.LaunchTemplateBlockDeviceMappingArgs]:
    """The disk that a node boots from, in GiB and MiB/s; it goes with the node."""
    return [
        aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
            device_name=device,
            ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                volume_size=size,
                volume_type=volume_type,
                iops=iops,
                throughput=throughput,
                encrypted="true",
                delete_on_termination="true",
            ),
        ),
    ]


def metadata() -> aws.ec2.LaunchTemplateMetadataOptionsArgs:
    """Only with a token, and not from within containers of another network."""
    return aws.ec2.LaunchTemplateMetadataOptionsArgs(
        http_endpoint="enabled",
        http_tokens="required",
        http_put_response_hop_limit=1,
        instance_metadata_tags="enabled",
    )


def tagged(
    tags: dict[str, str],
) -> list[aws.ec2.LaunchTemplateTagSpecificationArgs]:
    return [
        aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=resource, tags=tags)
        for resource in ("volume", "network-interface")
    ]
