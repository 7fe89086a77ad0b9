"""Two nodes that meet: `srun torchrun` on Slurm as it is, and in pods when it has been moved.

The program is a stand-in that says which world it was told of, its rank, and whether the
machine at the endpoint answers.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compiler.migration.result import Status
from compiler.planning.states import RunState
from compiler.rendering.filetree import NATIVE_SCRIPT, read_tree
from compiler.workflow import migrate_script, migration_settings
from tests.kubernetes.project import Project, name_of
from tests.kubernetes_site import KubernetesSite
from tests.slurm_site import SlurmSite
from tests.unit.slurm_jobs import make_job, render

SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=meet --nodes=2 --ntasks-per-node=1
#SBATCH --partition=gpu --constraint=h100 --output=out.txt
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR=$head MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
cat >"torchrun.$SLURM_JOB_ID" <<'EOF'
# torchrun --nnodes N --rdzv_endpoint ADDRESS:PORT --rdzv_id ID
port=${4##*:} host=${4%:*}
said=$( (timeout 10 bash -c "exec 3<>/dev/tcp/$host/$port") 2>&1)
case $said in
    '' | *refused*) answer=reachable ;;
    *) answer="unreachable: $said" ;;
esac
echo "world $2 rank $SLURM_PROCID id $6 endpoint $answer"
EOF
srun bash "torchrun.$SLURM_JOB_ID" --nnodes "$SLURM_NNODES" \\
    --rdzv_endpoint "$MASTER_ADDR:$MASTER_PORT" --rdzv_id $RANDOM
"""
STACK = """\
set: {name: meet, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
"""


def _met(lines: list[str]) -> None:
    """Two ranks of one world, with one id, and each reached the endpoint."""
    said = sorted(line.split() for line in lines if line.startswith("world "))
    assert [words[:4] for words in said] == [
        ["world", "2", "rank", "0"],
        ["world", "2", "rank", "1"],
    ]
    assert len({words[5] for words in said}) == 1
    assert [words[7:] for words in said] == [["reachable"], ["reachable"]]


@pytest.mark.slurm
def test_as_it_is_on_slurm(slurm_site: SlurmSite, tmp_path: Path):
    home = slurm_site.home("alice") / "meet"
    done = slurm_site.run("alpha", "alice", ["mkdir", "-p", str(home)])
    assert done.returncode == 0, done.stderr
    found = migrate_script(
        SCRIPT.encode(), str(tmp_path / "job.sh"), migration_settings(submit_folder=str(home))
    )
    assert found.status is Status.KEPT and found.yaml is not None
    path = tmp_path / "job.sh"
    path.write_text(SCRIPT)
    text, said = render(make_job(found.yaml, STACK, trees=[read_tree(path, NATIVE_SCRIPT)]))
    assert not said.has_errors
    words = ["bash", "-c", "mkdir -p .triplane/meet/runs/meet.1; sbatch --parsable"]
    done = slurm_site.run("alpha", "alice", words, input=text)
    assert done.returncode == 0, done.stderr
    assert slurm_site.wait_job("alpha", done.stdout.strip(), timeout=120) == "COMPLETED"
    _met((home / "out.txt").read_text().splitlines())


@pytest.fixture
def project(
    kubernetes_site: KubernetesSite, tmp_path: Path, request: pytest.FixtureRequest
) -> Project:
    made = Project(kubernetes_site, tmp_path, name_of(request.node.name), real=True)
    request.addfinalizer(made.clean)
    return made


@pytest.mark.kubernetes
def test_moved_to_pods(project: Project):
    settings = migration_settings(target="kubernetes")
    found = migrate_script(SCRIPT.encode(), "meet.sh", settings)
    assert found.status is Status.TRANSLATED and found.yaml is not None
    task = yaml.safe_load(found.yaml)
    assert task["num_nodes"] == 2
    path = project.folder / "tasks" / "meet.yaml"
    path.write_text(found.yaml)
    done = project.triplane("apply", "--auto-approve")
    assert done.code == 0, done.text
    assert project.until("meet", seconds=180).state is RunState.SUCCEEDED
    logs = project.triplane("logs", "meet", "--no-follow")
    assert logs.code == 0, logs.text
    _met([line.partition(") ")[2] for line in logs.out.splitlines()])


PROCESSES = """\
#!/bin/bash
#SBATCH --job-name=processes --nodes=2 --ntasks-per-node=2
export HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun --kill-on-bad-exit bash -c 'echo "task $SLURM_PROCID/$SLURM_NTASKS $SLURM_NODEID $HEAD"'
"""


@pytest.mark.long
@pytest.mark.kubernetes
def test_processes_of_two_pods(project: Project):
    found = migrate_script(PROCESSES.encode(), "p.sh", migration_settings(target="kubernetes"))
    assert found.status is Status.TRANSLATED and found.yaml is not None
    (project.folder / "tasks" / "processes.yaml").write_text(found.yaml)
    done = project.triplane("apply", "--auto-approve")
    assert done.code == 0, done.text
    assert project.until("processes", seconds=180).state is RunState.SUCCEEDED
    logs = project.triplane("logs", "processes", "--no-follow")
    said = sorted(line.partition(") ")[2] for line in logs.out.splitlines() if "task " in line)
    assert [line.split()[1:3] for line in said] == [
        *(["0/4", "0"], ["1/4", "0"], ["2/4", "1"], ["3/4", "1"]),
    ]
    assert len({line.split()[3] for line in said}) == 1
