"""The settings of an AWS target, from the stack's entry and its SkyPilot configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from compiler.model import Stack, TargetSpec


@dataclass(frozen=True, slots=True)
class Reserved:
    """A capacity reservation, with its zone and placement group where they are known."""

    id: str
    zone: str | None = None
    placement_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsOptions:
    """`bucket` is None where the target names none; `prefix` is empty or ends with a slash.

    `vpc` and `subnets` are ids or Name tags; `amis` maps a purpose (`gpu`, `cpu`, `p5`, ...)
    to an AMI id or an SSM parameter; `tags` go on everything. `log_group` is None where no
    output goes to CloudWatch, `log_days` -1 where it is kept for ever. `reservations` and
    `capacity_blocks` map instance types or families to capacity reservations.
    """

    region: str
    bucket: str | None
    prefix: str
    account: str | None
    profile: str | None
    vpc: str | None
    subnets: tuple[str, ...]
    amis: Mapping[str, str]
    tags: Mapping[str, str] = field(default_factory=dict)
    log_group: str | None = None
    log_days: int = -1
    reservations: Mapping[str, Reserved] = field(default_factory=dict)
    capacity_blocks: Mapping[str, Reserved] = field(default_factory=dict)

    @property
    def partition(self) -> str:
        """The part of AWS that the region is in, as ARNs name it."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    @property
    def files_prefix(self) -> str:
        """Where work folders lie in the bucket, by digest."""
        return f"{self.prefix}.triplane/files"

    def set_prefix(self, set_name: str) -> str:
        """Where everything of a set lies in the bucket."""
        return f"{self.prefix}.triplane/{set_name}"

    def runs_prefix(self, set_name: str, target: str) -> str:
        """Where the runs of a set on one target lie in the bucket."""
        return f"{self.set_prefix(set_name)}/runs/{target}"


def region_of(target: TargetSpec) -> str:
    return str(target.options.get("region") or target.key)


@lru_cache(maxsize=64)
def options_of(target: TargetSpec, stack: Stack | None = None) -> AwsOptions:
    """The target's own keys; what it leaves open comes from the stack's `config.aws`."""
    own = target.options
    config = stack.config.get("aws") if stack else None
    aws = config if isinstance(config, Mapping) else {}
    files = own.get("files")
    url = str(files.get("bucket", "")) if isinstance(files, Mapping) else ""
    bucket, _, prefix = url.removeprefix("s3://").strip("/").partition("/")
    vpc = own.get("vpc") or aws.get("vpc_name") or _first(aws.get("vpc_names"))
    labels, logs = aws.get("labels"), own.get("logs")
    kept = logs if isinstance(logs, Mapping) else {"group": logs}
    return AwsOptions(
        region=region_of(target),
        bucket=bucket or None,
        prefix=f"{prefix}/" if prefix else "",
        account=_text(own.get("account")),
        profile=_text(own.get("profile")),
        vpc=_text(vpc),
        subnets=_texts(own.get("subnets") or aws.get("subnet_names")),
        amis=_map(own.get("amis")),
        tags=_map(labels),
        log_group=_text(kept.get("group")),
        log_days=int(str(kept.get("retention_days") or -1)),
        reservations=_reserved(own.get("reservations")),
        capacity_blocks=_reserved(own.get("capacity_blocks")),
    )


def _map(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _reserved(value: object) -> dict[str, Reserved]:
    return {
        name: Reserved(**item) if isinstance(item, Mapping) else Reserved(str(item))
        for name, item in _map(value).items()
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(str(item) for item in value)
    return () if value is None else (str(value),)


def _first(value: object) -> object:
    return value[0] if isinstance(value, list | tuple) and value else value
