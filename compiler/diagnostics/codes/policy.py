"""Codes for the rules of a stack's `policy`."""

from compiler.diagnostics.code import Code, Severity

_NAMED = (
    " If it is right all the same, name the rule with `--override-policy RULE`: "
    "the plan records it."
)

POLICY_ACCELERATORS = Code(
    "policy-accelerators",
    Severity.ERROR,
    "A task asks for more accelerators than the stack's policy allows for one.",
    "The limit is counted over all nodes and all replicas.",
    f"Ask for fewer accelerators or nodes.{_NAMED}",
    example="policy: {max_accelerators: 64}  # the task: H100:8 on 16 nodes",
)
POLICY_ACCELERATORS_PER_PLAN = Code(
    "policy-accelerators-per-plan",
    Severity.ERROR,
    "A plan would start more accelerators than the stack's policy allows for one plan.",
    "Each task may be fine, and all of them together too much for one review.",
    f"Plan some of the tasks with `--work`.{_NAMED}",
    example="policy: {max_accelerators_per_plan: 128}",
)
POLICY_INFRA = Code(
    "policy-infra",
    Severity.ERROR,
    "A task would go to a place that the stack's policy does not allow.",
    "The stack can reach more places than its tasks may use.",
    f"Choose an `infra` that the policy allows.{_NAMED}",
    example='policy: {allowed_infra: ["k8s/*"]}  # the task: infra: slurm/alpha',
)
POLICY_IMAGE = Code(
    "policy-image",
    Severity.ERROR,
    "A task uses an image that the stack's policy does not allow, or one from another registry.",
    "What runs in a container comes from its image.",
    f"Use an image that the policy allows.{_NAMED}",
    example="policy: {allowed_registries: [registry.example.com]}",
)
POLICY_LABEL = Code(
    "policy-label",
    Severity.ERROR,
    "A task lacks a label that the stack's policy requires.",
    "Costs and owners are found by labels.",
    f"Add the label under `resources.labels`.{_NAMED}",
    example="policy: {required_labels: [team]}",
)
POLICY_SPOT = Code(
    "policy-spot",
    Severity.ERROR,
    "A task uses spot capacity that the stack's policy forbids, or does not where it is a duty.",
    "Spot capacity is cheaper and can be taken away at any moment.",
    f"Set `resources.use_spot` as the policy wants it.{_NAMED}",
    example="policy: {spot: forbidden}",
)
POLICY_COST = Code(
    "policy-cost",
    Severity.ERROR,
    "A task costs more an hour than the stack's policy allows for one, or nobody knows how much.",
    "The price comes from the stack's `pricing`, else from the catalogue.",
    f"Ask for less, or price the target under `pricing`.{_NAMED}",
    example="policy: {max_hourly_cost: 100}",
)
POLICY_COST_PER_PLAN = Code(
    "policy-cost-per-plan",
    Severity.ERROR,
    "What a plan would start costs more an hour than the stack's policy allows for one plan.",
    "Each task may be fine, and all of them together too dear for one review.",
    f"Plan some of the tasks with `--work`.{_NAMED}",
    example="policy: {max_hourly_cost_per_plan: 500}",
)
POLICY_POD_CONFIG = Code(
    "policy-pod-config",
    Severity.ERROR,
    "A task's `pod_config` sets a field that the stack's policy keeps to itself.",
    "`pod_config` reaches every field of a pod, those that matter for security too.",
    f"Leave the field out.{_NAMED}",
    example="policy: {forbidden_pod_config: [spec.hostNetwork]}",
)
POLICY_PLUGIN = Code(
    "policy-plugin",
    Severity.ERROR,
    "A policy plug-in that the stack names objects to the plan.",
    "Its rules are the organisation's own; the message is the plug-in's.",
    f"Do what the message says.{_NAMED}",
    example="policy: {plugins: {quotas: {}}}",
)
POLICY_PLUGIN_FAILED = Code(
    "policy-plugin-failed",
    Severity.ERROR,
    "A policy plug-in that the stack names is not installed, or failed.",
    "A rule that cannot be asked has not been kept.",
    "Install the plug-in where triplane runs, or repair it. To go on without it, name it with "
    "`--override-policy`: the plan records it.",
    example="policy: {plugins: {quotas: {}}}  # nothing installed offers `quotas`",
)
