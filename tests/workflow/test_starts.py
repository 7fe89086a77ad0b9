"""What a target accepts and does not start in its time goes on to the next candidate."""

import json

import pytest

from compiler.workflow import starts
from tests.workflow.platforms import TARGETS, Killed, runs

AT_ONCE = {"slurm": {"provision_timeout": 0}}


@pytest.fixture
def platforms(project, all_platforms):
    """Only eks starts what it accepts; nobody waits for long on Slurm."""
    project.stack(targets=TARGETS, config=AT_ONCE)
    project.monkeypatch.setattr(starts, "_POLL_SECONDS", 0.01)
    all_platforms.by_key["eks"].starts = True
    return all_platforms


def test_it_goes_on_to_where_it_starts(project, platforms):
    shown = project.plan().out
    words = "moves on if it is refused, or has not started after 0s: beta as run 2, then eks"
    assert words in shown
    done = project.applied()
    assert "kubernetes/eks/train run 3: created" in done.out
    assert "alpha: run 1 did not start within 0 s" in done.out
    assert "beta: run 2 did not start within 0 s" in done.out
    assert runs(platforms) == ["eks/train.3"]
    again = project.applied()
    assert "No changes" in again.out or "Nothing to do." in again.out
    assert runs(platforms) == ["eks/train.3"]


def test_where_it_starts_in_time_it_stays(project, platforms):
    platforms.by_key["alpha"].starts = True
    project.applied()
    assert runs(platforms) == ["alpha/train.1"]


def test_without_a_limit_it_waits_where_it_is(project, platforms):
    project.stack(targets=TARGETS)
    assert "moves on if it is refused: beta" in project.plan().out
    project.applied()
    assert runs(platforms) == ["alpha/train.1"]


def test_minus_one_waits_for_ever(project, platforms):
    project.stack(targets=TARGETS, config={"slurm": {"provision_timeout": -1}})
    project.applied()
    assert runs(platforms) == ["alpha/train.1"]


def test_a_task_sets_it_for_itself_where_the_dialect_lets_it(project, platforms):
    project.stack(targets={key: TARGETS[key] for key in ("eks", "us-east-1")})
    platforms.by_key["eks"].starts = False
    project.task("other", config={"kubernetes": {"provision_timeout": 0}})
    project.applied()
    assert runs(platforms) == ["eks/train.1", "us-east-1/other.2"]


def test_the_last_candidate_waits_for_ever(project, platforms):
    project.stack(targets={key: TARGETS[key] for key in ("alpha", "beta")}, config=AT_ONCE)
    project.applied()
    assert runs(platforms) == ["beta/train.2"]


def test_what_starts_at_the_last_moment_stays(project, platforms):
    def start(point):
        if point == "alpha: before train.1 is ended":
            platforms.by_key["alpha"].starts = True

    platforms.step = start
    done = project.applied()
    assert "slurm/alpha/train run 1: created" in done.out
    assert runs(platforms) == ["alpha/train.1"]


def test_runs_that_are_added_go_on_too(project, platforms):
    done = project.run("run", "tasks/train.yaml", "--stack", "stack.yaml", "--num-jobs", 2)
    # On Slurm they are an array, which stays on Slurm.
    assert done.code == 0, done.text
    assert runs(platforms) == ["beta/train.2"]
    platforms.by_key["alpha"].refuses = platforms.by_key["beta"].refuses = "no"
    project.stack(targets={key: TARGETS[key] for key in ("eks", *TARGETS)})
    platforms.by_key["eks"].refuses = "no"
    project.run("run", "tasks/train.yaml", "--stack", "stack.yaml", "--num-jobs", 2)
    # Each of them has numbers of its own: 3, 5, 7, 9 and 4, 6, 8, 10.
    assert runs(platforms) == ["beta/train.2", "us-east-1/train.10", "us-east-1/train.9"]


def test_a_saved_plan_applies_after_queues_and_capacity_moved(project, platforms):
    """An hour after the pull request: what waited runs, what had room has none."""
    project.stack(targets=TARGETS)
    gpus = {"infra": "slurm", "accelerators": "H100:1"}
    project.task("train", resources=gpus)
    for key in ("alpha", "beta"):
        platforms.by_key[key].free = {"H100": 4}
    project.applied()
    project.task("later", resources=gpus)
    project.plan("--out", "plan.json")
    platforms.by_key["alpha"].starts = True
    platforms.by_key["alpha"].free = {"H100": 0}
    done = project.run("apply", "plan.json")
    assert done.code == 0, done.text
    assert runs(platforms) == ["alpha/later.1", "alpha/train.1"]


def test_a_targets_own_files_come_with_the_first_work_that_goes_there(project, platforms):
    """And not before: what AWS needs is written when nothing else has taken the work."""
    for key in ("alpha", "beta", "eks"):
        platforms.by_key[key].refuses = "no"
    project.task("other")
    project.plan("--out", "plan.json")
    plan = json.loads((project.folder / "plan.json").read_text())
    assert [item["work"] for item in plan["works"]] == ["other", "train"]
    for item in plan["works"]:
        assert [need["work"] for need in item["alternatives"][-1]["needs"]] == ["_project"]
    assert project.run("apply", "plan.json").code == 0
    assert platforms.by_key["us-east-1"].submitted == ["_project.1", "other.4", "train.4"]
    assert project.run("apply", "plan.json").code == 0
    assert platforms.by_key["us-east-1"].submitted == ["_project.1", "other.4", "train.4"]
    assert {item["action"] for item in project.plan_json()["works"]} == {"no-op"}


def test_a_targets_own_files_stay_where_work_may_come(project, platforms):
    project.stack(targets={"us-east-1": TARGETS["us-east-1"]})
    project.applied()
    (project.folder / "tasks/train.yaml").unlink()
    project.stack(targets=TARGETS, config=AT_ONCE)
    platforms.by_key["us-east-1"].live.clear()
    project.task("other")
    works = {item["work"]: item["action"] for item in project.plan_json()["works"]}
    assert works.get("_project", "no-op") == "no-op"


def test_all_wait_at_the_same_time(project, platforms):
    project.task("other")
    project.stack(targets=TARGETS, config={"slurm": {"provision_timeout": 5}})
    now = [0.0]

    def sleep(seconds):
        now[0] += 1

    project.monkeypatch.setattr(starts.time, "sleep", sleep)
    project.monkeypatch.setattr(starts.time, "monotonic", lambda: now[0])
    project.applied()
    assert runs(platforms) == ["eks/other.3", "eks/train.3"]
    assert now[0] <= 12


def test_killed_at_every_point_exactly_one_run_remains(project, platforms):
    project.plan("--out", "plan.json")
    points: list[str] = []
    platforms.step = points.append
    assert project.run("apply", "plan.json").code == 0
    assert len(points) > 12
    for at in range(len(points)):
        for item in platforms.by_key.values():
            item.records.clear()
            item.live.clear()
            item.locked_by = None
        count = iter(range(at, -1, -1))

        def kill(point, count=count):
            if next(count, None) == 0:
                raise Killed(point)

        platforms.step = kill
        with pytest.raises(Killed):
            project.run("apply", "plan.json")
        platforms.step = lambda point: None
        for item in platforms.by_key.values():
            item.locked_by = None
        done = project.run("apply", "plan.json")
        assert done.code == 0, (points[at], done.text)
        assert runs(platforms) == ["eks/train.3"], points[at]
