"""`ports`: how they are reached from outside, as `config.kubernetes.ports` says.

Traffic goes to rank 0, which SkyPilot's own balancer does not see to. `podip` makes nothing:
the pods' addresses are what there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.model import TargetSpec
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.metadata import JOB_NAME, Names
from compiler.targets.kubernetes.settings import Settings

_RANK = "batch.kubernetes.io/job-completion-index"
# CoreWeave's balancers are private unless they are told otherwise.
_COREWEAVE_PUBLIC = {"service.beta.kubernetes.io/coreweave-load-balancer-type": "public"}
_NGINX = {
    "nginx.ingress.kubernetes.io/use-regex": "true",
    "nginx.ingress.kubernetes.io/rewrite-target": "/$2",
}
_MOST_PORTS = 100


def port_numbers(ports: tuple[str, ...]) -> list[int]:
    """Every single port of `8080` and `8000-8010`, in order."""
    numbers: list[int] = []
    for text in ports:
        first, _, last = text.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def port_faults(job: Job) -> Iterator[Diagnostic]:
    """More ports than a Service should have."""
    count = len(port_numbers(job.resources.ports))
    if count > _MOST_PORTS:
        yield codes.PORTS_TOO_MANY.at(
            job.resources.origin_of("ports").span(),
            f"{count} ports cannot be opened one by one",
            expected=f"at most {_MOST_PORTS}",
            hint="`ports: podip` under `config.kubernetes` leaves them to the pods' own addresses",
            target=job.target.key,
        )


def ports(job: Job, settings: Settings, names: Names) -> Addition:
    """The objects that open the ports of a task that ends; a service has its own."""
    numbers = port_numbers(job.resources.ports)
    if not numbers or len(numbers) > _MOST_PORTS or not job.ends:
        return NOTHING
    selector = {JOB_NAME: names.job, _RANK: "0"}
    return Addition(manifests=exposed(job, settings, f"{job.name}-ports", selector, numbers))


def exposed(
    job: Job,
    settings: Settings,
    name: str,
    selector: Mapping[str, str],
    numbers: list[int],
    *,
    inside: bool = False,
) -> tuple[Manifest, ...]:
    """A Service of `name` in front of the pods with these labels, and its Ingress if that is
    the way. For `podip` nothing, or with `inside` a Service for the cluster alone."""
    if settings.ports == "podip" and not inside:
        return ()
    balanced = settings.ports == "loadbalancer"
    annotations = _COREWEAVE_PUBLIC if balanced and settings.scheme == "coreweave" else {}
    service: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata.object_metadata(job, settings, name, annotations=annotations),
        "spec": {
            "type": "LoadBalancer" if balanced else "ClusterIP",
            "selector": dict(selector),
            "ports": [
                {"name": f"port-{number}", "port": number, "targetPort": number}
                for number in numbers
            ],
        },
    }
    found = [Manifest("service-ports.yaml", "service.yaml.j2", service)]
    if settings.ports == "ingress":
        found.append(_ingress(job, settings, name, numbers))
    return tuple(found)


def certificate(target: TargetSpec) -> str | None:
    """The Secret with the certificate of the target's ingress; None where TLS ends nowhere."""
    return _ingress_option(target, "tls_secret")


def _ingress_option(target: TargetSpec, key: str) -> str | None:
    option = target.options.get("ingress")
    value = option.get(key) if isinstance(option, Mapping) else None
    return str(value) if value else None


def _ingress(job: Job, settings: Settings, name: str, numbers: list[int]) -> Manifest:
    """One path a port, rewritten to what the port itself serves."""
    where = f"/triplane/{settings.namespace}" if settings.namespace else "/triplane"
    paths = [
        {
            "path": f"{where}/{job.name}/{number}(/|$)(.*)",
            "pathType": "ImplementationSpecific",
            "backend": {"service": {"name": name, "port": {"number": number}}},
        }
        for number in numbers
    ]
    host, secret = _ingress_option(job.target, "host"), certificate(job.target)
    at_host = {"host": host} if host else {}
    spec: dict[str, object] = {
        "ingressClassName": "nginx",
        "rules": [{**at_host, "http": {"paths": paths}}],
    }
    if secret is not None:
        spec["tls"] = [{**({"hosts": [host]} if host else {}), "secretName": secret}]
    body: dict[str, object] = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata.object_metadata(job, settings, name, annotations=_NGINX),
        "spec": spec,
    }
    return Manifest("ingress.yaml", "object.yaml.j2", body)
