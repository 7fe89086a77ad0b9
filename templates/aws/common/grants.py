"""Statements for what a task names: files, buckets, secrets, images, logs."""

import functools

import pulumi
import pulumi_aws as aws

from common import settings

Statement = dict[str, object]


@functools.cache
def account_id() -> pulumi.Output[str]:
    return aws.get_caller_identity_output().account_id


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


def log_group(name: str) -> Statement:
    """Write streams of one log group of CloudWatch, and make it where it is not there."""
    group = pulumi.Output.concat(
        f"arn:{settings.PARTITION}:logs:{settings.REGION}:",
        account_id(),
        f":log-group:{name}",
    )
    return {
        "Effect": "Allow",
        "Action": [
            "logs:CreateLogGroup",
            "logs:CreateLogStream",
            "logs:DescribeLogStreams",
            "logs:PutLogEvents",
            "logs:PutRetentionPolicy",
        ],
        "Resource": [group, pulumi.Output.concat(group, ":*")],
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
