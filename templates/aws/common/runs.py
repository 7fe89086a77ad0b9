"""The scripts of a run: their place in the bucket, and the text that a node boots with."""

import base64
import pathlib

import pulumi
import pulumi_aws as aws

from common import settings

PROJECT = pathlib.Path(__file__).resolve().parent.parent


def upload_scripts(
    parent: pulumi.Resource,
    name: str,
    run: str,
) -> list[aws.s3.BucketObjectv2]:
    """Every file of `scripts/<name>`, as an object of the run's own folder."""
    return [
        aws.s3.BucketObjectv2(
            f"{name}-{path.name}",
            bucket=settings.BUCKET,
            key=f"{settings.RUNS}/{run}/scripts/{path.name}",
            # From bytes: reading as text would change line breaks, and so the digest.
            content=path.read_bytes().decode(),
            content_type="text/plain",
            opts=pulumi.ResourceOptions(parent=parent),
        )
        for path in sorted((PROJECT / "scripts" / name).iterdir())
    ]


def user_data(name: str) -> str:
    """The text of `user_data/<name>.sh`, as EC2 wants it."""
    text = (PROJECT / "user_data" / f"{name}.sh").read_bytes()
    return base64.b64encode(text).decode()
