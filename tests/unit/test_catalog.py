"""Look-ups of accelerators, instance types and prices."""

from __future__ import annotations

import csv
import time

import pytest

from compiler import catalog
from compiler.catalog import Choice, NoChoice, choose_instance
from compiler.catalog.accelerators import DATA
from compiler.model import Amount, LocalDisk
from tests.aws.builders import resources


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("H100", "H100"),
        ("h100", "H100"),
        ("H100-80GB", "H100"),
        ("H100_NVLINK_80GB", "H100"),
        ("NVIDIA-H100-80GB-HBM3", "H100"),
        ("nvidia-h100-mega-80gb", "H100-MEGA"),
        ("nvidia-h200-141gb", "H200"),
        ("a100", "A100"),
        ("NVIDIA-A100-SXM4-40GB", "A100"),
        ("NVIDIA-A100-SXM4-80GB", "A100-80GB"),
        ("nvidia-tesla-t4", "T4"),
        ("Tesla-V100-SXM2-32GB", "V100-32GB"),
        ("NVIDIA-RTX-6000-Ada-Generation", "RTX6000-Ada"),
        ("trainium", "Trainium"),
        ("MI300", "MI300X"),
        ("v520", "Radeon Pro V520"),
        ("TPU-v6e-8", "tpu-v6e-8"),
    ],
)
def test_a_written_name_stands_for_one_accelerator(written, canonical):
    assert catalog.resolve_accelerator(written).name == canonical


def test_every_canonical_name_and_alias_resolves_to_its_row():
    for name, row in catalog.accelerators().items():
        assert catalog.resolve_accelerator(name).name == name
        for alias in row.aliases:
            assert catalog.resolve_accelerator(alias.lower()).name == name


def test_a_part_of_several_names_is_ambiguous():
    resolution = catalog.resolve_accelerator("RTXA")
    assert resolution.name is None
    assert resolution.ambiguous
    assert resolution.candidates == ("RTXA4000", "RTXA4500", "RTXA5000", "RTXA6000")


@pytest.mark.parametrize("written", ["H1000", "nvidia", "", "---", "no-such-thing"])
def test_an_unknown_name_has_at_most_suggestions(written):
    resolution = catalog.resolve_accelerator(written)
    assert resolution.name is None
    assert not resolution.ambiguous


def test_a_misspelt_name_has_its_nearest_suggested():
    assert "H100" in catalog.resolve_accelerator("H10O").candidates


def test_memory_is_the_makers_figure_where_others_are_wrong():
    assert catalog.memory_gib("H200") == 141
    assert catalog.memory_gib("B200") == 180
    assert catalog.memory_gib("GH200") == 96
    assert catalog.memory_gib("no-such-thing") is None


def test_by_memory_exactly_at_least_and_by_maker():
    exact = catalog.by_memory("80GB")
    assert "H100" in exact
    assert not {"H200", "B200", "GH200"} & set(exact)
    assert {"H200", "B200", "MI300X"} <= set(catalog.by_memory("141GB+"))
    assert catalog.by_memory("amd:192GB+") == ("MI300X", "MI325X", "MI350X", "MI355X")
    assert catalog.by_memory("192GB+", vendor="amd") == catalog.by_memory("AMD:192gb+")
    assert catalog.by_memory("81920MB") == exact
    assert catalog.by_memory("7GB") == ()
    assert catalog.by_memory("H100") is None


def test_families_decide_drivers():
    assert catalog.family("h100") == "nvidia"
    assert catalog.family("Trainium2") == "neuron"
    assert catalog.family("tpu-v5p-16") == "tpu"
    assert catalog.family("no-such-thing") is None


def test_tpu_names_become_slices():
    assert catalog.tpu_slice("tpu-v6e-8") == ("tpu-v6e-slice", 8)
    assert catalog.tpu_slice("tpu-v5p-8") == ("tpu-v5p-slice", 4)
    assert catalog.tpu_slice("H100") is None


def test_instance_types_of_an_accelerator_come_cheapest_first():
    found = catalog.instance_types(accelerator="L4", count=1)
    prices = [catalog.price(row.name, "us-east-1") for row in found]
    assert found[0].name == "g6.xlarge"
    assert prices == sorted(prices)
    assert {row.accelerator for row in found} == {"L4"}


def test_a_cpu_task_gets_eight_vcpus_and_four_gib_each():
    first = catalog.instance_types()[0]
    assert (first.name, first.vcpus, first.memory_gib) == ("m6i.2xlarge", 8, 32)
    assert catalog.instance_types(cpus=Amount(4))[0].name == "m6i.xlarge"
    assert catalog.instance_types(memory=Amount(500, at_least=True))[0].memory_gib >= 500
    assert catalog.instance_types(cpus=Amount(16), memory=Amount(2, per_cpu=True))[0].vcpus == 16
    assert catalog.instance_types(cpus=Amount(7)) == ()


def test_a_local_disk_is_of_the_kind_and_size_asked_for():
    found = catalog.instance_types(local_disk=LocalDisk("nvme", 900, at_least=True))
    assert found
    assert all(row.local_disk == "nvme" and row.local_disk_gb >= 900 for row in found)
    exact = catalog.instance_types(accelerator="A10G", local_disk=LocalDisk("ssd", 450, False))
    assert [row.name for row in exact] == ["g5.2xlarge"]


