"""A target that refuses is not the end: the next candidate takes the work, and no two ever do."""

from __future__ import annotations

import json

import pytest

from compiler.workflow import observe
from tests.workflow.platforms import TARGETS, Deployer, Killed, runs


@pytest.fixture
def platforms(all_platforms):
    """alpha is full and beta refuses, unless a test says otherwise."""
    all_platforms.by_key["beta"].refuses = "Invalid account"
    all_platforms.by_key["alpha"].refuses = "the queue is full"
    return all_platforms


def records(platforms):
    return {
        f"{key}/{name}": (record.stage.value, record.identity)
        for key, item in platforms.by_key.items()
        for name, record in item.records.items()
        if not name.startswith("_")
    }


def test_a_plan_holds_the_bytes_of_every_candidate(project, platforms):
    project.plan("--out", "plan.json")
    plan = json.loads((project.folder / "plan.json").read_text())
    (work,) = [item for item in plan["works"] if item["work"] == "train"]
    found = [(item["target"], item["run"]) for item in (work, *work["alternatives"])]
    assert found == [("alpha", 1), ("beta", 2), ("eks", 3), ("us-east-1", 4)]
    for item in work["alternatives"]:
        assert item["objects"]
        assert all(part["artifact"]["text"] for part in item["objects"])
        assert item["record"]["run"] == item["run"]
    assert "moves on if it is refused: beta as run 2, then eks as run 3" in project.plan().out


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "fresh"])
def test_apply_moves_on_across_platforms(project, platforms, saved):
    if saved:
        project.plan("--out", "plan.json")
        done = project.run("apply", "plan.json")
    else:
        done = project.apply()
    assert done.code == 0, done.text
    assert "kubernetes/eks/train run 3: created" in done.out
    assert "alpha: the queue is full" in done.out
    assert "Invalid account" in done.out
    assert runs(platforms) == ["eks/train.3"]
    assert records(platforms) == {
        "alpha/train.1": ("ended", None),
        "beta/train.2": ("ended", None),
        "eks/train.3": ("created", "id-train.3"),
    }


def test_a_second_apply_moves_nothing(project, platforms):
    project.applied()
    for key in ("alpha", "beta"):
        platforms.by_key[key].refuses = ""
    again = project.applied()
    assert "Nothing to do." in again.out
    assert runs(platforms) == ["eks/train.3"]
    (work,) = [item for item in project.plan_json()["works"] if item["work"] == "train"]
    assert (work["target"], work["action"]) == ("eks", "no-op")
    assert "alternatives" not in work


@pytest.mark.parametrize("traces", [True, False], ids=["traces", "no traces"])
def test_the_same_plan_again_knows_where_it_stands(project, platforms, traces):
    for item in platforms.by_key.values():
        item.keeps_no_trace = not traces
    project.plan("--out", "plan.json")
    assert project.run("apply", "plan.json").code == 0
    for key in ("alpha", "beta"):
        platforms.by_key[key].refuses = ""
    again = project.run("apply", "plan.json")
    assert again.code == 0, again.text
    assert "done by an earlier apply" in again.out
    assert runs(platforms) == ["eks/train.3"]
    # While the target that has the run is away, it is nowhere else either.
    platforms.by_key["eks"].away = True
    blind = project.run("apply", "plan.json")
    assert blind.code == 3, blind.text
    assert runs(platforms) == ["eks/train.3"]


def test_with_kubernetes_away_since_the_plan_aws_takes_it(project, platforms):
    # Away when the locks are taken: nothing of this plan can be there.
    plan = observe.look

    def look(*words, **more):
        world = plan(*words, **more)
        platforms.by_key["eks"].away = True
        return world

    project.monkeypatch.setattr("compiler.workflow.planner.look", look)
    done = project.apply()
    assert done.code == 0, done.text
    assert runs(platforms) == ["us-east-1/train.4"]


def test_a_saved_plan_never_passes_a_target_that_could_hold_its_run(project, platforms):
    for key in ("alpha", "beta"):
        platforms.by_key[key].refuses = ""
    project.plan("--out", "plan.json")
    assert project.run("apply", "plan.json").code == 0
    assert runs(platforms) == ["alpha/train.1"]
    platforms.by_key["alpha"].away = True
    again = project.run("apply", "plan.json")
    assert again.code == 3
    assert runs(platforms) == ["alpha/train.1"]


