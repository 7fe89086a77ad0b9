"""The rendered shell texts: checked by bash and shellcheck, small and complete."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import Image, Secret
from compiler.rendering.filetree import FileTree
from compiler.targets.aws import TARGET
from compiler.targets.aws.verify import USER_DATA_LIMIT
from compiler.targets.interface import Job
from tests.aws.builders import job, resources

OURS = ("supervisor.sh", "node.sh", "peers.sh", "enter.sh", "platform.sh", "job.env")
LARGE = "echo 'a long script'\n" * 20_000


def texts(item: Job) -> dict[str, str]:
    """Path below the target's folder -> text."""
    diagnostics = Diagnostics()
    artifacts = TARGET.render(item, diagnostics)
    assert not diagnostics.has_errors
    return {artifact.path.split("/", 2)[2]: artifact.text for artifact in artifacts}


def jobs() -> list[Job]:
    tree = FileTree("~/it's here", "a" * 64, local="/x", files={"a": "b"})
    docker = Image(docker="team/image:1")
    return [
        job(),
        job(script=None),
        job(
            resources("H100:8", network_tier="best", image=docker),
            num_nodes=2,
            trees=(tree,),
            secrets={"A": Secret("A"), "B": Secret("B")},
            config={"docker": {"run_options": ["-e 'X=$y \"z\"'"]}},
        ),
    ]


@pytest.mark.parametrize("index", range(3))
def test_bash_and_shellcheck_accept_our_scripts(tmp_path, index):
    rendered = texts(jobs()[index])
    shellcheck = Path(sys.executable).with_name("shellcheck")
    ours = [path for path in rendered if path.endswith(OURS) or path.startswith("user_data/")]
    assert len(ours) == len(OURS) + 1
    for path in ours:
        file = tmp_path / path.replace("/", "_")
        file.write_text(rendered[path])
        for command in (["bash", "-n"], [shellcheck, "--shell=bash"]):
            done = subprocess.run([*command, file], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{path}: {done.stdout}{done.stderr}"


def test_the_boot_script_stays_small_whatever_the_task_brings_along():
    small = texts(job())["user_data/llama-pretrain-1.sh"]
    large = texts(job(setup=LARGE, script=LARGE, envs={"A": LARGE}))
    boot = large["user_data/llama-pretrain-1.sh"]
    assert len(boot.encode()) < USER_DATA_LIMIT / 4
    assert len(boot) - len(small) < 200
    assert large["scripts/llama-pretrain-1/run.sh"] == LARGE


def test_a_change_of_a_script_changes_the_boot_script():
    assert (
        texts(job(script="a\n"))["user_data/llama-pretrain-1.sh"]
        != (texts(job(script="b\n"))["user_data/llama-pretrain-1.sh"])
    )


def test_values_of_job_env_come_back_literally(tmp_path):
    file = tmp_path / "job.env"
    file.write_text(texts(jobs()[2])["scripts/llama-pretrain-1/job.env"])
    shown = subprocess.run(
        ["bash", "-c", '. "$0"; printf "%s\\n" "${CONTAINER_OPTIONS[@]}" "${TREES[@]}"', file],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert shown.splitlines() == ["-e", 'X=$y "z"', f"{'a' * 64} folder ~/it's here"]


def test_the_layout_of_a_job():
    assert sorted(texts(job(setup="x"))) == sorted(
        [
            "workloads/llama_pretrain_1.py",
            "user_data/llama-pretrain-1.sh",
            *(
                f"scripts/llama-pretrain-1/{name}"
                for name in (
                    *OURS,
                    "bashrc.sh",
                    "launcher.sh",
                    "prologue.sh",
                    "run.sh",
                    "setup.sh",
                    "task.env",
                )
            ),
        ]
    )


def test_the_layout_of_a_project():
    item = job()
    artifacts = TARGET.project(item.stack, item.target)
    assert [artifact.path for artifact in artifacts] == [
        "aws/us-east-1/Pulumi.yaml",
        "aws/us-east-1/Pulumi.llama.yaml",
        "aws/us-east-1/requirements.txt",
        "aws/us-east-1/__main__.py",
        "aws/us-east-1/common/filesystems.py",
        "aws/us-east-1/common/grants.py",
        "aws/us-east-1/common/machines.py",
        "aws/us-east-1/common/permissions.py",
        "aws/us-east-1/common/runs.py",
        "aws/us-east-1/common/volumes.py",
        "aws/us-east-1/common/__init__.py",
        "aws/us-east-1/common/settings.py",
        "aws/us-east-1/common/network.py",
        "aws/us-east-1/volumes/__init__.py",
        "aws/us-east-1/workloads/__init__.py",
    ]
