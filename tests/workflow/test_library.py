"""`compiler.workflow` as a Python program uses it: plain calls, frozen results, typed errors."""

import dataclasses

import pytest

from compiler import workflow
from compiler.diagnostics import (
    Diagnostics,
    InvalidInput,
    PlanOutdated,
    TriplaneError,
    WorkFailed,
    WrongUsage,
)
from compiler.model import Overrides
from compiler.planning.plan_file import to_json


@pytest.fixture
def stack(project):
    project.stack("alpha", "eks", root=".")
    project.task("a", resources={"cpus": 2, "infra": "slurm"})
    project.task("b", resources={"cpus": 2, "infra": "k8s"}, secrets={"TOKEN": None})
    return workflow.load_stack("stack.yaml", Diagnostics())


def test_every_public_name_is_there_and_documented():
    for name in workflow.__all__:
        value = getattr(workflow, name)
        assert value.__doc__, name
    assert set(dir(workflow)) >= set(workflow.__all__)
    with pytest.raises(AttributeError):
        _ = workflow.nothing


def test_the_way_from_a_file_to_applied(project, stack, capsys):
    assert workflow.validate(["tasks"]).is_valid
    rendering = workflow.render([], stack)
    assert {item.path.split("/")[0] for item in rendering.artifacts} == {"slurm", "kubernetes"}
    planned = workflow.plan([], stack)
    assert planned.plan.applyable
    said = []
    applied = workflow.apply_plan(
        planned.plan, stack, workflow.secrets_for(planned, stack), said.append
    )
    assert applied.exit_code == 0
    assert said == ["slurm/alpha/a: create run 1", "kubernetes/eks/b: create run 1"]
    assert not workflow.plan([], stack).plan.has_changes
    assert [run.work for run in workflow.status(stack).runs] == ["a", "b"]
    assert workflow.wait(stack, ["a"]) is workflow.Waited.UNKNOWN
    assert [error for _, _, error in workflow.check(stack)] == [None, None]
    assert workflow.unlock(stack) == [("alpha", None, None), ("eks", None, None)]
    gone = workflow.plan_destroy(stack)
    assert workflow.apply_plan(gone.plan, stack, {}).exit_code == 0
    assert project.files() == {}
    # A library neither prints nor asks.
    assert capsys.readouterr() == ("", "")


def test_results_are_frozen(stack):
    planned = workflow.plan([], stack)
    for value in (planned, planned.plan, planned.plan.works[0], workflow.render([], stack)):
        first = dataclasses.fields(value)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, first, None)


def test_a_saved_plan_is_opened_with_what_it_was_made_from(project, stack):
    planned = workflow.plan([], stack, overrides=Overrides(secret=(("TOKEN", "x"),)))
    project.write("plan.json", to_json(planned.plan))
    opened = workflow.open_plan("plan.json")
    assert opened.plan == planned.plan
    assert opened.secrets == {}  # directories are handed no values
    project.task("a", num_nodes=2)
    with pytest.raises(PlanOutdated) as caught:
        workflow.open_plan("plan.json")
    assert caught.value.moved == ("tasks/a.yaml changed",)
    with pytest.raises(WrongUsage):
        workflow.open_plan("plan.json", overrides=Overrides(num_nodes=3))


def test_a_plan_that_does_not_know_everything_is_not_applied(project):
    project.stack(
        targets={"live": {"kind": "slurm", "deployer": "local"}, "alpha": {"kind": "slurm"}}
    )
    project.task("a", resources={"infra": "slurm/alpha"})
    stack = workflow.load_stack("stack.yaml", Diagnostics())
    planned = workflow.plan([], stack, options=workflow.PlanOptions(offline=True))
    assert not planned.plan.complete
    with pytest.raises(WorkFailed):
        workflow.apply_plan(planned.plan, stack, {})
    assert project.files() == {}


def test_a_plan_for_a_target_that_has_gone_is_outdated(project, stack):
    planned = workflow.plan([], stack)
    project.stack("eks", root=".")
    smaller = workflow.load_stack("stack.yaml", Diagnostics())
    with pytest.raises(PlanOutdated) as caught:
        workflow.apply_plan(planned.plan, smaller, {})
    assert caught.value.moved == ("the stack no longer has target 'alpha'",)


def test_wrong_input_raises_all_of_it_at_once(project, stack):
    project.write("bad/one.yaml", "run: a\nrunn: a\n")
    project.write("bad/two.yaml", "run: b\nsetpu: b\n")
    for call in (workflow.render, workflow.plan, workflow.plan_runs):
        with pytest.raises(InvalidInput) as caught:
            call(["bad"], stack)
        assert [item.code for item in caught.value.diagnostics] == ["unknown-field"] * 2
        assert isinstance(caught.value, TriplaneError)
        assert caught.value.exit_code == 1


def test_diff_and_explain(project, stack):
    workflow.render([], stack).write("review")
    assert not workflow.diff([], stack, "review").has_changes
    project.task("a", resources={"cpus": 3, "infra": "slurm"})
    assert workflow.diff([], stack, "review").has_changes
    found = workflow.explain("resources.cpus")
    assert found.field == "resources.cpus"
    assert {kind for kind, _ in found.support} == {"slurm", "kubernetes", "aws"}


def test_explanations_have_the_rows_of_all_cases_and_of_what_encloses_a_field():
    rows = [row.field for _, row in workflow.explain("resources.accelerators").support]
    assert any("(" in row for row in rows)
    below = workflow.explain("service.replicas").support
    assert below and all(row.field.startswith("service") for _, row in below)
    inside = workflow.explain("resources.any_of.infra").support
    assert {row.field for _, row in inside} == {"resources.infra"}
    whole = dict(workflow.explain("stack:").facts())
    assert whole["fields"].startswith("set, root")
    assert dict(workflow.explain("stack:set.name").facts())["default"] == "none"


def test_what_stands_below_a_field_is_listed_by_the_case_in_which_it_does():
    of_targets = dict(workflow.explain("stack:targets").facts())
    assert of_targets["fields of each item"] == "kind"
    for kind, field in (("kubernetes", "queue"), ("slurm", "partitions"), ("aws", "subnets")):
        assert field in of_targets[f"fields of each item with `kind: {kind}`"].split(", ")
    one = dict(workflow.explain("stack:targets.prod").facts())
    assert "partitions" in one["fields with `kind: slurm`"]
    assert "size" in dict(workflow.explain("volumes").facts())["fields of each item"]
    assert "infra" in dict(workflow.explain("resources.any_of").facts())["fields of each item"]
    # The name of a target may be left out.
    for field in ("stack:targets.version", "stack:targets.prod.version"):
        assert workflow.explain(field).schema["type"] == "string"
    below = workflow.explain("resources").below
    assert not any(name.startswith("_") for _, names in below for name in names)
