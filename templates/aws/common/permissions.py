"""What the nodes of a run may do: their own folder in the bucket, and what is listed."""

import json

import pulumi
import pulumi_aws as aws

from common import settings

Statement = dict[str, object]


def instance_profile(
    parent: pulumi.Resource,
    name: str,
    run: str,
    tags: dict[str, str],
    statements: list[Statement] | None = None,
) -> aws.iam.InstanceProfile:
    role = aws.iam.Role(
        name,
        description=f"Nodes of {name}",
        assume_role_policy=json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": "sts:AssumeRole",
                        "Principal": {"Service": "ec2.amazonaws.com"},
                    },
                ],
            }
        ),
        tags=tags,
        opts=pulumi.ResourceOptions(parent=parent),
    )
    policy = aws.iam.RolePolicy(
        name,
        role=role.id,
        policy=pulumi.Output.json_dumps(
            {
                "Version": "2012-10-17",
                "Statement": [
                    *run_folder(run),
                    session_manager(),
                    *(statements or []),
                ],
            }
        ),
        opts=pulumi.ResourceOptions(parent=parent),
    )
    return aws.iam.InstanceProfile(
        name,
        role=role.name,
        tags=tags,
        opts=pulumi.ResourceOptions(parent=parent, depends_on=[policy]),
    )


def run_folder(run: str) -> list[Statement]:
    """Read the run's scripts, read and write its state, write its logs and outcome."""
    bucket = f"arn:{settings.PARTITION}:s3:::{settings.BUCKET}"
    folder = f"{settings.RUNS}/{run}"
    return [
        {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": [
                f"{bucket}/{folder}/scripts/*",
                f"{bucket}/{folder}/state/*",
            ],
        },
        {
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": [
                f"{bucket}/{folder}/state/*",
                f"{bucket}/{folder}/logs/*",
                f"{bucket}/{folder}/outcome.json",
            ],
        },
        {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": bucket,
            "Condition": {
                "StringLike": {
                    "s3:prefix": [f"{folder}/scripts/*", f"{folder}/state/*"],
                },
            },
        },
    ]


def session_manager() -> Statement:
    """Sessions in place of SSH; these actions know no narrower resource."""
    return {
        "Effect": "Allow",
        "Action": [
            "ssm:UpdateInstanceInformation",
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ],
        "Resource": "*",
    }
