"""Tasks that join a running group on the real cluster, and end with it."""

from __future__ import annotations

import pytest
import yaml

from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

_CPU = "resources: {infra: slurm/alpha/cpu, cpus: 1, memory: 1}"
_ELSEWHERE = {"infra": "slurm/alpha/gpu", "cpus": 1, "memory": 1}


def start(project: Project) -> None:
    text = f"name: duo\nexecution: parallel\n---\nname: trainer\n{_CPU}\nrun: sleep 1000\n"
    (project.folder / "tasks/duo.yaml").write_text(text)
    project.apply()
    project.until("duo", RunState.RUNNING)
    hosts = project.state / "work/duo.1/hosts"
    project.site.wait_for(hosts.exists, 20, "the group's names")


def join(project: Project, run: str, code: int = 0) -> None:
    task = {"name": "eval", "resources": _ELSEWHERE, "run": run}
    (project.folder / "eval.yaml").write_text(yaml.safe_dump(task))
    project.apply("eval.yaml", "--group", "duo", code=code)


def test_it_knows_the_group_and_its_failure_is_its_own(project: Project) -> None:
    start(project)
    join(
        project,
        "getent hosts trainer-0.duo; getent hosts eval-0.duo; "
        'echo "$TRIPLANE_NODES_TRAINER $SKYPILOT_JOBGROUP_NAME"; exit 3',
    )
    ended = project.until("duo-eval")
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 3)
    lines = project.log("duo-eval").splitlines()
    assert [line.split()[0] for line in lines] == ["127.0.1.4", "127.0.1.3", "127.0.1.4"]
    assert lines[2] == "127.0.1.4 duo"
    assert project.runs()[("duo", 1)].state is RunState.RUNNING


def test_it_ends_with_the_group(project: Project) -> None:
    start(project)
    join(project, "sleep 1000")
    project.until("duo-eval", RunState.RUNNING)
    assert project.triplane("cancel", "duo").code == 0
    assert project.until("duo-eval").state is RunState.CANCELLED


def test_the_group_itself_ends_what_joined_it(project: Project) -> None:
    start(project)
    join(project, "sleep 1000")
    eval_job = project.until("duo-eval", RunState.RUNNING).identity
    group_job = project.runs()[("duo", 1)].identity
    project.sh("scancel", str(group_job))  # by hand: no triplane looks on
    project.site.wait_job("alpha", str(eval_job), "CANCELLED")


def test_a_start_again_adds_its_names_no_second_time(project: Project) -> None:
    start(project)
    task = {
        "name": "eval",
        "resources": {**_ELSEWHERE, "job_recovery": {"max_restarts_on_errors": 1}},
        "run": "echo x >> ~/starts; [ $(wc -l < ~/starts) = 2 ] || exit 4; sleep 1000",
    }
    (project.folder / "eval.yaml").write_text(yaml.safe_dump(task))
    project.apply("eval.yaml", "--group", "duo")
    starts = project.state / "work/duo-eval.1/home/starts"
    project.site.wait_for(lambda: starts.exists() and "x\nx" in starts.read_text(), 60, "a restart")
    lines = (project.state / "work/duo.1/hosts").read_text().splitlines()
    assert len([line for line in lines if line.endswith(" eval-0.duo")]) == 1
    assert "trainer-0.duo" in lines[-2]
    joined = list((project.run_folder("duo") / ".joined").iterdir())
    assert [path.name for path in joined] == [project.record("duo-eval")["identity"]]
