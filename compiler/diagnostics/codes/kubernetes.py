"""Codes about Kubernetes: what cannot be said in a manifest, and what a server would refuse."""

from compiler.diagnostics.code import Code, Severity

UNKNOWN_FIELD = Code(
    "manifest-unknown-field",
    Severity.ERROR,
    "A manifest has a field that this version of Kubernetes does not know.",
    "A server drops unknown fields, so what they were meant to do would silently not happen.",
    "Correct the name, or set the target's `version` if the cluster is newer.",
    example="config: {kubernetes: {pod_config: {spec: {nodeSelectors: {pool: a}}}}}",
)
MISSING_FIELD = Code(
    "manifest-missing-field",
    Severity.ERROR,
    "A manifest lacks a field that Kubernetes requires there.",
    "The server would refuse the object.",
    "Add the field.",
    example="config: {kubernetes: {pod_config: {spec: {volumes: [{emptyDir: {}}]}}}}",
)
WRONG_TYPE = Code(
    "manifest-wrong-type",
    Severity.ERROR,
    "A value in a manifest is of another type than Kubernetes takes there.",
    "The server would refuse the object; an unquoted `true` or `1` is the usual reason.",
    "Write a value of the type that is expected; quote what has to be text.",
    example="config: {kubernetes: {pod_config: {metadata: {labels: {gpu: true}}}}}",
)
BAD_VALUE = Code(
    "manifest-bad-value",
    Severity.ERROR,
    "A value in a manifest is of the right type, but Kubernetes does not take it there.",
    "The server would refuse the object, or never run it.",
    "Write one of the values that are expected.",
    example="config: {kubernetes: {pod_config: {spec: {dnsPolicy: clusterfirst}}}}",
)
DUPLICATE = Code(
    "manifest-duplicate",
    Severity.ERROR,
    "Two entries of a list in a manifest have the same key.",
    "Kubernetes tells the entries of such a list apart by that key alone.",
    "Remove one of them, or give it another key.",
    example="two volumeMounts with mountPath: /data",
)
UNREADABLE = Code(
    "manifest-unreadable",
    Severity.ERROR,
    "A rendered manifest cannot be read back as one YAML document.",
    "That is a fault of triplane's.",
    "Report it with the task file.",
)
VERSION_UNKNOWN = Code(
    "kubernetes-version-unknown",
    Severity.WARNING,
    "There are no schemas for the Kubernetes version of the target.",
    "Manifests are checked against the nearest version that is known.",
    "Correct `version` of the target, or update triplane.",
    example="targets: {prod: {kind: kubernetes, version: '1.99'}}",
)
NAME_TOO_LONG = Code(
    "kubernetes-name-too-long",
    Severity.ERROR,
    "A name that is derived from the task's name is too long for Kubernetes.",
    "Names of services and hosts hold at most 63 characters; the Job would never get its pods.",
    "Give the task or the set a shorter name.",
)
LABEL_RESERVED = Code(
    "kubernetes-label-reserved",
    Severity.ERROR,
    "A label has a key that triplane sets itself.",
    "The label tells which objects belong together; with another value ranks lose each other.",
    "Use another key.",
    example="resources: {labels: {triplane.dev/set: mine}}",
)
ACCELERATOR_UNSELECTABLE = Code(
    "kubernetes-accelerator-unselectable",
    Severity.ERROR,
    "The cluster's node labels cannot tell which nodes have the accelerator.",
    "Without a label the pod could get any accelerator of the same maker.",
    "Set `labels` of the target to the way its nodes are labelled, or label the nodes with "
    "`skypilot.co/accelerator` and set `labels: skypilot`.",
    example="targets: {prod: {kind: kubernetes, labels: coreweave}}  # and a TPU",
)
QUEUE_MISSING = Code(
    "kubernetes-queue-missing",
    Severity.ERROR,
    "The target uses Kueue, but nothing names the LocalQueue.",
    "Kueue admits work by its queue; without one the Job would start unqueued or never.",
    "Name the queue: `queue: {kind: kueue, name: ...}`, or `config.kubernetes.kueue`.",
    example="targets: {prod: {kind: kubernetes, queue: kueue}}",
)
FILES_TOO_LARGE = Code(
    "kubernetes-files-too-large",
    Severity.ERROR,
    "The files that the task brings along do not fit into a ConfigMap.",
    "On Kubernetes they travel in an immutable ConfigMap of at most 512 KiB compressed.",
    "Set `files` of the target: `{git: ...}` or, where triplane applies, `{bucket: ...}` or "
    "`{volume: ...}`. Or leave files out with `.skyignore`, use a git `workdir`, or put data into "
    "the image.",
)
FILES_NOT_COMMITTED = Code(
    "kubernetes-files-not-committed",
    Severity.ERROR,
    "Files that pods would clone from git are not what is committed.",
    "The clone has what was committed and pushed, and nothing else of the folder.",
    "Commit and push the folder, or leave files out with `.skyignore`.",
    example="targets: {prod: {kind: kubernetes, files: {git: https://example.com/repo.git}}}",
)
FILES_UNREADABLE = Code(
    "kubernetes-files-unreadable",
    Severity.ERROR,
    "A file that the task brings along cannot be read.",
    "It has to be put into the rendered ConfigMap.",
    "Check that the file exists and may be read.",
)
SECRET_SOURCE = Code(
    "kubernetes-secret-source",
    Severity.ERROR,
    "The stack takes a secret from a place that pods cannot reach.",
    "On Kubernetes a secret is an existing Secret or comes through the External Secrets operator.",
    "Use `secret: name/key` or `external_secret: store/key` for this target.",
    example="secrets: {HF_TOKEN: {prod: {file: ~/.hf}}}",
)
TEXT_NOT_RENDERABLE = Code(
    "kubernetes-text-not-renderable",
    Severity.ERROR,
    "A text holds a NUL character or half of a surrogate pair.",
    "Neither a manifest nor a shell can hold it.",
    "Remove the character, or encode the text (base64) and decode it in `run`.",
    example='envs: {A: "\\0"}',
)
POD_CONFIG_CLASH = Code(
    "kubernetes-pod-config-clash",
    Severity.ERROR,
    "`pod_config` has a map where the pod has a list, or the other way round.",
    "The two cannot be merged.",
    "Write the value in the form that Kubernetes has there.",
    example="config: {kubernetes: {pod_config: {spec: {containers: {env: []}}}}}",
)
POD_CONFIG_PROTECTED = Code(
    "kubernetes-pod-config-protected",
    Severity.ERROR,
    "`pod_config` changes a part of the pod that the task depends on.",
    "The launcher, the ranks' host names and the setup barrier stand on these fields.",
    "Leave the field out; commands belong into `setup` and `run`.",
    example="config: {kubernetes: {pod_config: {spec: {hostname: head}}}}",
)
