"""What the nodes of a run may do: their own folder in the bucket, and what is listed."""

import functools
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


@functools.cache
def account_id() -> pulumi.Output[str]:
    return aws.get_caller_identity_output().account_id


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


def archive(digest: str) -> Statement:
    """Read one work folder."""
    bucket = f"arn:{settings.PARTITION}:s3:::{settings.BUCKET}"
    return {
        "Effect": "Allow",
        "Action": "s3:GetObject",
        "Resource": f"{bucket}/{settings.FILES}/{digest}.tar.gz",
    }


def list_bucket(name: str, prefix: str = "") -> Statement:
    """See what a bucket has below a prefix."""
    statement: Statement = {
        "Effect": "Allow",
        "Action": "s3:ListBucket",
        "Resource": f"arn:{settings.PARTITION}:s3:::{name}",
    }
    if prefix:
        statement["Condition"] = {"StringLike": {"s3:prefix": [prefix, f"{prefix}*"]}}
    return statement


def read_objects(name: str, prefix: str = "") -> Statement:
    return {
        "Effect": "Allow",
        "Action": "s3:GetObject",
        "Resource": f"arn:{settings.PARTITION}:s3:::{name}/{prefix}*",
    }


def write_objects(name: str, prefix: str = "") -> Statement:
    """Read, write and delete objects, in parts where they are large."""
    return {
        "Effect": "Allow",
        "Action": [
            "s3:AbortMultipartUpload",
            "s3:DeleteObject",
            "s3:GetObject",
            "s3:PutObject",
        ],
        "Resource": f"arn:{settings.PARTITION}:s3:::{name}/{prefix}*",
    }


def parameter(name: str) -> Statement:
    """Read one parameter of Systems Manager."""
    return {
        "Effect": "Allow",
        "Action": "ssm:GetParameter",
        "Resource": pulumi.Output.concat(
            f"arn:{settings.PARTITION}:ssm:{settings.REGION}:",
            account_id(),
            f":parameter/{name.removeprefix('/')}",
        ),
    }


def secret(reference: str) -> Statement:
    """Read one secret of Secrets Manager, by name or ARN."""
    arn: pulumi.Input[str] = reference
    if not reference.startswith("arn:"):
        arn = pulumi.Output.concat(
            f"arn:{settings.PARTITION}:secretsmanager:{settings.REGION}:",
            account_id(),
            # AWS puts a dash and six characters behind the name.
            f":secret:{reference}-??????",
        )
    return {
        "Effect": "Allow",
        "Action": "secretsmanager:GetSecretValue",
        "Resource": arn,
    }


def registry_login() -> Statement:
    return {
        "Effect": "Allow",
        "Action": "ecr:GetAuthorizationToken",
        "Resource": "*",
    }


def registry(account: str, region: str, repository: str) -> Statement:
    """Pull the images of one private repository."""
    return {
        "Effect": "Allow",
        "Action": [
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetDownloadUrlForLayer",
        ],
        "Resource": f"arn:{settings.PARTITION}:ecr:{region}:{account}:repository/{repository}",
    }
