"""What work costs: limits of time as each platform writes them, sums, and what has no price."""

import json
from dataclasses import replace

import pytest

from compiler.planning.cost import Cost, Costs, cost_of, sum_of
from compiler.planning.time_limits import sbatch_seconds, time_limit
from compiler.rendering.artifact import Artifact, ArtifactKind
from tests.unit.model_documents import task_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400),
        ("90:30", 5430),
        ("1:30:00", 5400),
        ("2-12", 216_000),
        ("2-12:30", 217_800),
        ("1-0:0:1", 86_401),
        ("0", None),
        ("UNLIMITED", None),
        ("1:2:3:4", None),
    ],
)
def test_times_of_sbatch(text, seconds):
    assert sbatch_seconds(text) == seconds


def test_more_digits_than_python_converts_are_a_long_time():
    assert sbatch_seconds(f"{'9' * 5000}:00") > sbatch_seconds("365-0")


def script(*header: str) -> Artifact:
    lines = ("#!/bin/bash", *header, "", "cat <<END", "#SBATCH --time=0:01:00", "END", "")
    return Artifact("job.sbatch", "\n".join(lines), ArtifactKind.SBATCH, "job.sbatch")


def manifest(kind: str, spec: object) -> Artifact:
    text = json.dumps({"kind": kind, "spec": spec}, indent=1)
    return Artifact("job.yaml", text.replace('"', ""), ArtifactKind.MANIFEST, f"{kind}/train-1")


def job(own: int | None = None, pods: int | None = None) -> dict[str, object]:
    limits = [{"activeDeadlineSeconds": item} if item else {} for item in (own, pods)]
    return {**limits[0], "template": {"spec": limits[1]}}


TWO_HOURS = script("#SBATCH --time=2:00:00")
ENDLESS = script("#SBATCH --nodes=1")


def test_a_script_ends_with_its_header_and_the_text_of_its_body_says_nothing():
    assert time_limit([TWO_HOURS]) == 7200
    assert time_limit([ENDLESS]) is None
    assert time_limit([replace(TWO_HOURS, kind=ArtifactKind.SHELL)]) is None


def test_parts_end_with_the_last_and_stages_after_one_another():
    half = script("#SBATCH --time=30")
    assert time_limit([TWO_HOURS, half]) == 7200
    assert time_limit([TWO_HOURS, half], in_turn=True) == 9000
    assert time_limit([TWO_HOURS, ENDLESS]) is None
    het = script("#SBATCH --time=30", "#SBATCH hetjob", "#SBATCH --time=40")
    assert time_limit([het]) == 2400
    assert time_limit([script("#SBATCH --time=30", "#SBATCH hetjob")]) is None


def test_limits_of_jobs_and_of_their_pods():
    assert time_limit([manifest("Job", job(600, 500))]) == 500
    assert time_limit([manifest("Job", job(pods=500))]) == 500
    assert time_limit([manifest("Job", job())]) is None
    stages = [{"template": {"spec": job(600)}}, {"template": {"spec": job(900)}}]
    assert time_limit([manifest("JobSet", {"replicatedJobs": stages})]) == 900
    assert time_limit([manifest("JobSet", {"replicatedJobs": stages})], in_turn=True) == 1500
    stages.append({"template": {"spec": job()}})
    assert time_limit([manifest("JobSet", {"replicatedJobs": stages})]) is None
    assert time_limit([manifest("ConfigMap", {"activeDeadlineSeconds": 5})]) is None


def test_cost_in_all_needs_a_price_and_a_limit():
    assert Cost(12.0, time_limit=5400).total == 18.0
    assert Cost(12.0).total is None
    assert Cost(None, time_limit=5400).total is None


def test_replicas_cost_from_the_fewest_to_the_most():
    service = task_of(
        "run: x\nservice: {readiness_probe: /, replica_policy: {min_replicas: 2, "
        "max_replicas: 5, target_qps_per_replica: 1}}\nresources: {ports: 80}\n"
    )
    assert cost_of(service, 1.5) == Cost(3.0, 7.5)
    assert cost_of(service, None) == Cost(None)
    assert cost_of(task_of("run: x\n"), 1.5) == Cost(1.5)


def test_sums_say_what_they_leave_out():
    costs = [
        ("a", Cost(1.5, time_limit=7200)),
        ("b", Cost(2.0)),
        ("c", Cost(0.0)),
        ("d", Cost(None)),
        ("d", Cost(None)),
    ]
    assert sum_of(costs) == Costs(3.5, 3.0, 1, ("d",))
    assert sum_of([]) == Costs(0.0, 0.0)
