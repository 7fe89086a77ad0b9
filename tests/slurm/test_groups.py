"""Groups on the real cluster: one heterogeneous job, names, and how it ends."""

from __future__ import annotations

import time

import pytest

from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

_CPU = "resources: {infra: slurm/alpha/cpu, cpus: 1, memory: 1}"
# Components of a heterogeneous job never share a node.
_ELSEWHERE = "resources: {infra: slurm/alpha/gpu, cpus: 1, memory: 1}"
_GPU = "resources: {infra: slurm/alpha/gpu, cpus: 1, memory: 1, accelerators: H100:1}"


def group(project: Project, header: str, **tasks: str) -> None:
    """Write `tasks/duo.yaml`: a task is its text behind `name:`."""
    parts = [f"name: duo\nexecution: parallel\n{header}"]
    parts += [f"name: {name}\n{text}" for name, text in tasks.items()]
    (project.folder / "tasks/duo.yaml").write_text("\n---\n".join(parts))


def log(project: Project, task: str, rank: int = 0, run: int = 1) -> str:
    return (project.run_folder("duo", run) / f"{task}/logs/{rank}.log").read_text()


def test_all_start_together_and_know_each_other(project: Project) -> None:
    group(
        project,
        "",
        trainer=f"""num_nodes: 2
{_GPU}
setup: echo "setup $SKYPILOT_JOBGROUP_NAME"
run: |
  for name in trainer-0 trainer-1 server-0; do
    echo "$name is $(getent hosts $name.duo | awk '{{print $1}}')"
  done
  echo "rank $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES, gpus $CUDA_VISIBLE_DEVICES, uid $(id -un)"
  echo "server at $TRIPLANE_NODES_SERVER, $SKYPILOT_TASK_ID"
  sleep 1""",
        server=f"{_CPU}\nrun: |\n  getent hosts trainer-1.duo\n  hostname; sleep 1",
    )
    project.apply()
    ended = project.until("duo")
    assert ended.state is RunState.SUCCEEDED
    first = project.record("duo")["identity"]
    shown = project.sh("squeue", "-h", "-t", "all", "-j", first, "-o", "%i").split()
    assert sorted(shown) == [f"{first}+0", f"{first}+1"]
    for rank in (0, 1):
        lines = log(project, "trainer", rank).splitlines()
        assert lines[0] == "setup duo"
        assert lines[1:4] == [
            "trainer-0 is 127.0.1.1",
            "trainer-1 is 127.0.1.2",
            "server-0 is 127.0.1.4",
        ]
        assert lines[4] == f"rank {rank} of 2, gpus 0, uid alice"
        assert lines[5] == f"server at 127.0.1.4, triplane-{project.name}-duo-trainer-1"
    server = log(project, "server").splitlines()
    assert server[0].split()[0] == "127.0.1.2"
    assert server[1] == "alpha-c1"
    shown = project.triplane("logs", "duo", "--no-follow")
    assert "(server) alpha-c1" in shown.out or "(server, rank 0) alpha-c1" in shown.out
    assert "(trainer, rank 1) rank 1 of 2, gpus 0, uid alice" in shown.out
    assert "Nothing to do." in project.apply().out


def test_auxiliaries_end_after_their_delay(project: Project) -> None:
    group(
        project,
        "primary_tasks: [trainer]\ntermination_delay: {server: 3}",
        trainer=f"{_CPU}\nrun: sleep 1",
        server=f"{_ELSEWHERE}\nrun: |\n  trap 'date +%s; echo told; exit 0' TERM\n"
        "  for i in $(seq 600); do sleep 0.1; done",
        monitor=f"{_ELSEWHERE}\nrun: for i in $(seq 600); do sleep 0.1; done",
    )
    before = time.monotonic()
    project.apply()
    assert project.until("duo").state is RunState.SUCCEEDED
    assert 4 <= time.monotonic() - before < 25
    assert "told\n" in log(project, "server")
    ends = {
        task: (project.run_folder("duo") / f"{task}/ended").read_text().split()[0]
        for task in ("trainer", "server", "monitor")
    }
    assert ends == {"trainer": "0", "server": "143", "monitor": "143"}


def test_a_primary_that_fails_ends_the_others_at_once(project: Project) -> None:
    group(
        project,
        "primary_tasks: [trainer]\ntermination_delay: 500s",
        trainer=f"{_CPU}\nrun: exit 9",
        server=f"{_ELSEWHERE}\nrun: sleep 1000",
    )
    project.apply()
    ended = project.until("duo")
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 9)


def test_the_first_primary_that_fails_ends_those_before_it(project: Project) -> None:
    group(
        project,
        "",
        trainer=f"{_CPU}\nrun: sleep 1000",
        server=f"{_ELSEWHERE}\nrun: exit 8",
    )
    project.apply()
    ended = project.until("duo")
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 8)
    ends = (project.run_folder("duo") / "trainer/ended").read_text().split()
    assert ends[0] == "143"


def test_an_auxiliary_that_fails_leaves_the_group_running(project: Project) -> None:
    group(
        project,
        "primary_tasks: [trainer]",
        trainer=f"{_CPU}\nrun: sleep 3",
        server=f"{_ELSEWHERE}\nrun: exit 5",
    )
    project.apply()
    assert project.until("duo").state is RunState.SUCCEEDED
    assert (project.run_folder("duo") / "server/ended").read_text().split()[0] == "5"


def test_a_task_is_started_again_where_it_is(project: Project) -> None:
    recovers = _CPU.replace("}", ", job_recovery: {max_restarts_on_errors: 1}}")
    group(
        project,
        "",
        trainer=f"{recovers}\nrun: echo x >> ~/starts; [ $(wc -l < ~/starts) = 2 ] || exit 4",
        server=f"{_ELSEWHERE}\nrun: echo x >> ~/starts; sleep 1",
    )
    project.apply()
    assert project.until("duo").state is RunState.SUCCEEDED
    work = project.state / "work/duo.1"
    assert (work / "trainer/home/starts").read_text() == "x\nx\n"
    assert (work / "server/home/starts").read_text() == "x\n"


def test_cancelling_ends_all_of_it(project: Project) -> None:
    group(
        project,
        "",
        trainer=f"{_GPU}\nrun: sleep 1000",
        server=f"{_ELSEWHERE}\nrun: sleep 1000",
    )
    project.apply()
    project.until("duo", RunState.RUNNING)
    assert project.triplane("cancel", "duo").code == 0
    assert project.until("duo").state is RunState.CANCELLED
    assert project.sh("squeue", "-h", "-u", "alice", "-o", "%j").count(project.name) == 0
