"""`plan --read-only`: what a change that nobody has reviewed can have the planning machine do."""

import json

import pytest


@pytest.fixture
def checkout(project):
    """A checkout beside files that are none of its business."""
    project.write("private/credentials", "token: do-not-show\n")
    project.stack("alpha", "eks", root=".", name="repo/stack.yaml")
    project.task("train", folder="repo/tasks")
    project.write("repo/src/train.py", "print()\n")
    return project


def planned(checkout, *words):
    done = checkout.run("plan", "--stack", "repo/stack.yaml", "--read-only", *words)
    assert "do-not-show" not in done.text
    return done


def test_a_plan_of_the_checkout_is_shown_and_not_applied(checkout):
    checkout.task("train", folder="repo/tasks", workdir="src", secrets={"TOKEN": None})
    done = planned(checkout, "--out", "plan.json")
    assert done.code == 0, done.text
    assert "Made with --read-only: to be looked at" in done.out
    plan = json.loads((checkout.folder / "plan.json").read_text())
    assert plan["applyable"] is False
    assert plan["arguments"]["read_only"] is True
    applied = checkout.run("apply", "plan.json", "--stack", "repo/stack.yaml")
    assert applied.code == 1
    assert "cannot be applied" in applied.err
    assert not (checkout.folder / "repo/out").exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"workdir": "../private"},
        {"workdir": "/etc"},
        {"file_mounts": {"~/key": "../private/credentials"}},
        {"file_mounts": {"~/key": "leads-out"}},
        {"workdir": "leads-out-too"},
        {"file_mounts": {"~/key": "~/.bashrc"}},
    ],
    ids=str,
)
def test_files_outside_are_not_read(checkout, fields):
    (checkout.folder / "repo/leads-out").symlink_to("../private/credentials")
    (checkout.folder / "repo/leads-out-too").symlink_to("../private")
    checkout.monkeypatch.setenv("HOME", str(checkout.folder / "private"))
    checkout.write("private/.bashrc", "do-not-show\n")
    checkout.task("train", folder="repo/tasks", **fields)
    done = planned(checkout)
    assert done.code == 1, done.text
    assert "error[outside-base]" in done.err
    assert "repo/tasks/train.yaml" in done.err


def test_inputs_that_lead_outside_are_not_read(checkout):
    (checkout.folder / "repo/tasks/other.yaml").symlink_to("../../private/credentials")
    done = planned(checkout)
    assert done.code == 1
    assert "error[outside-base]: the input repo/tasks/other.yaml" in done.err


def test_no_value_of_a_secret_is_needed_or_kept(checkout):
    checkout.task("train", folder="repo/tasks", secrets={"TOKEN": "in-the-file"})
    assert "in-the-file" not in planned(checkout, "--format", "json").text
    (work,) = planned(checkout, "--format", "json").json["works"]
    assert "secrets" not in work
    assert work["record"]["secrets"] == {}
