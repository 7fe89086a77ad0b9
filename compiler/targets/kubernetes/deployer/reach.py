"""Who we are on a cluster, and what we may do there."""

from __future__ import annotations

from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.refusals import ApiRefused

# What an apply needs in the namespace: (group, resource, verbs). docs/rbac has the same.
FOR_APPLY: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("", "configmaps", ("get", "list", "create", "patch", "delete")),
    ("", "services", ("get", "list", "create", "patch", "delete")),
    ("", "secrets", ("get", "create", "patch", "delete")),
    ("", "pods", ("list",)),
    ("", "pods/log", ("get",)),
    ("batch", "jobs", ("get", "list", "create", "patch", "delete")),
    ("coordination.k8s.io", "leases", ("get", "create", "delete")),
)


def describe(cluster: Cluster) -> str:
    """Version, user, namespace, and what is missing for an apply."""
    version = cluster.client.version()
    missing = _missing(cluster)
    words = "may apply" if not missing else f"may not {', '.join(missing)}"
    return f"Kubernetes {version}, {_user(cluster)}, namespace {cluster.home}, {words}"


def _user(cluster: Cluster) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = cluster.client.call(
            "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body
        )
    except ApiRefused as error:
        if error.status in (403, 404):
            return "an unknown user"
        raise
    return str(answer.get("status", {}).get("userInfo", {}).get("username", "?"))


def _missing(cluster: Cluster) -> list[str]:
    """`patch jobs.batch` and so on, by asking the server for each."""
    missing = []
    for group, resource, verbs in FOR_APPLY:
        name, _, sub = resource.partition("/")
        for verb in verbs:
            attributes = {
                "namespace": cluster.home,
                "verb": verb,
                "group": group,
                "resource": name,
                "subresource": sub,
            }
            answer = cluster.client.call(
                "POST",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": attributes},
                },
            )
            if not answer.get("status", {}).get("allowed"):
                missing.append(f"{verb} {resource}" + (f".{group}" if group else ""))
    return missing
