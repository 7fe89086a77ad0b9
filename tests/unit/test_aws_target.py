"""Choices, refusals and losses of the AWS target."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import (
    Autostop,
    GitWorkdir,
    Hook,
    Image,
    Infra,
    JobRecovery,
    Secret,
    SecretSource,
    TargetKind,
)
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.resources import data_folder
from compiler.targets.aws import TARGET
from compiler.targets.aws.images import choose_image
from compiler.targets.aws.instances import choose_instance, efa_of
from compiler.targets.aws.labels import tag_problem
from compiler.targets.aws.lower import disk_of
from compiler.targets.aws.options import options_of
from compiler.targets.aws.programs import literal
from compiler.targets.aws.support import SUPPORT
from compiler.targets.aws.verify import program_error
from compiler.targets.aws.volumes import module_of
from compiler.targets.interface import Job, SupportLevel
from compiler.targets.registry import target_of
from tests.aws.builders import ORIGIN, job, resources, stack, target


def codes_of(item: Job) -> list[str]:
    diagnostics = Diagnostics()
    TARGET.render(item, diagnostics)
    return sorted({diagnostic.code for diagnostic in diagnostics})


def refusals(item: Job) -> list[str]:
    return sorted({found.code for found in TARGET.refusals(item.task, item.resources, item.target)})


def test_the_registry_finds_the_target():
    assert target_of(TargetKind.AWS) is TARGET
    assert TARGET.kind == "aws"


def test_a_plain_task_says_nothing():
    plain = job(setup="x", envs={"A": "1"})
    assert codes_of(plain) == []
    assert refusals(plain) == []


def test_rendering_loads_no_pulumi():
    program = (
        "import sys\n"
        "from tests.unit.test_aws_target import codes_of\n"
        "from tests.aws.builders import job\n"
        "codes_of(job())\n"
        "heavy = [name for name in sys.modules if name.startswith(('pulumi', 'fabric'))]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (resources("H1000:8"), "accelerator-unknown"),
        (resources("A100:4"), "accelerator-count"),
        (resources(instance_type="p5.49xlarge"), "instance-type-unknown"),
        (resources("V100:1"), "aws-image-unknown"),
        (resources("L4:0.5"), "aws-image-unknown"),
        (resources("Inferentia:1"), "aws-image-unknown"),
        (resources("Gaudi HL-205:8"), "aws-image-unknown"),
        (resources(image=Image(machine="skypilot:gpu-ubuntu")), "aws-image-unknown"),
        (resources(image=Image(by_region={"eu-west-1": "ami-01234567"})), "aws-image-region"),
        (resources(instance_type="g6.xlarge", network_tier="best"), "aws-efa-missing"),
        (resources(infra=Infra("aws", None, "eu-west-1a")), "aws-zone"),
        (resources("H100:8", max_hourly_cost=1), "cost-above-limit"),
        (resources(accelerator_args={"tpu_vm": True}), "field-refused"),
        (resources(disk_size=65537), "aws-too-large"),
        (resources(labels={f"l{number}": "" for number in range(41)}), "aws-too-large"),
    ],
)
def test_a_candidate_that_cannot_run_is_refused(asked, expected):
    assert refusals(job(asked)) == [expected]


def test_no_run_has_a_thousand_million_instances():
    assert refusals(job(num_nodes=1000)) == []
    assert refusals(job(num_nodes=10**9)) == ["aws-too-large"]


def test_a_reservation_is_in_a_zone():
    here, there = Infra("aws", None, "us-east-1a"), Infra("aws", None, "us-east-1b")
    known = target(reservations={"p4d": {"id": "cr-0aaaaaaa", "zone": "us-east-1a"}})
    unknown = target(reservations={"p4d": "cr-0aaaaaaa"})
    assert refusals(job(resources("A100:8", infra=here), spec=known)) == []
    assert refusals(job(resources("A100:8", infra=there), spec=known)) == ["aws-reservation-zone"]
    assert codes_of(job(resources("A100:8"), spec=unknown)) == ["aws-reservation-zone"]
    assert codes_of(job(resources("A100:8", infra=there), spec=unknown)) == []
    one = target(reservations={"p4d": "cr-0aaaaaaa"}, subnets=["the-only-one"])
    assert codes_of(job(resources("A100:8"), spec=one)) == []
    # Spot instances are in no reservation.
    assert codes_of(job(resources("A100:8", use_spot=True), spec=unknown)) == ["field-changed"]
    assert codes_of(job(resources("A100:8"), num_nodes=2, spec=known)) == ["aws-reservation-spread"]


def test_an_image_makes_rare_hardware_possible():
    for asked in (
        resources("V100:1", image=Image(machine="ami-0123456789abcdef0")),
        resources("Gaudi HL-205:8", image=Image(by_region={"us-east-1": "ami-01234567"})),
    ):
        assert refusals(job(asked)) == []
    spec = target(amis={"p3": "ami-0123456789abcdef0"})
    assert refusals(job(resources("V100:1"), spec=spec)) == []


@pytest.mark.parametrize(
    ("amis", "asked", "expected"),
    [
        ({"gpu": "/a", "g4dn": "/b"}, resources("T4:1"), "/b"),
        ({"gpu": "/a", "efa": "/b"}, resources("H100:8", network_tier="best"), "/b"),
        ({"gpu": "/a", "efa": "/b"}, resources("H100:8"), "/a"),
        ({"cpu": "/a", "cpu-arm64": "/b"}, resources(instance_type="m7g.large"), "/b"),
        ({"neuron": "/a"}, resources("Trainium:16"), "/a"),
    ],
)
def test_the_target_names_images_by_purpose(amis, asked, expected):
    spec = target(amis=amis)
    instance = choose_instance(asked, spec).instance
    assert choose_image(asked, instance, options_of(spec)).parameter == expected


def test_arm_instances_get_an_arm_image():
    diagnostics = Diagnostics()
    artifacts = TARGET.render(job(resources(instance_type="m7g.large")), diagnostics)
    assert "/current/arm64/" in artifacts[0].text


def test_a_target_needs_a_bucket():
    spec = dataclasses.replace(target(), options={})
    assert refusals(job(spec=spec)) == ["aws-bucket-missing"]
    assert codes_of(job(spec=spec)) == ["aws-bucket-missing"]


def test_efa_is_chosen_where_the_cheapest_type_has_none():
    plain = choose_instance(resources("L4:1"), target())
    fast = choose_instance(resources("L4:1", network_tier="best"), target())
    assert (plain.instance.name, plain.price) == ("g6.xlarge", 0.8048)
    assert fast.instance.name == "g6.8xlarge"
    assert efa_of(fast.instance).count == 1
    assert efa_of(plain.instance) is None
    assert choose_instance(resources("A100:4"), target()) is None


def test_a_cpu_task_does_not_buy_a_large_node_for_its_network():
    asked = resources(network_tier="best")
    assert choose_instance(asked, target()).instance.name == "m6i.2xlarge"
    assert codes_of(job(asked)) == ["field-changed"]


def test_efa_without_own_subnets_is_a_warning():
    asked = resources("H100:8", network_tier="best")
    assert codes_of(job(asked)) == ["aws-efa-no-public-address"]
    assert codes_of(job(asked, spec=target(subnets=["private"]))) == []


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        (None, ("gp3", 3500, 218)),
        ("low", ("gp3", 3000, 125)),
        ("medium", ("gp3", 3500, 218)),
        ("HIGH", ("gp3", 7000, 437)),
        ("ultra", ("io2", 20000, None)),
        ("best", ("io2", 20000, None)),
    ],
)
def test_disk_tiers(tier, expected):
    disk = disk_of(None, tier)
    assert (disk.size, disk.type, disk.iops, disk.throughput) == (256, *expected)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("a/b", ""),
        ("a b", ""),
        ("Name", "x"),
        ("aws:x", ""),
        ("triplane:rank", "1"),
        ("a", "x" * 257),
    ],
)
def test_labels_that_cannot_be_tags_are_errors(key, value):
    assert tag_problem(key, value) is not None
    assert codes_of(job(resources(labels={key: value}))) == ["aws-label"]


def test_a_secret_must_come_from_a_place_that_nodes_can_read():
    changes = {"secrets": {"HF_TOKEN": {"us-east-1": SecretSource("file", "~/.hf")}}}
    item = job(secrets={"HF_TOKEN": Secret("HF_TOKEN", "CANARY")}, stack_changes=changes)
    diagnostics = Diagnostics()
    TARGET.render(item, diagnostics)
    (found,) = diagnostics
    assert found.code == "aws-secret-source"
    assert "CANARY" not in repr(found)


def test_a_text_that_no_file_can_hold_is_an_error():
    assert codes_of(job(envs={"A": "a\0b"})) == ["aws-text"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (job(resources(use_spot=True)), ["field-changed"]),
        (job(resources(use_spot=True, max_hourly_cost=9)), ["field-changed"]),
        (job(resources(priority=3, priority_class="high")), ["field-ignored"]),
        (job(resources(ephemeral_storage="10")), ["field-ignored"]),
        (job(resources(autostop=Autostop(10))), ["field-changed"]),
        (job(resources(autostop=Autostop(10)), script=None), ["field-refused"]),
        (job(resources(autostop=Autostop(10, down=True)), script=None), []),
        (job(resources(job_recovery=JobRecovery("FAILOVER"))), ["field-ignored"]),
        (job(resources(job_recovery=JobRecovery("none"))), []),
        (job(workdir=GitWorkdir("https://x/y", "main", ORIGIN)), []),
        (job(hooks=(Hook("true", ("stop",), 9),)), ["field-ignored"]),
        (job(event_callback="true"), ["field-ignored"]),
        (job(config={"nvidia_gpus": {"disable_ecc": True}}), ["field-ignored"]),
        (job(native_script="#!/bin/bash"), ["field-refused"]),
        (
            job(secrets={"A": Secret("A", mount_path="/run/a", managed=True)}),
            [],
        ),
        (job(spec=target(logs="/triplane")), []),
        (
            job(stack_changes={"config": {"aws": {"use_internal_ips": True}}}),
            ["field-ignored"],
        ),
        (
            job(stack_changes={"config": {"aws": {"disk_encrypted": False, "labels": {}}}}),
            ["field-changed"],
        ),
    ],
)
def test_what_is_lost_or_changed_is_said(item, expected):
    assert codes_of(item) == expected


def test_a_git_workdir_is_cloned_at_its_commit():
    diagnostics = Diagnostics()
    item = job(workdir=GitWorkdir("https://x/y.git", "main", ORIGIN))
    env = next(a for a in TARGET.render(item, diagnostics) if a.path.endswith("job.env"))
    assert "GIT_URL='https://x/y.git'\nGIT_REF='main'\n" in env.text


def test_a_named_type_gives_its_accelerators_to_the_task():
    diagnostics = Diagnostics()
    artifacts = TARGET.render(job(resources(instance_type="p4d.24xlarge")), diagnostics)
    env = next(item for item in artifacts if item.path.endswith("task.env"))
    assert "export SKYPILOT_NUM_GPUS_PER_NODE='8'\n" in env.text


def test_configuration_of_skypilot_fills_what_the_target_leaves_open():
    config = {"aws": {"vpc_names": ["a", "b"], "subnet_names": "s", "labels": {"team": "x"}}}
    spec = target()
    options = options_of(spec, stack(spec, config=config))
    assert (options.vpc, options.subnets, dict(options.tags)) == ("a", ("s",), {"team": "x"})
    own = target(vpc="mine")
    assert options_of(own, stack(own, config=config)).vpc == "mine"


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-east-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_partitions(region, partition):
    assert options_of(target("main", region=region)).partition == partition


def test_a_bucket_may_have_a_prefix_or_none():
    options = options_of(target(files={"bucket": "s3://b"}))
    assert (options.bucket, options.files_prefix) == ("b", ".triplane/files")
    options = options_of(target(files={"bucket": "s3://b/x/y/"}))
    assert options.runs_prefix("set", "t") == "x/y/.triplane/set/runs/t"


def test_modules_of_different_jobs_differ():
    names = ["a-1", "1a-1", "a-b-1", "ab-1"]
    modules = [module_of(name) for name in names]
    assert len(set(modules)) == len(names)
    assert all(module.isidentifier() for module in modules)


@pytest.mark.parametrize(
    "text", ["", "a", "it's", 'say "x"', "'\"", "\\", "a\nb\t", "é ☃ 𝄞", "{{ x }} ${y} {% z %}"]
)
def test_a_literal_is_exactly_its_text(text):
    assert eval(literal(text)) == text
    assert literal(text).isascii()


def test_faults_of_programs_and_boot_scripts_are_found():
    program = Artifact("aws/x/workloads/a.py", "def x(:\n", ArtifactKind.PROGRAM, "Program/a")
    assert [found.code for found in TARGET.verify(program, target())] == ["aws-program-invalid"]
    boot = Artifact("aws/x/user_data/a.sh", "x" * 16385, ArtifactKind.SHELL, "UserData/a")
    assert [found.code for found in TARGET.verify(boot, target())] == ["aws-user-data-size"]


@pytest.mark.parametrize(
    "text", ['x = "a', 'x = "\\N{no}"', "return 1\n", "x = 'a' 'b", 'x = "\\xzz"', "x = 08\n"]
)
def test_a_program_is_judged_by_its_whole_text(text):
    assert program_error(text) is not None


def test_every_row_of_the_table_says_what_becomes_of_the_field():
    for name, row in SUPPORT.items():
        assert row.field == name
        assert row.note
        assert row.level in SupportLevel


def test_the_table_has_a_row_for_every_field_of_the_dialect():
    schema = json.loads((data_folder("schemas") / "task.schema.json").read_text())
    rows = {name.partition(" (")[0] for name in SUPPORT}
    only_in_dumps = ("_", "file_mounts_mapping", "volume_mounts")
    task = {key for key in schema["properties"] if not key.startswith(only_in_dumps)}
    assert task - {"config", "resources"} <= rows
    alternative = schema["$defs"]["alternative"]["properties"]
    asked = {f"resources.{key}" for key in alternative if not key.startswith("_")}
    assert asked | {"resources.any_of", "resources.ordered"} <= rows
    sections = {".".join(name.split(".")[:2]) for name in rows if name.startswith("config.")}
    assert {f"config.{key}" for key in schema["$defs"]["config"]["properties"]} <= sections
