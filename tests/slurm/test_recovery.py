"""Starting again on the real cluster: after errors, preemption and a lost node; and hooks."""

from __future__ import annotations

import pytest

from tests.slurm.submitting import STACK, Submitter

pytestmark = pytest.mark.slurm

_TASK = """\
name: again
resources: {{infra: slurm/alpha/cpu, cpus: 1, memory: 1, job_recovery: {recovery}}}
{more}
run: |
  echo "start $SLURM_RESTART_COUNT of $SKYPILOT_TASK_ID" >> ~/starts
  {run}
"""


def task(run: str, recovery: str, more: str = "") -> str:
    return _TASK.format(run=run, recovery=recovery, more=more)


def starts(job) -> list[str]:
    path = job.work / "home/starts"
    return path.read_text().splitlines() if path.exists() else []


def test_errors_are_mended_as_often_as_asked_for(submit: Submitter) -> None:
    job = submit(task("exit 7", "{max_restarts_on_errors: 1}", "setup: echo setup >> ~/setups"))
    assert job.wait("FAILED") == "FAILED"
    assert job.exit_code() == "7:0"
    assert job.ended == (7, job.number)
    assert [line.split()[:2] for line in starts(job)] == [["start"], ["start", "1"]] or (
        len(starts(job)) == 2
    )
    assert len({line.rpartition(" ")[2] for line in starts(job)}) == 1
    assert (job.work / "home/setups").read_text() == "setup\nsetup\n"
    assert "exit code 7: back into the queue" in job.output


def test_exit_codes_that_always_recover_do_not_count(submit: Submitter) -> None:
    count = "[ $(wc -l < ~/starts) -ge 3 ] || exit 33"
    job = submit(task(count, "{max_restarts_on_errors: 0, recover_on_exit_codes: [33]}"))
    assert job.wait() == "COMPLETED", job.output
    assert len(starts(job)) == 3
    assert job.ended == (0, job.number)


def test_several_ranks_that_fail_count_once(submit: Submitter) -> None:
    job = submit("""\
name: gang
num_nodes: 2
resources:
  infra: slurm/alpha/gpu
  cpus: 1
  memory: 1
  job_recovery: {max_restarts_on_errors: 1}
run: |
  echo "$SKYPILOT_NODE_RANK" >> ~/starts-$SKYPILOT_NODE_RANK
  [ $(wc -l < ~/starts-$SKYPILOT_NODE_RANK) = 2 ] || exit 9
""")
    assert job.wait() == "COMPLETED", job.output
    assert [(job.work / f"home/starts-{rank}").read_text() for rank in (0, 1)] == [
        "0\n0\n",
        "1\n1\n",
    ]


def test_without_recovery_a_failure_is_the_end(submit: Submitter) -> None:
    job = submit(task("exit 7", "none"))
    assert job.wait("FAILED") == "FAILED"
    assert len(starts(job)) == 1


def test_a_lost_node_puts_the_job_back(submit: Submitter) -> None:
    job = submit(task("[ $(wc -l < ~/starts) = 2 ] || sleep 100", "FAILOVER"))
    job.site.wait_for(lambda: len(starts(job)) == 1, 20, "the first start")
    down = ["scontrol", "update", "nodename=alpha-c1", "state=down", "reason=lost"]
    assert job.site.run("alpha", "root", down).returncode == 0
    up = ["scontrol", "update", "nodename=alpha-c1", "state=resume"]
    try:
        job.site.wait_for(lambda: job.wait("PENDING") == "PENDING", 20, "back in the queue")
    finally:
        job.site.run("alpha", "root", up)
    assert job.wait() == "COMPLETED", job.output
    assert len(starts(job)) == 2


@pytest.mark.parametrize("event", ["down", "preemption"])
def test_hooks_run_before_the_nodes_go(submit: Submitter, event: str) -> None:
    stack = STACK + "    sbatch_options: {qos: scavenge}\n" if event == "preemption" else STACK
    hooks = (
        "config: {hooks: [{run: 'echo \"$SKYPILOT_HOOK_EVENT $SKYPILOT_NODE_RANK $WHO\"',"
        " timeout: 5}]}\nenvs: {WHO: me}"
    )
    job = submit(
        task("[ $(wc -l < ~/starts) = 2 ] || sleep 100", "FAILOVER", hooks).replace(
            "cpus: 1,", "cpus: 64,"
        ),
        stack,
    )
    job.site.wait_for(lambda: len(starts(job)) == 1, 20, "the first start")
    log = job.work / f"home/.sky/hooks/{event}.log"
    if event == "down":
        job.cancel()
        assert job.wait() == "CANCELLED"
    else:
        words = ["sbatch", "--parsable", "--qos=high", "-p", "cpu", "-n1", "-c64", "--wrap=true"]
        other = job.site.run("alpha", "alice", words)
        assert other.returncode == 0, other.stderr
        assert job.wait() == "COMPLETED", job.output
        assert len(starts(job)) == 2
    assert log.read_text().splitlines()[0] == f"{event} 0 me"


def test_a_hook_runs_at_a_regular_end_and_its_failure_changes_nothing(submit: Submitter) -> None:
    hooks = "config: {hooks: [{run: 'echo bye; exit 3', events: [down]}]}"
    job = submit(task("true", "none", hooks))
    assert job.wait() == "COMPLETED"
    assert (job.work / "home/.sky/hooks/down.log").read_text() == "bye\n"
    assert "hook 0 for down failed" in job.output


def test_the_announced_signal_reaches_the_program(submit: Submitter) -> None:
    stack = STACK + '    sbatch_options: {signal: "B:USR1@59", time: "1"}\n'
    run = "trap 'echo told >> ~/told; exit 0' USR1; for i in $(seq 60); do sleep 0.5; done"
    job = submit(task(run, "FAILOVER"), stack)
    assert job.wait(timeout=50) == "COMPLETED", job.output
    assert (job.work / "home/told").read_text() == "told\n"
