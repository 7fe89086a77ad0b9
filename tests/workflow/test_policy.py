"""The stack's policy in plans: what fails one, what lets it pass, and what is recorded of that."""

import json
import re

import pytest


@pytest.fixture
def limited(project):
    project.stack("alpha", "eks", policy={"max_accelerators": 8, "required_labels": ["team"]})
    project.task(
        "train",
        num_nodes=2,
        resources={"accelerators": "H100:8", "infra": "slurm", "labels": {"team": "a"}},
    )
    return project


def test_a_broken_rule_fails_every_command_that_would_place_the_task(limited):
    for words in (
        ("plan",),
        ("apply", "--auto-approve"),
        ("render", "--out", "x"),
        ("run", "tasks/train.yaml"),
    ):
        done = limited.run(*words, "--stack", "stack.yaml")
        assert done.code == 1, words
        assert "error[policy-accelerators]" in done.err
        assert re.search(r"--> tasks/train\.yaml:\d+:\d+\n.*H100:8", done.err, re.DOTALL)
        assert "stack.yaml:" in done.err
    assert not (limited.folder / "out").exists()
    assert not (limited.folder / "x").exists()


def test_a_named_override_passes_and_is_recorded(limited):
    done = limited.plan("--override-policy", "max_accelerators", "--out", "plan.json")
    assert done.code == 0, done.text
    assert "warning[policy-accelerators]" in done.err
    assert "(let pass by --override-policy max_accelerators)" in done.err
    assert "Policy overridden: max_accelerators is broken by train" in done.out
    plan = json.loads((limited.folder / "plan.json").read_text())
    assert plan["arguments"]["override_policy"] == ["max_accelerators"]
    (passed,) = plan["overridden"]
    assert passed == {
        "rule": "max_accelerators",
        "work": "train",
        "message": "the task asks for 16 accelerators on 2 nodes, the policy allows 8",
    }
    for view in ("markdown", "html"):
        shown = limited.plan("--override-policy", "max_accelerators", "--format", view).out
        assert "Policy overridden" in shown
    assert limited.run("apply", "plan.json").code == 0


def test_an_override_lets_nothing_else_pass(limited):
    limited.task("other", resources={"cpus": 2, "infra": "slurm"})
    done = limited.plan("--override-policy", "max_accelerators")
    assert done.code == 1
    assert "error[policy-label]" in done.err


def test_an_override_has_to_name_a_rule_of_the_stack(limited):
    done = limited.plan("--override-policy", "max_accelerator")
    assert done.code == 64
    assert "did you mean `max_accelerators`?" in done.err
    assert limited.plan("--override-policy", "spot").code == 64


def test_a_saved_plan_takes_no_other_policy(limited):
    limited.plan("--override-policy", "max_accelerators", "--out", "plan.json")
    limited.stack("alpha", "eks", policy={"max_accelerators": 4})
    done = limited.run("apply", "plan.json")
    assert done.code == 4
    assert "stack.yaml changed" in done.err


def test_a_task_goes_where_the_policy_allows_it(project):
    project.stack("alpha", "eks", policy={"allowed_infra": ["k8s/*"]})
    project.task("train")
    plan = project.plan_json()
    (work,) = plan["works"]
    assert work["target"] == "eks"
    refused = {row["target"]: row["reason"] for row in work["placement"] if not row["chosen"]}
    assert refused == {"alpha": "the policy does not allow slurm/alpha"}


def test_limits_of_the_whole_plan(project):
    project.stack(
        "alpha",
        policy={"max_accelerators_per_plan": 12, "max_hourly_cost_per_plan": 40},
        pricing={"alpha": {"H100": 2.5}},
    )
    for name in ("a", "b"):
        project.task(name, resources={"accelerators": "H100:8"})
    done = project.plan()
    assert done.code == 1
    assert "the plan starts 16 accelerators (a: 8, b: 8), the policy allows 12" in done.err
    assert "policy-cost-per-plan" not in done.err
    assert project.plan("--work", "a").code == 0
    assert project.applied("--work", "a").code == 0
    # What runs already is not started again.
    assert project.plan().code == 0


