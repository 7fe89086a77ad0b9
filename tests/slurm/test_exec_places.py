"""Commands beside ranks in images, groups and arrays: they are where the rank is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.slurm.login_files import bashrc
from tests.slurm.project import Project
from tests.slurm.test_exec import exec_in

pytestmark = pytest.mark.slurm

CPU = {"infra": "slurm/alpha/cpu", "cpus": 1, "memory": 1}
GPU = {"infra": "slurm/alpha/gpu", "cpus": 1, "memory": 1}
SECRETS = {"secrets": {"FILED": {"alpha": {"file": "~/.filed"}}}}

# Runs what it is told in a world of which it says that it is the image's.
_APPTAINER = """\
#!/bin/bash
home=
while [ $# -gt 0 ] && [[ $1 != docker://* ]]; do
    [ "$1" != --home ] || home=$2
    shift
done
image=$1
shift
HOME=$home IN_IMAGE=$image exec "$@"
"""


@pytest.fixture
def tools(project: Project) -> Iterator[Path]:
    """Stand-ins for apptainer and enroot on the PATH of alice's shells and jobs."""
    site = project.site
    enroot = Path(__file__).with_name("enroot.sh").read_text()
    for name, text in (("apptainer", _APPTAINER), ("enroot", enroot)):
        tool = site.write("alice", f"images/{name}", text)
        tool.chmod(0o755)
    site.write("alice", ".filed", "from a file")
    words = f"export PATH={tool.parent}:$PATH CONTAINERS={site.state}/containers\n"
    with bashrc(site, "alice", words):
        yield tool.parent
    shutil.rmtree(tool.parent)


def started(project: Project, work: str) -> None:
    project.until(work, RunState.RUNNING)
    begun = project.state / f"work/{work}.1"
    project.site.wait_for(lambda: [*begun.rglob("ready")], 30, "the run")


def said(project: Project, work: str, text: str, rank: int = 0) -> list[str]:
    done = exec_in(project, work, "bash", "-c", text, rank=rank)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("containers", ["pyxis", "apptainer"])
def test_in_an_image_with_the_secrets(project: Project, tools: Path, containers: str) -> None:
    project.target = {"containers": containers}
    project.write_stack(**SECRETS)
    project.task(
        "train",
        resources={**GPU, "image_id": "docker:chroot-image"},
        secrets={"TOKEN": None, "FILED": None},
        setup="echo installed > ~/note",
        run="touch ~/sky_workdir/ready; sleep 1000",
    )
    project.apply("--secret", "TOKEN=a 'value'")
    started(project, "train")
    words = 'cat ~/note; echo "$TOKEN, $FILED"; echo "$IN_IMAGE$STANDIN_PYXIS_CONTAINER_NAME"'
    note, secrets, place = said(project, "train", words)
    assert (note, secrets) == ("installed", "a 'value', from a file")
    job = project.record("train")["identity"]
    named = f"triplane-{job}.0:exec"
    assert place == (named if containers == "pyxis" else "docker://chroot-image")


def test_in_a_group_each_has_its_names_and_its_own_secrets(project: Project, tools: Path) -> None:
    parts = ["name: duo\nexecution: parallel"]
    for name, resources, secret in (("trainer", CPU, "ONE: '1'"), ("server", GPU, "TWO: '2'")):
        run = 'echo "$ONE, $TWO"; touch ready; sleep 1000'
        parts.append(f"name: {name}\nresources: {resources}\nsecrets: {{{secret}}}\nrun: '{run}'")
    (project.folder / "tasks/duo.yaml").write_text("\n---\n".join(parts))
    project.apply()
    started(project, "duo")
    words = (
        'echo "$ONE, $TWO"; getent hosts trainer-0.duo server-0.duo | cut -d " " -f 1;'
        ' echo "$TRIPLANE_NODES_SERVER $SKYPILOT_JOBGROUP_NAME"; hostname; id -un'
    )
    ours = {0: ("1, ", True), 1: (", 2", False)}
    for rank, (secrets, is_trainer) in ours.items():
        lines = said(project, "duo", words, rank)
        assert lines[0] == secrets
        trainer, server = lines[1].split()[0], lines[2].split()[0]
        assert trainer == "127.0.1.4"
        assert lines[3] == f"{server} duo"
        assert (lines[4] == "alpha-c1") is is_trainer
        assert lines[5] == "alice"
    for task, secrets in (("trainer", "1, "), ("server", ", 2")):
        log = project.run_folder("duo") / f"{task}/logs/0.log"
        assert log.read_text() == f"{secrets}\n"


def test_in_an_array_it_knows_its_number(project: Project) -> None:
    path = project.task("sweep", run="touch ready; sleep 1000")
    done = project.triplane("run", f"tasks/{path.name}", "--num-jobs", "2")
    assert done.code == 0, done.text
    project.until("sweep", RunState.RUNNING)
    for rank in (0, 1):
        ready = project.state / f"work/sweep.1/{rank}/home/sky_workdir/ready"
        project.site.wait_for(ready.exists, 30, "the run")
        task_id = f"triplane-{project.name}-sweep-1-{rank}"
        words = 'echo "$SKYPILOT_JOB_RANK $SKYPILOT_TASK_ID $SLURM_JOB_PARTITION"'
        assert said(project, "sweep", words, rank) == [f"{rank} {task_id} cpu"]
