"""What plans say of money: by the hour and in all, for each change and together."""

import json

import pytest

LIMITED = {"slurm": {"sbatch_options": {"time": "4:00:00"}}}


@pytest.fixture
def priced(project):
    project.stack("alpha", "us-east-1", pricing={"alpha": {"H100": 2.5, "cpu": 0.125}})
    project.task(
        "train",
        num_nodes=2,
        resources={"accelerators": "H100:8", "infra": "slurm"},
        config=LIMITED,
    )
    project.task("free", resources={"infra": "slurm"})
    project.task("rented", resources={"instance_type": "g5.xlarge", "infra": "aws/us-east-1"})
    return project


def costs(plan):
    return {item["work"]: item.get("cost") for item in plan["works"] if item["work"][0] != "_"}


def test_each_change_and_all_of_them_have_a_cost(priced):
    plan = priced.plan_json()
    assert costs(plan) == {
        "train": {"hourly": 40.0, "time_limit": 14400, "total": 160.0},
        "free": {"hourly": 0.0},
        "rented": {"hourly": 1.006},
    }
    assert plan["cost"]["changes"] == {
        "hourly": 41.006,
        "total": 160.0,
        "endless": 1,
        "unknown": [],
    }


def test_what_stays_costs_too_and_what_goes_no_more(priced):
    priced.applied()
    (priced.folder / "tasks/train.yaml").unlink()
    priced.task("new", resources={"cpus": 4, "infra": "slurm"})
    plan = priced.plan_json()
    assert plan["cost"]["changes"]["hourly"] == 0.5
    assert plan["cost"]["all"]["hourly"] == 1.506
    shown = priced.plan().out
    assert "Cost of the changes: 0.50 $/h." in shown
    assert "Cost of all that then runs: 1.51 $/h." in shown
    assert "costs 40.00" not in shown


def test_every_view_says_it(priced):
    words = "costs 40.00 $/h, at most 160.00 $ in its 4h"
    summary = "41.01 $/h, at most 160.00 $ in all without the 1 that have no time limit"
    for view in ("text", "markdown", "html"):
        shown = priced.plan("--format", view).out
        assert words in shown, view
        assert summary in shown, view
    page = priced.plan("--format", "html").out
    assert '<td class="number">40.00</td><td class="number">160.00</td>' in page


def test_a_saved_plan_keeps_it(priced):
    priced.plan("--out", "plan.json")
    first = (priced.folder / "plan.json").read_text()
    assert json.loads(first)["works"][-1]["cost"]["total"] == 160.0
    assert priced.run("apply", "plan.json").code == 0
