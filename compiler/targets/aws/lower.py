"""A job as plain data: which resources of AWS it becomes, and with which settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.catalog import InstanceType, NoChoice, family
from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import aws as codes
from compiler.model import Autostop, names
from compiler.targets.aws.buckets import bucket_uses, statements_of
from compiler.targets.aws.capacity import Reservation, doubts, reservation_of
from compiler.targets.aws.images import MachineImage, choose_image
from compiler.targets.aws.instances import Efa, efa_of, select_instance, wants_efa
from compiler.targets.aws.labels import label_faults
from compiler.targets.aws.limits import policy_faults, tag_faults
from compiler.targets.aws.mounting import (
    MountedVolume,
    mount_faults,
    mounted_volumes,
    zone_of_volumes,
)
from compiler.targets.aws.options import AwsOptions, options_of
from compiler.targets.aws.scripts import SecretReference, secret_references
from compiler.targets.aws.volumes import module_of
from compiler.targets.interface import Job

_DEFAULT_DISK_GIB = 256
_IAM_NAME_LIMIT = 56  # 64 less what Pulumi puts behind a name
_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?"
    r"/(?P<repository>[^:@]+)"
)


@dataclass(frozen=True, slots=True)
class Disk:
    """The root volume: `size` in GiB, `throughput` in MiB/s (gp3 only)."""

    size: int
    type: str
    iops: int
    throughput: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Everything that the program's module of one run says.

    `run_key` is the run's folder in the bucket; `ends` is False for a task without `run`,
    whose nodes are kept, if `idle` is given until nobody was on them for so long.
    `statements` are calls of the program's grants module: (function, arguments).
    """

    name: str
    module: str
    run_key: str
    nodes: int
    ends: bool
    idle: Autostop | None
    instance: InstanceType
    image: MachineImage
    disk: Disk
    efa: Efa | None
    placement_group: bool
    spot: bool
    reservation: Reservation | None
    volumes: tuple[MountedVolume, ...]
    zone: str | None
    ports: tuple[tuple[int, int], ...]
    tags: Mapping[str, str]
    iam_name: str
    statements: tuple[tuple[str, tuple[str, ...]], ...]
    secrets: tuple[SecretReference, ...] = field(repr=False)
    options: AwsOptions


def lower(job: Job, diagnostics: Diagnostics) -> Workload | None:
    """The job's data; None, with errors in `diagnostics`, where it cannot be had."""
    options = options_of(job.target, job.stack)
    resources, target = job.resources, job.target.key
    chosen = select_instance(resources, job.target)
    if isinstance(chosen, NoChoice):
        diagnostics.add(chosen.at(resources, target))
        return None
    instance = chosen.instance
    image = choose_image(resources, instance, options)
    if isinstance(image, NoChoice):
        diagnostics.add(image.at(resources, target))
        return None
    secrets = secret_references(job, diagnostics)
    tags = _tags(job, diagnostics)
    efa = efa_of(instance) if wants_efa(resources) else None
    if efa is not None and not options.subnets:
        diagnostics.add(
            codes.EFA_NO_ADDRESS.at(
                resources.origin_of("network_tier").span(),
                f"nodes of type {instance.name} with EFA get no public address",
                hint=f"name private `subnets` in target `{target}`",
                target=target,
            )
        )
    reservation = reservation_of(resources, instance, options)
    packed = job.task.num_nodes > 1 and (efa is not None or instance.accelerator is not None)
    diagnostics.extend(doubts(resources, reservation, options, job.target, packed=packed))
    zone = (reservation.zone if reservation else None) or resources.infra.zone
    diagnostics.extend(mount_faults(job, zone))
    volumes = mounted_volumes(job)
    labels = {**options.tags, **resources.labels}
    diagnostics.extend(tag_faults(labels, len(volumes), resources, job.target))
    statements = tuple(_statements(job, secrets))
    runs = f"{options.bucket}/{options.runs_prefix(job.stack.set_name, job.target.key)}"
    diagnostics.extend(policy_faults(statements, f"{runs}/{job.work}", job.task, job.target))
    return Workload(
        name=job.name,
        module=module_of(job.name),
        run_key=f"{job.work}.{job.run}",
        nodes=job.task.num_nodes,
        ends=job.task.run is not None,
        idle=resources.autostop if job.task.run is None else None,
        instance=instance,
        image=image,
        disk=disk_of(resources.disk_size, resources.disk_tier),
        efa=efa,
        # AWS places a reservation's instances itself, or in the group that it was made in.
        placement_group=packed and reservation is None,
        spot=resources.use_spot,
        reservation=reservation,
        volumes=volumes,
        zone=zone or zone_of_volumes(job),
        ports=tuple(_port_range(text) for text in resources.ports),
        tags=tags,
        iam_name=names.cut(job.name, _IAM_NAME_LIMIT),
        statements=statements,
        secrets=secrets,
        options=options,
    )


def disk_of(size: int | None, tier: str | None) -> Disk:
    """The volume of a disk tier. Throughput is a sixteenth of the IOPS, as SkyPilot has it."""
    gib = size or _DEFAULT_DISK_GIB
    match (tier or "medium").lower():
        case "low":
            return Disk(gib, "gp3", 3000, 125)
        case "high":
            return Disk(gib, "gp3", 7000, 437)
        case "ultra" | "best":
            return Disk(gib, "io2", 20000, None)
    return Disk(gib, "gp3", 3500, 218)


def accelerator_family(instance: InstanceType) -> str:
    """`nvidia`, `neuron`, ... or an empty text for a type without accelerators."""
    found = family(instance.accelerator) if instance.accelerator else None
    return found.value if found else ""


def _port_range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def _tags(job: Job, diagnostics: Diagnostics) -> dict[str, str]:
    """The task's labels as tags, behind those that say whose the instance is."""
    origin = job.resources.origin_of("labels")
    diagnostics.extend(label_faults(job.resources.labels, origin, job.target))
    own = {"triplane:work": job.work, "triplane:run": str(job.run)}
    return own | dict(job.resources.labels)


def _statements(job: Job, secrets: tuple[SecretReference, ...]):
    for tree in job.trees:
        if tree.local is not None:
            yield "archive", (tree.digest,)
    for secret in secrets:
        yield ("parameter" if secret.kind == "ssm" else "secret"), (secret.reference,)
    yield from statements_of(bucket_uses(job.task))
    if group := options_of(job.target, job.stack).log_group:
        yield "log_group", (group,)
    image = job.resources.image
    private = _ECR.match(image.docker) if image and image.docker else None
    if private:
        yield "registry_login", ()
        yield "registry", (private["account"], private["region"], private["repository"])
