"""The half of the AWS target that touches the world: Pulumi for resources, S3 for records."""

from compiler.targets.aws.deployer.deployer import AwsDeployer

__all__ = ["AwsDeployer"]
