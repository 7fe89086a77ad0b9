"""Writing the tables of instance types again, from what EC2 says now.

    python -m compiler.catalog.renewal --region us-east-1 [--check]

needs boto3 and credentials that may call ec2:DescribeInstanceTypes. Types that the region does
not list keep their rows; those of earlier generations get none. Prices are of the price list,
which is another API: they stay.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compiler.catalog.accelerators import DATA, resolve_accelerator

ACCELERATED, GENERAL = "aws_accelerated.csv", "aws_general.csv"
HEADER = (
    "instance_type,arch,vcpus,memory_gib,accelerator,accelerator_count,efa_interfaces,"
    "network_cards,efa_on_card0,local_disk_gb,local_disk"
)
# EC2's names of devices that the table of accelerators does not resolve by itself. A second
# key is the memory of one device in GiB, where one name stands for several models.
_NAMES: Mapping[tuple[str, int | None], str] = {
    ("A100", 80): "A100-80GB",
    ("V100", 32): "V100-32GB",
    ("RTX PRO Server 6000", None): "RTXPRO6000",
    ("RTX PRO Server 4500", None): "RTXPRO4500",
    ("Radeon Pro V520", None): "Radeon Pro V520",
    ("Gaudi HL-205", None): "Gaudi HL-205",
    ("Qualcomm AI100", None): "AI100",
    ("Inferentia", None): "Inferentia",
}


def row_of(described: Mapping[str, Any]) -> str | None:
    """The row for one entry of DescribeInstanceTypes; None for Macs, FPGAs and video cards."""
    arch = _architecture(described["ProcessorInfo"]["SupportedArchitectures"])
    if arch is None or {"FpgaInfo", "MediaAcceleratorInfo"} & set(described):
        return None
    name, count = _accelerator(described)
    network = described.get("NetworkInfo", {})
    cards = network.get("NetworkCards") or [{}]
    efa = network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    disks = described.get("InstanceStorageInfo") or {}
    kinds = {disk["Type"] for disk in disks.get("Disks", ())}
    kind = next(iter(sorted(kinds)), "")
    if disks.get("NvmeSupport") in ("required", "supported"):
        kind = "nvme"
    cells = (
        described["InstanceType"],
        arch,
        described["VCpuInfo"]["DefaultVCpus"],
        f"{described['MemoryInfo']['SizeInMiB'] / 1024:g}",
        name,
        f"{count:g}" if name else "",
        efa,
        network.get("MaximumNetworkCards", 1),
        "yes" if efa and _takes_efa(cards[0], efa, len(cards)) else "no",
        disks.get("TotalSizeInGB", 0),
        kind,
    )
    return ",".join(str(cell) for cell in cells)


def renewed(table: str, rows: Iterable[str]) -> str:
    """The table with these rows in place of those of the same types, in its order."""
    by_name = {row.partition(",")[0]: row for row in table.splitlines()[1:]}
    by_name.update({row.partition(",")[0]: row for row in rows})
    return "\n".join([HEADER, *sorted(by_name.values(), key=_order)]) + "\n"


def described_in(region: str) -> Iterator[Mapping[str, Any]]:
    """Every type that the region offers."""
    import boto3

    pages = boto3.client("ec2", region_name=region).get_paginator("describe_instance_types")
    for page in pages.paginate():
        yield from page["InstanceTypes"]


def renew(described: Iterable[Mapping[str, Any]], folder: Path = DATA) -> dict[str, str]:
    """file name -> its new text."""
    tables = {name: (folder / name).read_text(encoding="utf-8") for name in (ACCELERATED, GENERAL)}
    listed = {name: set(_names(table)) for name, table in tables.items()}
    rows: dict[str, list[str]] = {ACCELERATED: [], GENERAL: []}
    for item in described:
        name = item["InstanceType"]
        is_new = not any(name in names for names in listed.values())
        row = row_of(item)
        if row is None or (is_new and not item.get("CurrentGeneration", True)):
            continue
        has_devices = bool(row.split(",")[4])
        if name in listed[ACCELERATED] and not has_devices:
            continue  # EC2 does not report the devices of every type
        rows[ACCELERATED if has_devices else GENERAL].append(row)
    return {name: renewed(table, rows[name]) for name, table in tables.items()}


def main(arguments: list[str] | None = None) -> int:
    """0 when the tables are as EC2 says (or were written), 1 with --check where they are not."""
    parser = argparse.ArgumentParser(description=__doc__, prog="compiler.catalog.renewal")
    parser.add_argument("--region", required=True)
    parser.add_argument("--check", action="store_true", help="only say which tables differ")
    options = parser.parse_args(arguments)
    stale = []
    for name, text in renew(described_in(options.region)).items():
        path = DATA / name
        if path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not options.check:
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{name} {'differs' if options.check else 'was written again'}")
    return 1 if stale and options.check else 0


def _names(table: str) -> Iterator[str]:
    return (line.partition(",")[0] for line in table.splitlines()[1:])


def _architecture(supported: Iterable[str]) -> str | None:
    return next((arch for arch in supported if arch in ("x86_64", "arm64")), None)


def _accelerator(described: Mapping[str, Any]) -> tuple[str, float]:
    """(canonical name, how many), ("", 0) for none."""
    for info, devices in (
        ("GpuInfo", "Gpus"),
        ("NeuronInfo", "NeuronDevices"),
        ("InferenceAcceleratorInfo", "Accelerators"),
    ):
        for device in described.get(info, {}).get(devices, ()):
            # The smallest sizes have a share of one device, and a count of 0.
            count = float(device["Count"]) or float(device.get("GpuPartitionSize") or 0)
            return _canonical(device), count
    return "", 0.0


def _canonical(device: Mapping[str, Any]) -> str:
    name = str(device["Name"])
    gib = round(device.get("MemoryInfo", {}).get("SizeInMiB", 0) / 1024)
    found = _NAMES.get((name, gib)) or _NAMES.get((name, None))
    resolved = found or resolve_accelerator(name).name
    if resolved is None:
        raise ValueError(f"accelerator {name!r} is not in accelerators.csv")
    return resolved


def _takes_efa(card: Mapping[str, Any], efa: int, cards: int) -> bool:
    """Whether card 0 does: by its own list where EC2 gives one, else there are enough others."""
    kinds = card.get("InterfaceTypes")
    return "efa" in kinds or "efa-only" in kinds if kinds else efa >= cards


def _order(row: str) -> tuple[str, float, float, str]:
    name, _, vcpus, memory, *_ = row.split(",")
    return name.partition(".")[0], float(vcpus), float(memory), name


if __name__ == "__main__":
    sys.exit(main())
