"""The texts of a program's modules, one for each run and each volume."""

from __future__ import annotations

from compiler.rendering.environment import render
from compiler.rendering.quoting import checked
from compiler.targets.aws.lower import Workload
from compiler.targets.aws.volumes import AwsVolume


def literal(text: str) -> str:
    """A Python string literal in ASCII, with the quotes that formatters prefer."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    body = checked(text).encode("unicode_escape").decode()
    return quote + body.replace(quote, f"\\{quote}") + quote


def run_module(workload: Workload) -> str:
    """The module of a run."""
    return render("aws/workload.py.j2", _values(workload))


def _values(workload: Workload) -> dict[str, object]:
    instance, efa = workload.instance, workload.efa
    parts = [f"{workload.nodes} x {instance.name}"]
    if instance.accelerator:
        parts.append(f"{instance.accelerator_count:g} {instance.accelerator} each")
    return {
        "lit": literal,
        "summary": f"{workload.name}: {', '.join(parts)}",
        "name": workload.name,
        "run": workload.run_key,
        "nodes": workload.nodes,
        "terminates": workload.ends or workload.idle is not None,
        "tags": list(workload.tags.items()),
        "ports": workload.ports,
        "iam_name": workload.iam_name,
        "statements": workload.statements,
        "placement_group": workload.placement_group,
        "image": workload.image,
        "instance_type": instance.name,
        "market": _market(workload),
        "reservation": workload.reservation,
        "packed_in": _packed_in(workload),
        "volumes": workload.volumes,
        "disks": [volume for volume in workload.volumes if volume.device],
        "groups": _groups(workload),
        "disk": workload.disk,
        "efa_cards": (efa.first, efa.end) if efa else None,
        "zone": workload.zone,
    }


def _market(workload: Workload) -> str | None:
    if workload.spot:
        return "spot"
    is_block = workload.reservation is not None and workload.reservation.is_block
    return "capacity-block" if is_block else None


def _packed_in(workload: Workload) -> str | None:
    """The placement group as the program writes it."""
    if workload.placement_group:
        return "placement.name"
    named = workload.reservation.placement_group if workload.reservation else None
    return literal(named) if named else None


def _groups(workload: Workload) -> str:
    """The security groups of the nodes as the program writes them."""
    own = [f"{item.variable}.group" for item in workload.volumes if not item.device and item.is_new]
    return f"[{', '.join(['group.id', *own])}]"


def volume_module(volume: AwsVolume) -> str:
    """The module of a volume."""
    return render(
        "aws/volume.py.j2",
        {
            "lit": literal,
            "name": volume.name,
            "summary": volume.summary,
            "existing": volume.is_existing,
            "tags": list(volume.tags.items()),
            "imports": ", ".join(sorted(_imports(volume))),
            "function": f"{volume.library}.{volume.function}",
            "result": "filesystems.FileSystem" if volume.lets_in else "volumes.Volume",
            "arguments": volume.arguments,
        },
    )


def _imports(volume: AwsVolume) -> set[str]:
    """The modules of the project that a volume's module uses."""
    names = {volume.library} | (set() if volume.lets_in else {"volumes"})
    return names if volume.is_existing else names | {"settings"}
