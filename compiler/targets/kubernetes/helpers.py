"""What every container beside the task's has: what the namespace asks of any container.

A quota refuses a pod of which one container requests nothing, a range of limits fills in its own,
and a namespace of the restricted level looks at all containers alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.targets.kubernetes.pod_security import RESTRICTED_CONTEXT
from compiler.targets.kubernetes.requests import NodeRequest, cpu_quantity, memory_quantity

# Where a helper does not say what it needs itself: vCPUs, GiB.
_CPUS, _MEMORY = 0.1, 0.25


def helper(
    container: Mapping[str, object],
    task: NodeRequest,
    limits: float | None,
    *,
    restricted: bool,
) -> dict[str, object]:
    """A container with requests and with what the level `restricted` wants of its security context.

    `limits` is the factor from requests to limits (None: no limits); what the task may use, a
    helper may use, too.
    """
    given = container.get("resources")
    resources: dict[str, object] = dict(given) if isinstance(given, Mapping) else {}
    most = NodeRequest(task.cpus * (limits or 1), task.memory * (limits or 1), None)
    resources.setdefault(
        "requests",
        {
            "cpu": cpu_quantity(min(_CPUS, most.cpus)),
            "memory": memory_quantity(min(_MEMORY, most.memory)),
        },
    )
    if limits is not None:
        resources["limits"] = {
            "cpu": cpu_quantity(most.cpus),
            "memory": memory_quantity(most.memory),
        }
    made: dict[str, object] = {
        **container,
        "resources": resources,
        # its logs are nobody's to read: what it said last is why the pod failed
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    context = container.get("securityContext")
    own = context if isinstance(context, Mapping) else {}
    # the server takes no privileged container that may not gain privileges
    if restricted and not own.get("privileged"):
        made["securityContext"] = {**RESTRICTED_CONTEXT, **own}
    return made
