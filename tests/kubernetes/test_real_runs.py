"""The runtime contract on the real node, seen through status and logs: ranks, barrier, ends."""

from __future__ import annotations

import re

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import Project

pytestmark = pytest.mark.kubernetes


def _logs(project: Project, work: str, *options: str) -> list[str]:
    done = project.triplane("logs", work, *options)
    assert done.code == 0, done.text
    return done.out.splitlines()


def test_logs_follow_a_run_to_its_end(contract_runs: Project):
    contract_runs.until("talks", RunState.RUNNING, RunState.SUCCEEDED)
    assert _logs(contract_runs, "talks") == [f"line {number}" for number in range(1, 9)]
    assert _logs(contract_runs, "talks", "--no-follow", "--tail", "2") == ["line 7", "line 8"]


def test_the_first_failing_rank_ends_the_others_and_gives_the_exit_code(contract_runs: Project):
    found = contract_runs.until("failing")
    assert found.state is RunState.FAILED
    assert found.exit_code == 33
    assert {pod["status"]["phase"] for pod in contract_runs.pods("failing")} <= {"Failed"}


def test_a_failed_setup_ends_the_run_before_it_starts(contract_runs: Project):
    found = contract_runs.until("setup-fails")
    assert (found.state, found.exit_code) == (RunState.FAILED, 1)
    assert not [
        line for line in _logs(contract_runs, "setup-fails", "--no-follow") if "never" in line
    ]


def test_a_run_that_is_killed_has_its_signals_code(contract_runs: Project):
    found = contract_runs.until("gone")
    assert (found.state, found.exit_code) == (RunState.FAILED, 137)


def test_ranks_have_the_dialects_variables_and_pass_the_barrier_together(contract_runs: Project):
    assert contract_runs.until("contract", seconds=120).state is RunState.SUCCEEDED
    lines = _logs(contract_runs, "contract", "--no-follow")
    by_rank = {
        rank: [line.removeprefix(f"(rank {rank}) ") for line in lines if f"(rank {rank}) " in line]
        for rank in range(3)
    }
    assert sum(map(len, by_rank.values())) == len(lines)
    pods = contract_runs.pods("contract")
    key = "batch.kubernetes.io/job-completion-index"
    ips = {int(pod["metadata"]["labels"][key]): pod["status"]["podIP"] for pod in pods}
    addresses = " ".join(ips[rank] for rank in range(3))
    for rank, said in by_rank.items():
        assert f"ips {addresses} nodes 3 rank {rank}" in said
        assert f"id triplane-{contract_runs.name}-contract-1" in said
        assert 'token it\'s a "s3cr3t" 🚀' in said
        assert "at /root/sky_workdir has 42" in said
    times = re.findall(r"(set up|ran) at (\d+)", "\n".join(lines))
    last_setup = max(int(at) for what, at in times if what == "set up")
    first_run = min(int(at) for what, at in times if what == "ran")
    assert last_setup <= first_run
