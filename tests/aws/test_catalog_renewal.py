"""The tables of instance types, written again from an API that knows what EC2 said."""

from __future__ import annotations

import shutil

import pytest

from compiler.catalog import renewal
from tests.aws.site import REGION


def test_what_ec2_says_is_what_the_tables_have(aws, tmp_path, capsys, monkeypatch):
    for name in (renewal.ACCELERATED, renewal.GENERAL):
        shutil.copy(renewal.DATA / name, tmp_path / name)
    monkeypatch.setattr(renewal, "DATA", tmp_path)
    described = list(renewal.described_in(REGION))
    texts = renewal.renew(described, tmp_path)
    for name, text in texts.items():
        assert text == (tmp_path / name).read_text(encoding="utf-8"), name

    monkeypatch.setattr(renewal, "described_in", lambda region: described)
    # A table that lacks a type and has an old number gets both, and nothing else.
    path = tmp_path / renewal.ACCELERATED
    good = path.read_text(encoding="utf-8")
    lines = [line for line in good.splitlines() if not line.startswith("p5.48xlarge")]
    path.write_text("\n".join(lines).replace("A10G,8,", "A10G,7,") + "\n", encoding="utf-8")
    assert renewal.main(["--region", REGION, "--check"]) == 1
    assert capsys.readouterr().out == "aws_accelerated.csv differs\n"
    assert renewal.main(["--region", REGION]) == 0
    assert path.read_text(encoding="utf-8") == good
    assert renewal.main(["--region", REGION, "--check"]) == 0


def test_an_accelerator_without_a_name_of_ours_is_an_error():
    described = {
        "InstanceType": "x1.new",
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "VCpuInfo": {"DefaultVCpus": 4},
        "MemoryInfo": {"SizeInMiB": 8192},
        "GpuInfo": {"Gpus": [{"Name": "ZZ900", "Count": 1, "MemoryInfo": {"SizeInMiB": 1024}}]},
    }
    with pytest.raises(ValueError, match="ZZ900"):
        renewal.row_of(described)
