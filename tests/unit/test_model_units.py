"""Amounts in every spelling that the dialect has, and those that it has not."""

import pytest

from compiler.model import Amount, Infra, LocalDisk, parse_infra
from compiler.model.builder import Malformed
from compiler.model.units import (
    parse_claim_size,
    parse_cpus,
    parse_disk_size,
    parse_local_disk,
    parse_memory,
    parse_minutes,
    parse_seconds,
)


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        (4, Amount(4)),
        (0.1, Amount(0.1)),
        ("4", Amount(4)),
        ("4+", Amount(4, at_least=True)),
        ("0.5+", Amount(0.5, at_least=True)),
        (" 4 ", Amount(4)),
    ],
)
def test_cpus(value, amount):
    assert parse_cpus(value) == amount


@pytest.mark.parametrize("value", [0, -1, "0", "0+", "4x", "4GB", "+4", "", True, None, [4]])
def test_cpus_refused(value):
    with pytest.raises(Malformed):
        parse_cpus(value)


def test_cpus_in_the_spelling_of_kubernetes_get_a_hint():
    with pytest.raises(Malformed) as caught:
        parse_cpus("500m")
    assert caught.value.hint == "500m in Kubernetes is 0.5 here"


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        (16, Amount(16)),
        (0.5, Amount(0.5)),
        (0, Amount(0)),
        ("16", Amount(16)),
        ("16+", Amount(16, at_least=True)),
        ("16GB", Amount(16)),
        ("16gi+", Amount(16, at_least=True)),
        ("512MB", Amount(0.5)),
        ("1.5TB", Amount(1536)),
        ("2PB", Amount(2 * 1024**2)),
        ("1048576KB", Amount(1)),
        ("4x", Amount(4, per_cpu=True)),
    ],
)
def test_memory_in_gib(value, amount):
    assert parse_memory(value) == amount


@pytest.mark.parametrize("value", [-1, "16G", "16GiB", "16B", "2x+", "lots", "", False, {}])
def test_memory_refused(value):
    with pytest.raises(Malformed):
        parse_memory(value)


def test_memory_with_half_a_unit_gets_a_hint():
    with pytest.raises(Malformed) as caught:
        parse_memory("16G")
    assert caught.value.hint == "units are KB, MB, GB, TB, PB or Ki, Mi, Gi, Ti, Pi"


@pytest.mark.parametrize(
    ("value", "size"), [(100, 100), ("100", 100), ("100GB", 100), ("1TB", 1024), ("2048MB", 2)]
)
def test_disk_size(value, size):
    assert parse_disk_size(value) == size


@pytest.mark.parametrize("value", [0, -5, "0", "1.5TB", "512MB", "100G", 1.5, True, "x"])
def test_disk_size_refused(value):
    with pytest.raises(Malformed):
        parse_disk_size(value)


@pytest.mark.parametrize(
    ("value", "size", "is_rounded"),
    [
        (10, 10, False),
        ("10", 10, False),
        ("10Gi", 10, False),
        ("1Ti", 1024, False),
        ("10GB", 10, False),
        ("1500Mi", 2, True),
        ("1024Mi", 1, False),
    ],
)
def test_claim_size(value, size, is_rounded):
    assert parse_claim_size(value) == (size, is_rounded)


@pytest.mark.parametrize("value", [0, "512Mi", "1.5Gi", "10G", "ten", -1, True, 1.5])
def test_claim_size_refused(value):
    with pytest.raises(Malformed):
        parse_claim_size(value)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("10", 10), ("30m", 30), ("2h", 120), ("1d", 1440), ("1W", 10080), ("0", 0)],
)
def test_minutes(text, minutes):
    assert parse_minutes(text) == minutes


@pytest.mark.parametrize("text", ["10s", "-1", "1.5h", "h", ""])
def test_minutes_refused(text):
    with pytest.raises(Malformed):
        parse_minutes(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30s", 30), ("5m", 300), ("1H", 3600), ("2d", 172800)]
)
def test_seconds(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["1.5h", "5y", "-3", "s"])
def test_seconds_refused(text):
    with pytest.raises(Malformed):
        parse_seconds(text)


@pytest.mark.parametrize(
    ("text", "disk"),
    [
        ("nvme", LocalDisk("nvme", 100, True)),
        ("ssd", LocalDisk("ssd", 100, True)),
        ("NVMe:1000+", LocalDisk("nvme", 1000, True)),
        ("ssd:1.5", LocalDisk("ssd", 1.5, False)),
        ("500+", LocalDisk("nvme", 500, True)),
    ],
)
def test_local_disk(text, disk):
    assert parse_local_disk(text) == disk


@pytest.mark.parametrize("value", ["hdd:100", "nvme:0", "500GB", "nvme:", 100, ""])
def test_local_disk_refused(value):
    with pytest.raises(Malformed):
        parse_local_disk(value)


@pytest.mark.parametrize(
    ("text", "infra"),
    [
        ("aws", Infra("aws")),
        ("AWS/us-east-1", Infra("aws", "us-east-1")),
        ("aws/us-east-1/us-east-1a", Infra("aws", "us-east-1", "us-east-1a")),
        ("aws/*/us-east-1a", Infra("aws", None, "us-east-1a")),
        ("*", Infra()),
        ("*/us-east-1", Infra(None, "us-east-1")),
        ("*/*/us-east-1a", Infra(None, None, "us-east-1a")),
        ("k8s", Infra("kubernetes")),
        ("Kubernetes/prod", Infra("kubernetes", "prod")),
        ("k8s/my/ctx/with", Infra("kubernetes", "my/ctx/with")),
        ("k8s/*", Infra("kubernetes")),
        ("ssh/pool", Infra("ssh", "pool")),
        ("slurm/alpha/gpu", Infra("slurm", "alpha", "gpu")),
    ],
)
def test_infra(text, infra):
    assert parse_infra(text) == infra


@pytest.mark.parametrize("text", ["", "aws/", "aws//x", "aws/a/b/c", "k8s/", "mars", "*/a/b/c"])
def test_infra_refused(text):
    with pytest.raises(Malformed):
        parse_infra(text)


@pytest.mark.parametrize(
    ("parse", "most", "above"),
    [
        (parse_cpus, 100_000, (100_001, "1e12", "200000+")),
        (parse_memory, 16 * 1024**2, (1e15, "17PB", "99999999+")),
        (parse_disk_size, 16 * 1024**2, (10**10, "17PB")),
    ],
)
def test_more_than_any_node_has_is_a_slip_of_the_pen(parse, most, above):
    parse(most)
    for value in above:
        with pytest.raises(Malformed, match="no node has") as caught:
            parse(value)
        assert caught.value.expected == f"at most {most}"


def test_a_ratio_is_no_amount():
    assert parse_memory("99999999x") == Amount(99999999, per_cpu=True)
