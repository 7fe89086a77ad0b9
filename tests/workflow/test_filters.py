"""Filters by name, label and target: what they leave out is not planned, pruned or applied."""

import pytest

from tests.workflow.project import actions


@pytest.fixture
def several(project):
    project.stack("alpha", "eks")
    project.task("a", resources={"cpus": 1, "infra": "slurm", "labels": {"team": "x"}})
    project.task("b", resources={"cpus": 1, "infra": "slurm", "labels": {"team": "y"}})
    project.task("c", resources={"cpus": 1, "infra": "k8s", "labels": {"team": "x", "gpu": "no"}})
    project.task("d", resources={"cpus": 1, "infra": "k8s"})
    return project


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ((), "abcd"),
        (("--work", "a", "--work", "d"), "ad"),
        (("--label", "team"), "abc"),
        (("--label", "team=x"), "ac"),
        (("--label", "team=x", "--label", "gpu"), "c"),
        (("--label", "team=x", "--work", "a"), "a"),
        (("--target", "eks"), "cd"),
        (("--target", "alpha", "--label", "team=x"), "a"),
    ],
)
def test_filters_restrict_and_are_kept_in_a_saved_plan(several, words, left):
    plan = several.plan_json(*words)
    assert sorted(name.partition("@")[0] for name in actions(plan)) == list(left)
    assert plan["scope"] == ("paths" if words else "set")
    several.plan("--out", "plan.json", *words)
    applied = several.run("apply", "plan.json")
    assert applied.code == 0, applied.text
    assert sorted(record["work"] for record in several.records().values()) == list(left)


def test_what_a_filter_leaves_out_is_never_pruned(several):
    several.applied()
    (several.folder / "tasks/b.yaml").unlink()
    for words in (("--work", "a"), ("--label", "team=x"), ("--target", "alpha")):
        assert "delete" not in actions(several.plan_json(*words)).values(), words
    assert actions(several.plan_json())["b@alpha"] == "delete"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--label", "tean"), "did you mean `team`?"),
        (("--label", "team=z"), "no task of the input has the label `team=z`"),
        (("--work", "z"), "no input holds a task `z`"),
        (("--target", "z"), "has no target `z`"),
    ],
)
def test_a_filter_that_fits_nothing_is_wrong_usage(several, words, said):
    done = several.plan(*words)
    assert done.code == 64
    assert said in done.err


def test_a_saved_plan_takes_no_filter(several):
    several.plan("--out", "plan.json")
    done = several.run("apply", "plan.json", "--label", "team")
    assert done.code == 64
    assert "--label" in done.err


def test_parallel_changes_no_byte(several):
    plans = {several.plan("--parallel", count, "--format", "json").out for count in (1, 2, 16)}
    assert len(plans) == 1
