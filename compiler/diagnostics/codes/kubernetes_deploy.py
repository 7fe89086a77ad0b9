"""Codes for what a Kubernetes API server refuses when objects are planned or applied."""

from compiler.diagnostics.code import Code, Severity

FORBIDDEN = Code(
    "kubernetes-forbidden",
    Severity.ERROR,
    "The cluster does not let this user do this.",
    "The message names the verb and the resource; nothing was changed by the refused request.",
    "Bind the shipped role for plan or for apply (docs/rbac) to the user, or use another context.",
    example="deployer: server-side-apply  # as a user who may not patch jobs.batch",
)
CONFLICT = Code(
    "kubernetes-conflict",
    Severity.ERROR,
    "A field that would be applied is set by another manager.",
    "Taking it over silently would undo what somebody else decided.",
    "Let the other manager give the field up, or leave it out of the task.",
    example="resources: {labels: {team: ml}}  # and `kubectl label job/... team=infra`",
)
QUOTA = Code(
    "kubernetes-quota-refused",
    Severity.ERROR,
    "A ResourceQuota of the namespace has no room for the object.",
    "The object was not created.",
    "Ask for less, wait until other work has ended, or have the quota raised.",
    example="resources: {accelerators: H100:8}  # in a namespace with a quota of 4 GPUs",
)
DENIED = Code(
    "kubernetes-admission-denied",
    Severity.ERROR,
    "An admission webhook or policy of the cluster denied the object.",
    "The cluster's administrators made a rule that the object breaks; it was not created.",
    "Change the task so that it keeps the rule that the message names.",
    example="resources: {image_id: docker:ubuntu:latest}  # where a policy wants pinned images",
)
INVALID = Code(
    "kubernetes-object-invalid",
    Severity.ERROR,
    "The API server does not accept the object as it is.",
    "Nothing was created. The server validates strictly: an unknown field is an error.",
    "Correct the field, usually in `pod_config`, or set the target's `version` to the server's.",
    example="config: {kubernetes: {pod_config: {spec: {hostname: Not_A_Label}}}}",
)
OWNED = Code(
    "kubernetes-object-of-another",
    Severity.ERROR,
    "An object of this name exists and is not of this set.",
    "An apply never takes over what it did not make.",
    "Give the set or the task another name, or remove the object first.",
    example="set: {name: lab}  # where somebody has made a Job lab-train-1 by hand",
)
