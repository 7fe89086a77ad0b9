"""Scripts that become tasks: what they print and write is what they do when submitted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compiler.migration.result import Status
from compiler.migration.settings import Settings
from compiler.workflow import migrate_script
from tests.slurm_site import SlurmSite
from tests.unit.slurm_jobs import make_job, render

pytestmark = pytest.mark.slurm

USER = "alice"
ARGUMENTS = ("one", "two words")
STACK = """\
set: {name: moved, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
"""
SCRIPTS = {
    "plain": """#!/bin/bash
#SBATCH --time=5 --partition=cpu --output=/dev/null
echo "home $HOME in $PWD" | tee where
echo "arguments $# $1 $2"
touch ~/touched-by-$1
""",
    "strict": """#!/bin/bash -eu
#SBATCH --partition=cpu --cpus-per-task=3 --mem=100M --output=/dev/null
echo "cpus $SLURM_CPUS_PER_TASK job ${SLURM_JOB_ID:+set} from $SLURM_SUBMIT_DIR"
false
echo never
""",
    "folder": """#!/bin/bash
#SBATCH --partition=cpu --chdir=sub --output=/dev/null
basename "$PWD"
cat <<'EOF' >params
\tx = $HOME   
EOF
cat params
""",
    "steps": """#!/bin/bash
#SBATCH --job-name=named --ntasks=1 --partition=cpu --output=/dev/null
srun echo "$SLURM_JOB_NAME $SLURM_NTASKS $SLURM_NPROCS $SLURM_TASKS_PER_NODE"
PROGRAM=cat
printf 'a b\\n' | srun -n 1 $PROGRAM >from-a-step
if ! srun --ntasks=1 bash -c 'exit 3' 2>/dev/null; then echo "failed"; fi
srun -n1 bash -c 'echo "$SLURM_PROCID of $SLURM_NTASKS on $(hostname)"'
""",
    "gpu": """#!/bin/bash
#SBATCH --gres=gpu:a100:2 --partition=gpu --output=/dev/null
echo "$SLURM_GPUS_ON_NODE"
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_both_ways_come_to_the_same(name: str, slurm_site: SlurmSite):
    site, home = slurm_site, slurm_site.home(USER)
    script = SCRIPTS[name]
    folders = [home / f"{how}-{name}" for how in ("by-hand", "moved")]
    for folder in folders:
        _shell(site, f"rm -rf {folder}; mkdir -p {folder}/sub")
    (folders[0] / "job.sh").write_text(script)
    words = ["sbatch", "--parsable", "--output=out", "job.sh", *ARGUMENTS]
    by_hand = _submitted(site, words, folders[0])

    settings = Settings(cluster="alpha", submit_folder=str(folders[1]), arguments=ARGUMENTS)
    found = migrate_script(script.encode(), f"{name}.sh", settings)
    assert found.status is Status.TRANSLATED and found.yaml is not None
    assert "run" in yaml.safe_load(found.yaml)
    job = make_job(found.yaml, STACK)
    text, said = render(job)
    assert not said.has_errors, [item.message for item in said]
    run_folder = home / f".triplane/moved/runs/{job.work}.{job.run}"
    _shell(site, f"rm -rf {run_folder}; mkdir -p {run_folder}; cat >{run_folder}/job.sbatch", text)
    moved = _submitted(site, ["sbatch", "--parsable", f"{run_folder}/job.sbatch"], home)

    assert site.wait_job("alpha", by_hand) == site.wait_job("alpha", moved)
    site.wait_for((run_folder / "ended").exists, 20, "the end")
    outputs = [
        next(folders[0].rglob("out")).read_text().replace(str(folders[0]), "FOLDER"),
        (run_folder / "logs/0.log").read_text().replace(str(folders[1]), "FOLDER"),
    ]
    assert outputs[0] == outputs[1]
    assert _files(folders[0]) == _files(folders[1])


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text().replace(str(folder), "FOLDER")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("job.sh", "out")
    }


def _shell(site: SlurmSite, command: str, data: str | None = None) -> None:
    done = site.run("alpha", USER, ["bash", "-c", command], input=data)
    assert done.returncode == 0, done.stderr


def _submitted(site: SlurmSite, words: list[str], folder: Path) -> str:
    done = site.run("alpha", USER, words, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
