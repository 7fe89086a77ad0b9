"""AWS: instances of a launch template, as a Pulumi project in Python."""

from compiler.targets.aws.target import AwsTarget

TARGET = AwsTarget()

__all__ = ["TARGET", "AwsTarget"]
