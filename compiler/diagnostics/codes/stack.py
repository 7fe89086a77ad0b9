"""Codes for stack files."""

from compiler.diagnostics.code import Code, Severity

SET_NAME = Code(
    "set-name",
    Severity.ERROR,
    "The stack's set has no name.",
    "Every object that an apply makes is named after it.",
    "Add `set: {name: ...}`.",
)
NO_TARGETS = Code(
    "no-targets",
    Severity.ERROR,
    "The stack has no targets.",
    "Work could go nowhere.",
    "Add at least one entry under `targets`.",
)
TARGET_KIND = Code(
    "target-kind",
    Severity.ERROR,
    "A target is of no known kind.",
    "Its kind says what can be rendered for it.",
    "Write `kind: kubernetes`, `kind: slurm` or `kind: aws`.",
    example="targets: {prod: {kind: k8s}}",
)
DEPLOYER_KIND = Code(
    "deployer-kind",
    Severity.ERROR,
    "A deployer does not fit the kind of its target.",
    "Each kind of target has its own ways to be changed.",
    "Use a deployer that the message names; without one the files are written to a directory.",
    example="targets: {alpha: {kind: slurm, deployer: pulumi}}",
)
UNKNOWN_TARGET = Code(
    "unknown-target",
    Severity.ERROR,
    "A part of the stack is about a target that the stack does not have.",
    "It would hold for nothing.",
    "Use the key of a target, or add the target.",
    example="pricing: {alhpa: {H100: 2.5}}  # the target is alpha",
)
SECRET_SOURCE = Code(
    "secret-source",
    Severity.ERROR,
    "A secret is said to be where this kind of target cannot read it.",
    "The task would start without it.",
    "Use secret or external_secret on Kubernetes, file on Slurm, ssm or secrets_manager on AWS.",
    example="secrets: {HF_TOKEN: {alpha: {ssm: /hf}}}  # alpha is a Slurm cluster",
)
WORKSPACE_KEY = Code(
    "workspace-key",
    Severity.ERROR,
    "A workspace sets something that this kind of target does not have.",
    "It would hold for nothing.",
    "Use a key that the message names.",
    example="workspaces: {research: {alpha: {namespace: x}}}  # alpha is a Slurm cluster",
)
UNKNOWN_WORKSPACE = Code(
    "unknown-workspace",
    Severity.ERROR,
    "The workspace that applies is described nowhere.",
    "Its namespaces and accounts would be missing.",
    "Describe it under `workspaces`, or name one that is.",
    example="workspace: reserch  # the workspace is research",
)
GITOPS_TTL = Code(
    "gitops-ttl",
    Severity.ERROR,
    "Jobs remove themselves in a stack that a GitOps controller applies.",
    "The controller would make them again, and the work would run twice.",
    "Leave out `ttl_seconds_after_finished`.",
)
