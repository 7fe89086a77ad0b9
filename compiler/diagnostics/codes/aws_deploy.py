"""Codes for what AWS, or Pulumi's provider for it, refuses when a plan is made."""

from compiler.diagnostics.code import Code, Severity

REFUSED = Code(
    "aws-refused",
    Severity.ERROR,
    "AWS, or Pulumi's provider for it, refuses what the plan would make.",
    "The preview asked before anything was changed; the words are the provider's own.",
    "Change what it names in the task or in the stack's target.",
    example="targets: {us-east-1: {kind: aws, deployer: pulumi, vpc: vpc-of-another-region}}",
)
