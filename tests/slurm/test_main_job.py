"""The main job on the real cluster: validated, planned, applied, changed, applied again.

The example is as it is in the repository; what it would download is stood in for by programs
that alice's ~/.bashrc puts on her PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.command_line import PROGRAM, TOP
from tests.slurm.login_files import bashrc
from tests.slurm.project import Project, columns
from tests.slurm.upgrade import upgraded_tool
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

TASK = "examples/llama-pretrain/task.yaml"
WORK = "llama-pretrain"
SECRET = "--secret=HF_TOKEN=hf_not-to-be-seen"

# `python3 -m venv` makes a folder with a pip that only says what it was asked for.
_PYTHON = """\
#!/bin/bash
[ "$1 $2" = "-m venv" ] || exec /usr/bin/python3 "$@"
mkdir -p "$3/bin"
printf '#!/bin/bash\\necho "pip $* in $PWD"\\ngrep -c == "${@: -1}"\\n' >"$3/bin/pip.$SLURM_PROCID"
chmod 755 "$3/bin/pip.$SLURM_PROCID"
mv "$3/bin/pip.$SLURM_PROCID" "$3/bin/pip"
: >"$3/bin/activate"
"""
_TORCHRUN = """\
#!/bin/bash
echo "torchrun $*"
files=$(ls | paste -s -d ' ')
echo "facts $SKYPILOT_NODE_RANK|$(hostname)|$CUDA_VISIBLE_DEVICES|${#HF_TOKEN}|$files"
. "${0%/*}/behaviour"
"""


@pytest.fixture(scope="module")
def stand_ins(slurm_site: SlurmSite) -> Iterator[Path]:
    """The folder with the stand-ins; its file `behaviour` is what torchrun does."""
    home = slurm_site.home("alice")
    for name, text in (("python3", _PYTHON), ("torchrun", _TORCHRUN), ("behaviour", "exit 0\n")):
        slurm_site.write("alice", f"stand-ins/{name}", text).chmod(0o755)
    with bashrc(slurm_site, "alice", f"export PATH={home}/stand-ins:$PATH\n"):
        yield home / "stand-ins"
    shutil.rmtree(home / "stand-ins")


@dataclass
class MainJob:
    """A copy of the examples, applied once through a saved plan."""

    project: Project
    validated: str
    planned: str
    applied: str


@pytest.fixture(scope="module")
def main_job(
    slurm_site: SlurmSite, stand_ins: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MainJob]:
    project = Project(slurm_site, tmp_path_factory.mktemp("main-job"), "llama")
    try:
        shutil.copytree(TOP / "examples", project.folder / "examples")
        validated = project.triplane("validate", TASK, "stack.yaml", stack=False)
        assert validated.code == 0, validated.text
        planned = project.triplane("plan", TASK, SECRET, "--out", "plan.json")
        assert planned.code == 0, planned.text
        wait = ("plan.json", SECRET, "--wait", "finished")
        applied = project.triplane("apply", *wait, stack=False)
        assert applied.code == 0, applied.text
        yield MainJob(project, validated.text, planned.text, applied.text)
    finally:
        project.clean()


def test_the_first_plan_and_apply(main_job: MainJob) -> None:
    assert "no errors" in main_job.validated
    assert re.search(r"\+ llama-pretrain on alpha: create run 1\n", main_job.planned)
    assert "Plan: 1 to create." in main_job.planned
    assert "slurm/alpha/llama-pretrain run 1: created (" in main_job.applied
    assert main_job.project.runs_submitted() == ["llama-pretrain.1"]


def test_what_the_ranks_saw(main_job: MainJob) -> None:
    project = main_job.project
    name = project.name
    addresses = [project.sh("getent", "ahostsv4", f"alpha-h{at}").split()[0] for at in (1, 2)]
    for rank in (0, 1):
        words = project.log(WORK, rank).splitlines()
        assert words[:2] == [f"pip install --quiet -r requirements.txt in {_home(project)}", "3"]
        assert words[2] == (
            f"torchrun --nnodes=2 --nproc-per-node=8 --node-rank={rank} --rdzv-backend=c10d "
            f"--rdzv-id=triplane-{name}-llama-pretrain-1 --rdzv-endpoint={addresses[0]}:29500 "
            "train.py --model llama-3.1-8b --sequence-length 8192 --global-batch-size 512 "
            "--learning-rate 3.0e-4 --max-steps 20000"
        )
        assert words[3] == (
            f"facts {rank}|alpha-h{rank + 1}|0,1,2,3,4,5,6,7|{len('hf_not-to-be-seen')}"
            "|requirements.txt train.py"
        )
        assert len(words) == 4
    script = (project.run_folder(WORK) / "job.sbatch").read_text()
    for directive in ("--nodes=2", "--gres=gpu:h100:8", "--cpus-per-task=96", "--mem=512G"):
        assert f"\n#SBATCH {directive}\n" in script


def _home(project: Project) -> str:
    return str(project.state / "work/llama-pretrain.1/home/sky_workdir")


def test_the_same_again_submits_nothing(main_job: MainJob) -> None:
    project = main_job.project
    before = project.jobs()
    done = project.apply(TASK, SECRET)
    assert re.search(r"✓ llama-pretrain on alpha: done run \d \(run \d succeeded\)", done.out)
    assert "Nothing to do." in done.out
    again = project.triplane("apply", "plan.json", SECRET, stack=False)
    assert again.code == 0, again.text
    assert "done by an earlier apply" in again.out
    assert project.jobs() == before


def test_status_logs_and_wait(main_job: MainJob) -> None:
    project = main_job.project
    shown = columns(project.triplane("status", WORK).out)[0]
    assert shown[:5] == [WORK, "1", "alpha", "succeeded", "(0)"]
    assert shown[5] in project.jobs()
    logs = project.triplane("logs", WORK, "--run", 1)
    assert logs.code == 0, logs.text
    for rank in (0, 1):
        mine = [line for line in logs.out.splitlines() if line.startswith(f"(rank {rank}) ")]
        assert [line.removeprefix(f"(rank {rank}) ") for line in mine] == (
            project.log(WORK, rank).splitlines()
        )
    assert logs.out.count("(rank ") == 8  # srun may have a word to say as well
    assert project.triplane("wait", WORK, "--timeout", 60).code == 0


def test_a_readme_in_the_workdir_starts_nothing(main_job: MainJob) -> None:
    project = main_job.project
    readme = project.folder / "examples/llama-pretrain/src/README.md"
    readme.write_text("What this is.\n")
    before = project.jobs()
    try:
        done = project.apply(TASK, SECRET)
        assert "its files changed; that alone starts nothing" in done.out
        assert "No changes" in done.out
        stale = project.triplane("apply", "plan.json", SECRET, stack=False)
        assert stale.code == 4
        assert "examples/llama-pretrain/src/ changed" in stale.err
    finally:
        readme.unlink()
    assert project.jobs() == before


def test_an_upgrade_of_the_tool_starts_nothing(main_job: MainJob, tmp_path: Path) -> None:
    project = main_job.project
    before = project.jobs()
    env = project.environment | {"PYTHONPATH": str(upgraded_tool(tmp_path))}
    words = ["apply", TASK, "--stack", "stack.yaml", "--auto-approve", SECRET]
    version, done = (
        subprocess.run(
            [*PROGRAM, *arguments],
            env=env,
            cwd=project.folder,
            capture_output=True,
            text=True,
            timeout=120,
        )
        for arguments in (["--version"], words)
    )
    assert "99.0" in version.stdout
    assert done.returncode == 0, done.stderr
    assert "No changes" in done.stdout
    assert project.jobs() == before


def test_a_change_is_shown_and_makes_a_second_run(main_job: MainJob, stand_ins: Path) -> None:
    project = main_job.project
    task = project.folder / TASK
    before = task.read_text()
    (stand_ins / "behaviour").write_text("exit $((SKYPILOT_NODE_RANK * 3))\n")
    try:
        task.write_text(before.replace('MAX_STEPS: "20000"', 'MAX_STEPS: "40000"'))
        planned = project.triplane("plan", TASK, SECRET, "--detailed-exitcode")
        assert planned.code == 2, planned.text
        line = 1 + before[: before.index("MAX_STEPS: ")].count("\n")
        assert "+ llama-pretrain on alpha: create run 2\n" in planned.out
        assert "the task changed; run 1 succeeded" in planned.out
        assert f"because envs.MAX_STEPS changed ({TASK}:{line}:" in planned.out
        assert "-   export MAX_STEPS='20000'" in planned.out
        assert "+   export MAX_STEPS='40000'" in planned.out

        done = project.apply(TASK, SECRET, "--wait", "finished", code=1)
        assert "llama-pretrain run 2: failed" in done.err
        assert project.runs_submitted() == ["llama-pretrain.1", "llama-pretrain.2"]
        assert [run.state for run in project.runs().values()] == [
            RunState.SUCCEEDED,
            RunState.FAILED,
        ]
        assert project.runs()[WORK, 2].exit_code == 3
        assert project.triplane("wait", WORK).code == 100
        assert "--max-steps 40000" in project.log(WORK, 1, run=2)
        said = project.triplane("logs", WORK, "--no-follow").out
        assert "triplane: run: rank 1 failed with exit code 3" in said
    finally:
        (stand_ins / "behaviour").write_text("exit 0\n")
        task.write_text(before)


def test_check(main_job: MainJob) -> None:
    done = main_job.project.triplane("check", "--format", "json")
    assert done.code == 0, done.text
    (target,) = done.json["targets"]
    assert (target["name"], target["ok"]) == ("alpha", True)
    assert "alice on alpha-login" in target["answer"]
    assert "partitions cpu, gpu" in target["answer"]


def test_cancel_while_it_runs(slurm_site: SlurmSite, stand_ins: Path, new_project) -> None:
    project = new_project()
    shutil.copytree(TOP / "examples", project.folder / "examples")
    (stand_ins / "behaviour").write_text("sleep 100\n")
    try:
        project.apply(TASK, SECRET, "--wait", "running")
        assert project.triplane("wait", WORK, "--timeout", 0).code == 101
        done = project.triplane("cancel", WORK)
        assert done.code == 0, done.text
        assert done.out == "llama-pretrain run 1 on alpha cancelled\n"
        assert project.triplane("wait", WORK).code == 103
        assert project.triplane("cancel", WORK).out.endswith("has ended (cancelled)\n")
        shown = project.triplane("plan", TASK, SECRET)
        assert "run 1 cancelled; again only with --rerun" in shown.out
    finally:
        (stand_ins / "behaviour").write_text("exit 0\n")


def test_a_saved_plan_holds_no_secret(main_job: MainJob) -> None:
    project = main_job.project
    texts = [project.folder.joinpath("plan.json").read_text(), json.dumps(project.record(WORK))]
    texts += [main_job.planned, main_job.applied]
    texts += [path.read_text() for path in project.run_folder(WORK).rglob("*") if path.is_file()]
    assert not [text for text in texts if "not-to-be-seen" in text]
    refused = project.triplane("apply", "plan.json", "--secret=HF_TOKEN=other", stack=False)
    assert refused.code == 4
    assert "secret HF_TOKEN has another value" in refused.err
    assert os.environ.get("HF_TOKEN") is None