def test_prices_are_by_region_and_never_guessed():
    assert catalog.price("p5.48xlarge", "us-east-1") == 55.04
    assert catalog.price("p5.48xlarge", "eu-north-1") is None
    assert catalog.price("p5.48xlarge", "us-east-1", spot=True) is None


def test_counts_of_an_accelerator():
    assert catalog.counts_of("a100") == (8,)
    assert catalog.counts_of("L4") == (0.125, 0.25, 0.5, 1, 4, 8)
    assert catalog.counts_of("MI300X") == ()


def test_every_row_of_the_tables_can_be_read_and_is_consistent():
    types = {}
    for file in ("aws_accelerated.csv", "aws_general.csv"):
        with (DATA / file).open(encoding="utf-8", newline="") as text:
            names = [row["instance_type"] for row in csv.DictReader(text)]
        assert len(names) == len(set(names))
        types.update((name, catalog.instance_type(name)) for name in names)
    for row in types.values():
        assert row.arch in ("x86_64", "arm64")
        assert row.vcpus > 0
        assert row.memory_gib > 0
        assert bool(row.local_disk) == bool(row.local_disk_gb)
        # One EFA interface a card, from card 0 or 1 on.
        assert row.efa_interfaces + (0 if row.efa_on_card0 else 1) <= max(row.network_cards, 1) or (
            row.efa_interfaces == 0
        )
        if row.accelerator:
            assert row.accelerator in catalog.accelerators()
            assert row.accelerator_count > 0
    with (DATA / "aws_prices.csv").open(encoding="utf-8", newline="") as text:
        for price in csv.DictReader(text):
            assert price["instance_type"] in types
            assert float(price["usd_per_hour"]) > 0


def test_look_ups_after_loading_take_microseconds():
    catalog.resolve_accelerator("h100")
    catalog.price("p5.48xlarge", "us-east-1")
    started = time.process_time()
    for _ in range(1000):
        catalog.resolve_accelerator("h100")
        catalog.instance_type("p5.48xlarge")
        catalog.price("p5.48xlarge", "us-east-1")
        catalog.instance_types(accelerator="H100", count=8)
    assert (time.process_time() - started) / 4000 < 50e-6


def test_the_cheapest_type_is_chosen_with_its_price():
    chosen = choose_instance(resources("H100:8"), "us-east-1")
    assert isinstance(chosen, Choice)
    assert (chosen.instance.name, chosen.price) == ("p5.48xlarge", 55.04)
    elsewhere = choose_instance(resources("H100:8"), "eu-north-1")
    assert (elsewhere.instance.name, elsewhere.price) == ("p5.48xlarge", None)


def test_a_named_type_is_taken_whatever_its_family():
    chosen = choose_instance(resources(instance_type="m7g.large"), "us-east-1")
    assert chosen.instance.arch == "arm64"


@pytest.mark.parametrize(
    ("asked", "code", "key", "hint"),
    [
        (resources("H1000:8"), "accelerator-unknown", "accelerators", "H100"),
        (resources("MI300X:8"), "accelerator-unknown", "accelerators", None),
        (resources("RTX:1"), "accelerator-ambiguous", "accelerators", "RTXPRO6000"),
        (resources("A100:4"), "accelerator-count", "accelerators", "8"),
        (resources("L4:3"), "accelerator-count", "accelerators", "4 or 8"),
        (
            resources("H100:8", cpus=Amount(8)),
            "instance-type-none-fits",
            "cpus",
            "p5.48xlarge (192 vCPUs",
        ),
        (resources(cpus=Amount(7)), "instance-type-none-fits", "cpus", "8 vCPUs"),
        (
            resources(cpus=Amount(8), memory=Amount(33)),
            "instance-type-none-fits",
            "cpus",
            "64 GiB",
        ),
        (resources(instance_type="p5.49xlarge"), "instance-type-unknown", "instance_type", "p5.48"),
        (
            resources("A100:8", instance_type="p5.48xlarge"),
            "instance-type-contradiction",
            "accelerators",
            "remove",
        ),
        (
            resources(instance_type="m6i.large", cpus=Amount(8)),
            "instance-type-contradiction",
            "cpus",
            "remove",
        ),
        (
            resources(instance_type="m6i.large", local_disk=LocalDisk("nvme", None, True)),
            "instance-type-contradiction",
            "local_disk",
            "remove",
        ),
        (resources("H100:8", max_hourly_cost=10), "cost-above-limit", "max_hourly_cost", None),
    ],
)
def test_what_does_not_exist_is_explained(asked, code, key, hint):
    found = choose_instance(asked, "us-east-1")
    assert isinstance(found, NoChoice)
    assert (found.code.name, found.key) == (code, key)
    assert hint is None or hint in found.hint
    assert found.at(asked, "us-east-1").target == "us-east-1"


def test_a_limit_leaves_the_cheaper_ones():
    chosen = choose_instance(resources("L4:1", max_hourly_cost=1.0), "us-east-1")
    assert chosen.price <= 1.0
    assert all(catalog.price(row.name, "us-east-1") <= 1.0 for row in chosen.others)
