"""schemas/plan.schema.json knows every member of a plan, and real plans are valid by it."""

from __future__ import annotations

import dataclasses
import json

import pytest
from jsonschema import Draft202012Validator

from compiler.model import Overrides
from compiler.planning.because import Because
from compiler.planning.cost import Cost, Costs
from compiler.planning.differences import FieldAction, FieldChange
from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, Overridden, PlacementRow, Skipped, WorkChange
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import RunState
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.filetree import FileTree
from compiler.source import schema
from compiler.workflow.arguments import PlanOptions

SCHEMA = schema("plan")
CHECK = Draft202012Validator(SCHEMA)


def members(node):
    return set(node["properties"])


def names(kind):
    return {item.name for item in dataclasses.fields(kind)}


@pytest.mark.parametrize(
    ("place", "kind", "derived"),
    [
        (("$defs", "work"), WorkChange, {"replace_paths"}),
        (("$defs", "object"), ObjectChange, set()),
        (("$defs", "object", "properties", "artifact"), Artifact, set()),
        (("$defs", "object", "properties", "fields", "items"), FieldChange, set()),
        (("$defs", "because", "items"), Because, set()),
        (("$defs", "work", "properties", "placement", "items"), PlacementRow, set()),
        (("$defs", "work", "properties", "cost"), Cost, {"total"}),
        (("$defs", "costs"), Costs, set()),
        (("$defs", "record"), Record, set()),
        (("$defs", "fileTree"), FileTree, set()),
        (("properties", "overridden", "items"), Overridden, set()),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_every_member_of_a_plan_is_in_the_schema(place, kind, derived):
    node = SCHEMA
    for step in place:
        node = node[step]
    assert members(node) == names(kind) | derived
    assert node["additionalProperties"] is False
    assert all(item.get("description") or "$ref" in item for item in node["properties"].values())


def test_every_option_is_in_the_schema():
    arguments = SCHEMA["$defs"]["arguments"]
    given = names(PlanOptions) - {"parallel"}  # which changes no plan
    assert members(arguments) >= given
    assert members(arguments["properties"]["overrides"]) == names(Overrides) - {"secret"}


def test_every_word_is_in_the_schema():
    defs = SCHEMA["$defs"]
    assert set(defs["action"]["enum"]) == set(Action)
    assert set(defs["state"]["enum"]) == {None, *RunState}
    assert set(defs["record"]["properties"]["stage"]["enum"]) == set(Stage)
    assert set(defs["record"]["properties"]["lifecycle"]["enum"]) == set(Lifecycle)
    fields = defs["object"]["properties"]["fields"]["items"]["properties"]
    assert set(fields["action"]["enum"]) == set(FieldAction)
    assert set(defs["object"]["properties"]["artifact"]["properties"]["kind"]["enum"]) == set(
        ArtifactKind
    )
    target = SCHEMA["properties"]["targets"]["items"]["properties"]
    assert set(target["skipped"]["enum"]) == set(Skipped)


def test_real_plans_are_valid(project):
    project.stack(
        "alpha",
        "eks",
        "us-east-1",
        root=".",
        policy={"required_labels": ["team"]},
        pricing={"alpha": {"cpu": 0.5}},
    )
    project.write("src/train.py", "print()\n")
    labelled = {"labels": {"team": "a"}, "cpus": 2}
    project.task(
        "train",
        workdir="src",
        resources={**labelled, "infra": "slurm"},
        secrets={"TOKEN": None},
        config={"slurm": {"sbatch_options": {"time": "1:00:00"}}},
    )
    project.task("serve", resources={**labelled, "infra": "k8s"})
    project.task("plain", resources={"cpus": 2})
    passing = ("--override-policy", "required_labels")
    words = (
        passing,
        (*passing, "--env", "A=1", "--config", "slurm.cpu_partition=x", "--num-nodes", "2"),
        (*passing, "--offline", "--rerun", "--move", "--replace-running", "--work", "train"),
        (*passing, "--target", "eks", "--every-target", "--allow-empty", "--delete-volumes"),
        (*passing, "--read-only"),
        ("tasks/train.yaml",),
    )
    for given in words:
        CHECK.validate(project.plan_json(*given))
    project.applied(*passing)
    for given in words:
        CHECK.validate(project.plan_json(*given))
    project.task(
        "train",
        workdir="src",
        resources={**labelled, "infra": "slurm"},
        envs={"LR": "1"},
        num_nodes=2,
    )
    (project.folder / "tasks/serve.yaml").unlink()
    project.write("out/slurm/alpha/demo-train-1/job.sbatch", "by hand\n")
    for given in words[:-1]:
        plan = project.plan_json(*given)
        CHECK.validate(plan)
    assert {"update", "delete"} <= {item["action"] for item in project.plan_json(*passing)["works"]}


def test_a_replacement_names_what_makes_it_one(project):
    from compiler.planning.plan_file import from_json, to_json

    project.stack("alpha")
    project.task("train")
    project.applied()
    project.task("train", num_nodes=2)
    project.plan("--out", "plan.json")
    plan = from_json((project.folder / "plan.json").read_text())
    works = tuple(dataclasses.replace(item, action=Action.REPLACE) for item in plan.works)
    body = json.loads(to_json(dataclasses.replace(plan, works=works)))
    CHECK.validate(body)
    assert body["works"][0]["replace_paths"] == ["num_nodes"]
    again = to_json(dataclasses.replace(plan, works=works))
    assert to_json(from_json(again)) == again


def test_what_a_plan_was_made_with_is_noted(project):
    project.stack("alpha")
    project.task("train")
    noted = project.plan_json()["noted"]
    assert set(noted) == {"triplane", "catalogue", "templates"}
    assert all(noted.values())
