"""What the Pod Security level of a namespace would refuse of a pod (baseline and restricted).

The rules are those of the Pod Security Standards; only what a pod can break is here. Each is a
generator of (path in the pod's spec, what is wrong with it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.targets.kubernetes.scalars import Path

BASELINE, RESTRICTED = "baseline", "restricted"
Breach = tuple[Path, str]

# What containers have by default, and may ask for.
_CAPABILITIES = frozenset(
    (
        *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"),
        *("NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
    )
)
_RESTRICTED_VOLUMES = frozenset(
    (
        *("configMap", "downwardAPI", "emptyDir", "projected", "secret"),
        *("csi", "persistentVolumeClaim", "ephemeral", "image"),
    )
)
# What every image can do without; whether it can do without root is the user's to say.
RESTRICTED_CONTEXT: Mapping[str, object] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
_LISTS = ("initContainers", "containers", "ephemeralContainers")
_PROFILES = ("RuntimeDefault", "Localhost")


def breaches(pod: Mapping, level: str) -> Iterator[Breach]:
    """Everything for which a namespace of this level refuses a pod with this spec."""
    if level not in (BASELINE, RESTRICTED):
        return
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield (key,), f"`{key}` shares the node's own"
    for index, volume in enumerate(pod.get("volumes") or ()):
        if "hostPath" in volume:
            yield ("volumes", index), f"volume `{volume.get('name')}` is a folder of the node"
    for path, container in _containers(pod):
        yield from _baseline(path, container)
    if level == RESTRICTED:
        yield from _restricted(pod)


def _containers(pod: Mapping) -> Iterator[tuple[Path, Mapping]]:
    for field in _LISTS:
        for index, container in enumerate(pod.get(field) or ()):
            yield (field, index), container


def _baseline(path: Path, container: Mapping) -> Iterator[Breach]:
    context = container.get("securityContext") or {}
    name = container.get("name")
    if context.get("privileged"):
        yield (*path, "securityContext", "privileged"), f"container `{name}` is privileged"
    for capability in (context.get("capabilities") or {}).get("add") or ():
        if capability not in _CAPABILITIES:
            yield (
                (*path, "securityContext", "capabilities", "add"),
                f"container `{name}` adds the capability {capability}",
            )
    for index, port in enumerate(container.get("ports") or ()):
        if port.get("hostPort"):
            yield (*path, "ports", index, "hostPort"), f"container `{name}` takes a host's port"


def _restricted(pod: Mapping) -> Iterator[Breach]:
    of_pod = pod.get("securityContext") or {}
    for index, volume in enumerate(pod.get("volumes") or ()):
        others = set(volume) - {"name", "hostPath"} - _RESTRICTED_VOLUMES
        if others:
            yield ("volumes", index), f"a volume is of the kind {', '.join(sorted(others))}"
    own_users = pod.get("hostUsers") is False
    for path, container in _containers(pod):
        context = {**of_pod, **(container.get("securityContext") or {})}
        name = container.get("name")
        if context.get("allowPrivilegeEscalation") is not False:
            yield path, f"container `{name}` does not set `allowPrivilegeEscalation: false`"
        if "ALL" not in ((context.get("capabilities") or {}).get("drop") or ()):
            yield path, f"container `{name}` does not drop ALL capabilities"
        if (context.get("seccompProfile") or {}).get("type") not in _PROFILES:
            yield path, f"container `{name}` has no `seccompProfile: {{type: RuntimeDefault}}`"
        if not own_users and context.get("runAsNonRoot") is not True:
            yield path, f"container `{name}` does not set `runAsNonRoot: true`"
        if not own_users and context.get("runAsUser") == 0:
            yield (*path, "securityContext", "runAsUser"), f"container `{name}` runs as root"
