"""`infra: cloud/region/zone`, and the older spelling in three keys."""

from __future__ import annotations

from functools import lru_cache

from compiler.model.builder import Malformed, shown
from compiler.model.resources import Infra

CLOUDS = (
    "aws",
    "azure",
    "gcp",
    "ibm",
    "lambda",
    "scp",
    "oci",
    "kubernetes",
    "runpod",
    "vast",
    "vsphere",
    "cudo",
    "fluidstack",
    "paperspace",
    "primeintellect",
    "do",
    "nebius",
    "ssh",
    "slurm",
    "hyperbolic",
    "seeweb",
    "shadeform",
    "yotta",
    "mithril",
    "verda",
)
"""Every cloud that the dialect knows, whether or not triplane can go there."""

_known = frozenset(CLOUDS)
_ALIASES = {"k8s": "kubernetes"}
_WHOLE_REST = frozenset({"kubernetes"})
_GRAMMAR = "`cloud`, `cloud/region` or `cloud/region/zone`, with `*` for any"


def parse_cloud(value: object) -> str:
    """The lower-case name of a cloud."""
    name = value.lower() if isinstance(value, str) else ""
    name = _ALIASES.get(name, name)
    if name in _known:
        return name
    from compiler.source.suggestions import suggest

    near = suggest(name, (*CLOUDS, *_ALIASES))
    raise Malformed(
        f"unknown cloud {shown(value)}",
        expected="kubernetes (k8s), slurm, aws, or another cloud of the dialect",
        hint=f"did you mean `{near}`?" if near else None,
    )


@lru_cache(maxsize=1024)
def parse_infra(text: str) -> Infra:
    """The parts of an infra text; on Kubernetes all after the first slash is the context."""
    first, slash, rest = (part.strip() for part in text.partition("/"))
    cloud = None if first == "*" else parse_cloud(first)
    if not slash:
        return Infra(cloud)
    parts = [rest] if cloud in _WHOLE_REST else [part.strip() for part in rest.split("/")]
    if not all(parts) or rest.endswith("/"):
        raise Malformed(f"{shown(text)} has an empty part", expected=_GRAMMAR)
    if len(parts) > 2:
        raise Malformed(f"{shown(text)} has more than three parts", expected=_GRAMMAR)
    region = None if parts[0] == "*" else parts[0]
    zone = None if len(parts) < 2 or parts[1] == "*" else parts[1]
    return Infra(cloud, region, zone)
