"""The text of rendered programs: stable, formatted, and literal about what users write."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.model import Image, Infra, VolumeMount
from tests.aws.builders import ORIGIN, job, resources, secret_job, target, volume_job
from tests.aws.mocks import run_project, write_project
from tests.aws.projects import artifacts_of, run, scripts
from tests.aws.validation import faults

NASTY = """it's "q" \\ {{ x }} ${HOME} {% raw %} é\t#'''\"\"\" """ + "\n{# c #}"


def test_finished_runs_and_first_images_come_from_the_configuration(tmp_path):
    first, second = job(), job(run=2)
    config = {
        "triplane:finished": json.dumps(["llama-pretrain-1"]),
        "triplane:images": json.dumps({"llama-pretrain-2": "ami-0pinned"}),
    }
    project = run(tmp_path, first, second, config=config)
    assert {item.name for item in project.of("LaunchTemplate")} == {"llama-pretrain-2"}
    assert project.one("LaunchTemplate").inputs["imageId"] == "ami-0pinned"


def test_several_works_live_in_one_program(tmp_path):
    project = run(tmp_path, job(), job(work="1st.Eval"), job(work="eval", run=12))
    assert [item.name for item in project.of("LaunchTemplate")] == [
        "llama-1st-eval-1",
        "llama-eval-12",
        "llama-pretrain-1",
    ]


def test_a_second_run_of_the_same_program_is_identical(tmp_path):
    jobs = (
        job(resources("H100:8", network_tier="best"), num_nodes=2),
        dataclasses.replace(secret_job(), work="secrets"),
    )
    folder = write_project(tmp_path, artifacts_of(*jobs))
    first, second = run_project(folder), run_project(folder)
    assert first.to_json() == second.to_json()


def test_rendering_is_the_same_in_every_process(tmp_path):
    program = (
        "import hashlib\n"
        "from tests.aws.projects import artifacts_of\n"
        "from tests.aws.builders import job, resources\n"
        "asked = resources('H100:8', network_tier='best', labels={'b': '1', 'a': '2'})\n"
        "work = job(asked, num_nodes=2, envs={'X': 'y'})\n"
        "texts = [artifact.path + artifact.text for artifact in artifacts_of(work)]\n"
        "print(hashlib.sha256(''.join(texts).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "LC_ALL": locale},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, locale in (("1", "C"), ("2", "C.UTF-8"))
    }
    assert len(digests) == 1


def test_a_users_text_lands_literally(tmp_path):
    asked = resources(labels={"note": NASTY[:200].replace("\n", " ")})
    project = run(tmp_path, job(asked, envs={"NASTY": NASTY}, setup=NASTY + "\r\nx", num_nodes=1))
    files = scripts(project)
    assert files["setup.sh"] == NASTY + "\r\nx"
    assert project.one("Instance").inputs["tags"]["note"] == asked.labels["note"]
    env = tmp_path / "task.env"
    env.write_text(files["task.env"])
    shown = subprocess.run(
        ["bash", "-c", '. "$0"; printf %s "$NASTY"', str(env)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown == NASTY


@pytest.mark.parametrize("width", [88, 100])
def test_programs_are_formatted_and_linted(tmp_path, width):
    ruff = Path(sys.executable).with_name("ruff")
    spec = target(vpc="prod", subnets=["a", "b"], amis={"gpu": "/x/y"})
    jobs = (
        job(
            resources("H100:8", network_tier="best", labels={"note": 'say "no"'}),
            num_nodes=2,
            spec=spec,
        ),
        job(
            resources("T4:1", ports=("1", "2-3"), use_spot=True, disk_tier="best"),
            work="b" * 60,
            spec=spec,
        ),
        job(resources(image=Image(machine="ami-0123456789")), work="c", spec=spec),
        volume_job("aws-ebs", "d" * 40, size=9, infra="aws/us-east-1/us-east-1a", spec=spec),
        volume_job("aws-efs", "1st", spec=spec),
        volume_job("aws-fsx-lustre", "fs-0123456789", use_existing=True, spec=spec),
    )
    mounted = {item.volume.name: item.volume for item in jobs if item.volume is not None}
    mounts = tuple(VolumeMount(f"/{name}", name, origin=ORIGIN) for name in mounted)
    reader = job(resources(infra=Infra("aws", None, "us-east-1a")), spec=spec, volumes=mounts)
    jobs = (*jobs, dataclasses.replace(reader, work="reader", mounted=mounted))
    root = write_project(tmp_path, artifacts_of(*jobs))
    for command in (["format", "--check", "--diff"], ["check", "--select", "E,F,I,B,UP"]):
        options = ["--isolated", "--no-cache", "--line-length", str(width)]
        # E501: a long literal (an SSM parameter, a description) is not broken up.
        options += ["--ignore", "E501"] if command[0] == "check" else []
        done = subprocess.run(
            [ruff, *command, *options, "."], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_validator_finds_what_the_sdk_lets_through(tmp_path):
    folder = write_project(tmp_path, artifacts_of(job()))
    module = folder / "workloads/llama_pretrain_1.py"
    broken = module.read_text().replace("size=256", 'size="big"')
    module.write_text(broken)
    machines = folder / "common/machines.py"
    machines.write_text(machines.read_text().replace('"required"', "7"))
    found = faults(run_project(folder))
    assert any("volumeSize: 'big' is no int" in fault for fault in found)
    assert any("httpTokens: 7 is no str" in fault for fault in found)