def test_nothing_is_submitted_together_that_could_be_elsewhere(project, platforms):
    """Works that are sent at once are held back by the same rule as those sent one by one."""
    project.task("other")
    project.plan("--out", "plan.json")
    platforms.by_key["alpha"].refuses = ""
    platforms.by_key["eks"].away = True
    assert project.run("apply", "plan.json").code == 3
    assert runs(platforms) == []
    platforms.by_key["eks"].away = False
    assert project.run("apply", "plan.json").code == 0
    assert runs(platforms) == ["alpha/other.1", "alpha/train.1"]


def test_where_all_refuse_the_last_reason_is_the_error(project, platforms):
    for key, item in platforms.by_key.items():
        item.refuses = f"{key} says no"
    done = project.apply()
    assert done.code == 1
    assert "us-east-1 says no" in done.err
    assert runs(platforms) == []


def test_what_ran_before_has_its_place(project, platforms):
    platforms.by_key["alpha"].refuses = ""
    project.applied()
    platforms.by_key["alpha"].live.clear()  # it was cancelled
    platforms.by_key["alpha"].refuses = "the queue is full"
    project.task("train", num_nodes=2)
    done = project.apply()
    assert done.code == 1
    assert "the queue is full" in done.err
    assert runs(platforms) == []
    del platforms.by_key["alpha"].records["train.2"]
    moved = project.apply("--move")
    assert moved.code == 0, moved.text
    assert [item.partition("/")[0] for item in runs(platforms)] == ["eks"]


def test_what_cannot_be_closed_is_not_passed(project, platforms):
    def away(point):
        if point == "alpha: after the intent of train.1":
            platforms.step = lambda point: None
            platforms.by_key["alpha"].refuses = "half-way"
            project.monkeypatch.setattr(
                Deployer, "observe", _gone_for(platforms, "alpha", Deployer.observe)
            )

    platforms.step = away
    done = project.apply()
    assert done.code == 1
    assert "what it left there cannot be closed" in done.err
    assert runs(platforms) == []


def _gone_for(platforms, key, observed):
    from compiler.diagnostics import TargetUnreachable

    def observe(self, with_artifacts=True):
        if self.platform.key == key:
            raise TargetUnreachable(key, "connection lost")
        return observed(self, with_artifacts)

    return observe


@pytest.mark.parametrize("traces", [True, False], ids=["traces", "no traces"])
def test_killed_at_every_point_exactly_one_run_remains(project, platforms, traces):
    """With the saved plan or a new one: whoever goes on, no work is lost and none runs twice."""
    project.plan("--out", "plan.json")
    for item in platforms.by_key.values():
        item.keeps_no_trace = not traces
    points: list[str] = []
    platforms.step = points.append
    assert project.run("apply", "plan.json").code == 0
    assert len(points) > 6
    for at in range(len(points)):
        for words in (("apply", "plan.json"), ("apply", "--stack", "stack.yaml", "--auto-approve")):
            for item in platforms.by_key.values():
                item.records.clear()
                item.live.clear()
                item.submitted.clear()
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
            done = project.run(*words)
            assert done.code in (0, 1), (points[at], words, done.text)
            live = runs(platforms)
            assert len(live) <= 1, (points[at], words)
            assert all(item.startswith("eks/") for item in live), (points[at], words)
            submitted = [
                key
                for item in platforms.by_key.values()
                for key in item.submitted
                if not key.startswith("_")
            ]
            assert len(submitted) <= 1, (points[at], submitted)
            if words == ("apply", "plan.json"):
                assert done.code == 0, (points[at], done.text)
                assert runs(platforms) == ["eks/train.3"], points[at]


def test_an_alternative_is_asked_of_the_plans_policy_too(project, platforms):
    """Each may be where a work ends, so that all of them together must be within the limits."""
    pricing = {"alpha": {"cpu": 1}, "beta": {"cpu": 1}, "eks": {"cpu": 2}, "us-east-1": {"cpu": 9}}
    project.stack(targets=TARGETS, pricing=pricing, policy={"max_hourly_cost_per_plan": 6})
    project.task("other")
    works = {item["work"]: item for item in project.plan_json()["works"] if item["work"][0] != "_"}
    found = {
        name: [item["target"] for item in (work, *work["alternatives"])]
        for name, work in works.items()
    }
    # 4 $/h on eks for the one leave 2 $/h for the other; us-east-1 is too dear for either.
    assert found == {"other": ["alpha", "beta", "eks"], "train": ["alpha", "beta"]}
    (why,) = [row["reason"] for row in works["train"]["placement"] if row["target"] == "eks"]
    assert why == (
        "left out by the policy: the plan starts work for 8.00 $/h, the policy allows 6.00 $/h"
    )