def test_jobs_of_an_array_count_each(project):
    project.stack(
        "alpha",
        policy={"max_accelerators_per_plan": 20, "max_hourly_cost_per_plan": 50},
        pricing={"alpha": {"H100": 2.5}},
    )
    path = project.task("sweep", resources={"accelerators": "H100:8"})
    words = ("run", path, "--stack", "stack.yaml")
    done = project.run(*words, "--num-jobs", 3)
    assert done.code == 1
    assert "the plan starts 24 accelerators (sweep: 24), the policy allows 20" in done.err
    assert "60.00 $/h" in done.err
    assert project.run(*words, "--num-jobs", 2).code == 0


def test_a_service_counts_with_all_replicas_that_it_may_grow_to(project):
    project.stack("eks", policy={"max_hourly_cost_per_plan": 25}, pricing={"eks": {"H100": 10}})
    project.task(
        "chat",
        resources={"accelerators": "H100:1", "ports": 8080},
        service={
            "readiness_probe": "/health",
            "replica_policy": {"min_replicas": 1, "max_replicas": 3, "target_qps_per_replica": 5},
        },
    )
    done = project.plan()
    assert done.code == 1
    assert "30.00 $/h" in done.err


PLUGIN = """\
from compiler.planning.policy import Violation

def check(plan, options):
    for work in plan.works:
        assert all(secret.value is None for task in work.tasks for secret in task.secrets.values())
        if work.name.startswith(options["prefix"]):
            continue
        yield Violation(f"`{work.name}` is not called {options['prefix']}...", work.name,
                        field=("name",), hint="rename it")
"""


@pytest.fixture
def plugin(project):
    """An installed package with an entry point, as pip would leave it."""
    project.write("site/naming_rules.py", PLUGIN)
    project.write(
        "site/naming_rules-1.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: naming-rules\nVersion: 1.0\n",
    )
    project.write(
        "site/naming_rules-1.0.dist-info/entry_points.txt",
        "[triplane.policy]\nnaming = naming_rules:check\n",
    )
    project.monkeypatch.syspath_prepend(project.folder / "site")
    project.stack("alpha", policy={"plugins": {"naming": {"prefix": "lab-"}}})
    project.task("train", secrets={"TOKEN": "value-of-it"})
    return project


def test_a_plugin_is_asked_by_its_entry_point(plugin):
    done = plugin.plan()
    assert done.code == 1
    assert "error[policy-plugin]: naming: `train` is not called lab-..." in done.err
    assert "tasks/train.yaml:1:7" in done.err
    assert "rename it" in done.err
    assert "value-of-it" not in done.text
    passed = plugin.plan("--override-policy", "naming")
    assert passed.code == 0, passed.text
    assert "Policy overridden: naming is broken by train" in passed.out
    plugin.task("lab-train")
    (plugin.folder / "tasks/train.yaml").unlink()
    assert plugin.plan().code == 0


def test_a_plugin_that_is_not_there_fails_the_plan(project):
    project.stack("alpha", policy={"plugins": {"absent": None}})
    project.task("train")
    done = project.plan()
    assert done.code == 1
    assert "error[policy-plugin-failed]" in done.err
    assert project.plan("--override-policy", "absent").code == 0


def test_a_saved_plan_takes_no_override(limited):
    limited.plan("--override-policy", "max_accelerators", "--out", "plan.json")
    done = limited.run("apply", "plan.json", "--override-policy", "required_labels")
    assert done.code == 64
    assert "--override-policy: a saved plan is applied as it is" in done.err
    fresh = limited.apply("--override-policy", "max_accelerators")
    assert fresh.code == 0, fresh.text
