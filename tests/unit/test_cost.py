"""What work costs: limits of time as each platform writes them, sums, and what has no price."""

import pytest

from compiler.planning.cost import Cost, Costs, cost_of, sbatch_seconds, sum_of, time_limit
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


def test_the_limit_is_read_from_what_is_rendered():
    script = Artifact("a", "#!/bin/bash\n#SBATCH --time=2:00:00\n", ArtifactKind.SBATCH, "a")
    job = Artifact("b", "spec:\n  activeDeadlineSeconds: 600\n  x: 1\n", ArtifactKind.MANIFEST, "b")
    other = Artifact("c", "#SBATCH --time=0:10\n", ArtifactKind.SHELL, "c")
    assert time_limit([script, other]) == 7200
    assert time_limit([script, job]) == 600
    assert time_limit([other]) is None


def test_cost_in_all_needs_a_price_and_a_limit():
    assert Cost(12.0, time_limit=5400).total == 18.0
    assert Cost(12.0).total is None
    assert Cost(None, time_limit=5400).total is None


def test_replicas_cost_from_the_fewest_to_the_most():
    service = task_of(
        "run: x\nservice: {readiness_probe: /, replica_policy: {min_replicas: 2, "
        "max_replicas: 5, target_qps_per_replica: 1}}\nresources: {ports: 80}\n"
    )
    assert cost_of(service, 1.5, ()) == Cost(3.0, 7.5)
    assert cost_of(service, None, ()) == Cost(None)
    assert cost_of(task_of("run: x\n"), 1.5, ()) == Cost(1.5)


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
