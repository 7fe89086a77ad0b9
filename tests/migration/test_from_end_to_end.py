"""From a script to a run: `migrate`, then `apply`, `status` and `logs` on the real cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

ARRAY = """\
#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=1-3
#SBATCH --partition=cpu
#SBATCH --time=5
#SBATCH --output=sweep-%a.txt
echo "member $SLURM_ARRAY_TASK_ID with $1"
"""
SECRET = """\
#!/bin/bash
#SBATCH --ntasks=2 --partition=cpu --time=5
export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345
srun -n 2 bash -c 'echo "rank $SLURM_PROCID has ${HF_TOKEN:+a token of ${#HF_TOKEN}}"'
exit 4
"""

HETEROGENEOUS = """\
#!/bin/bash
#SBATCH --job-name=coupled --partition=cpu --time=5 --ntasks=1 --output=coupled.txt
#SBATCH hetjob
#SBATCH --ntasks=2 --partition=gpu --constraint=h100
srun --het-group=0 bash -c 'echo "server $SLURM_PROCID"'
srun --het-group=1 bash -c 'echo "client $SLURM_PROCID of $SLURM_NTASKS"' | sort
echo "size $SLURM_HET_SIZE of $SLURM_JOB_NAME with $1"
exit 3
"""
DRIVER = """\
#!/bin/bash
first=$(sbatch --parsable first.sh 7)
sbatch --dependency=afterok:$first second.sh
"""
FIRST = """\
#!/bin/bash
#SBATCH --partition=cpu --time=5
sleep 2
echo "first $1" >>chain.txt
"""
SECOND = """\
#!/bin/bash
#SBATCH --partition=cpu --time=5 --ntasks=2 --output=/dev/null
srun -n 2 bash -c 'echo "second $SLURM_PROCID"' | sort >>chain.txt
"""


@pytest.fixture
def project(slurm_site: SlurmSite, tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    made = Project(slurm_site, tmp_path, "moved")
    request.addfinalizer(made.clean)
    return made


def _migrate(project: Project, name: str, text: str, *arguments: str) -> None:
    (project.folder / name).write_text(text)
    words = ["--out", "tasks", "--submit-dir", str(project.site.home("alice"))]
    done = project.triplane("migrate", *words, "--", "sbatch", name, *arguments, stack=False)
    assert done.code == 0, done.text


def test_an_array_is_one_run(project: Project):
    _migrate(project, "sweep.sh", ARRAY, "seven")
    project.apply()
    assert project.until("sweep", seconds=90).state is RunState.SUCCEEDED
    home = project.site.home("alice")
    said = [(home / f"sweep-{number}.txt").read_text() for number in (1, 2, 3)]
    assert said == [f"member {number} with seven\n" for number in (1, 2, 3)]
    logs = project.triplane("logs", "sweep", "--no-follow")
    assert sorted(logs.out.splitlines()) == [line.strip() for line in said]


def test_a_secret_is_handed_over_and_the_exit_code_comes_back(project: Project):
    _migrate(project, "train.sh", SECRET)
    kept = (project.folder / "tasks" / "train.kept.sh").read_text()
    assert "hf_abc" not in kept
    project.apply("--secret", "HF_TOKEN=0123456789")
    found = project.until("train", seconds=90)
    assert (found.state, found.exit_code) == (RunState.FAILED, 4)
    logs = project.triplane("logs", "train", "--no-follow")
    assert sorted(logs.out.splitlines()) == [
        "rank 0 has a token of 10",
        "rank 1 has a token of 10",
    ]
    folder = project.run_folder("train")
    assert "0123456789" not in (folder / "job.sbatch").read_text()


def test_a_heterogeneous_job_is_one_run(project: Project):
    _migrate(project, "coupled.sh", HETEROGENEOUS, "seven")
    project.apply()
    found = project.until("coupled", seconds=120)
    assert (found.state, found.exit_code) == (RunState.FAILED, 3)
    said = (project.site.home("alice") / "coupled.txt").read_text().splitlines()
    assert said == [
        *("server 0", "client 0 of 2", "client 1 of 2"),
        "size 2 of coupled with seven",
    ]


def test_a_chain_runs_in_turn(project: Project):
    for name, text in (("go.sh", DRIVER), ("first.sh", FIRST), ("second.sh", SECOND)):
        (project.folder / name).write_text(text)
    home = project.site.home("alice")
    words = ["migrate", "go.sh", "--out", "tasks", "--submit-dir", str(home)]
    done = project.triplane(*words, stack=False)
    assert done.code == 0, done.text
    project.apply()
    assert project.until("go", seconds=120).state is RunState.SUCCEEDED
    assert (home / "chain.txt").read_text() == "first 7\nsecond 0\nsecond 1\n"
