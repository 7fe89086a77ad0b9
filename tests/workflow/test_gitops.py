"""`gitops: argocd | flux`: another digest is another run, beside the earlier ones."""

import os
import re
import socket

import pytest
import yaml

from tests.workflow.project import actions


@pytest.fixture
def gitops(project):
    project.stack("eks", "us-east-1", gitops="argocd")
    project.task("train", resources={"cpus": 2, "infra": "k8s"})
    project.task("serve", resources={"cpus": 2, "infra": "aws"})
    project.applied()
    return project


def folders(project, kind="kubernetes/eks"):
    return sorted({path.split("/")[2] for path in project.files() if path.startswith(kind)})


def test_a_new_digest_is_one_run_more_and_the_earlier_stays(gitops):
    first = gitops.files()
    gitops.task("train", resources={"cpus": 4, "infra": "k8s"})
    planned = gitops.plan()
    assert "train on eks: create run 2" in planned.out
    assert "the task changed: one run more" in planned.out
    # The difference is against the run before it, field by field.
    assert "requests.cpu: 2 -> 4" in planned.out
    done = gitops.applied()
    assert "kubernetes/eks/train run 2: created" in done.out
    after = gitops.files()
    assert folders(gitops) == ["demo-train-1", "demo-train-2"]
    assert {path: after[path] for path in first} == first
    job = yaml.safe_load(after["kubernetes/eks/demo-train-2/job.yaml"])
    assert job["metadata"]["name"] == "demo-train-2"
    assert gitops.plan("--detailed-exitcode").code == 0


def test_both_controllers_get_the_same_tree(gitops):
    ours = gitops.files()
    gitops.stack("eks", "us-east-1", gitops="flux", out="flux")
    gitops.applied()
    assert gitops.files("flux") == ours


def test_a_program_gets_a_module_more(gitops):
    gitops.task("serve", resources={"cpus": 4, "infra": "aws"})
    planned = gitops.plan()
    assert "± aws/us-east-1" not in planned.out
    assert "+ aws/us-east-1/workloads/demo_serve_2.py" in planned.out
    gitops.applied()
    modules = [path for path in gitops.files() if "/workloads/demo_serve" in path]
    assert modules == [
        "aws/us-east-1/workloads/demo_serve_1.py",
        "aws/us-east-1/workloads/demo_serve_2.py",
    ]


def test_removal_retires_all_runs_and_no_number_is_given_out_again(gitops):
    for cpus in (4, 6):
        gitops.task("train", resources={"cpus": cpus, "infra": "k8s"})
        gitops.applied()
    assert folders(gitops) == ["demo-train-1", "demo-train-2", "demo-train-3"]
    (gitops.folder / "tasks/train.yaml").unlink()
    plan = gitops.plan_json()
    deleted = [work["run"] for work in plan["works"] if work["action"] == "delete"]
    assert deleted == [1, 2, 3]
    gitops.applied()
    assert folders(gitops) == []
    outcomes = {key: record["outcome"] for key, record in gitops.records().items()}
    assert outcomes["demo/eks/train.3"] == "removed"
    assert gitops.plan("--detailed-exitcode").code == 0
    status = gitops.run("status", "--stack", "stack.yaml", "--format", "json")
    assert [run["work"] for run in status.json["runs"]] == ["serve"]
    gitops.task("train", resources={"cpus": 2, "infra": "k8s"})
    assert "kubernetes/eks/train run 4: created" in gitops.applied().out
    assert folders(gitops) == ["demo-train-4"]


def test_destroy_retires_all_runs_too(gitops):
    gitops.task("train", resources={"cpus": 4, "infra": "k8s"})
    gitops.applied()
    done = gitops.run("destroy", "train", "--stack", "stack.yaml", "--auto-approve", "-q")
    assert done.code == 0
    assert done.out.count("deleted") == 2
    again = gitops.run("destroy", "train", "--stack", "stack.yaml", "--auto-approve", "-q")
    assert again.code == 64
    assert "Nothing" not in again.out


def test_drift_is_healed_in_place_and_makes_no_run(gitops):
    path = gitops.folder / "out/kubernetes/eks/demo-train-1/job.yaml"
    text = path.read_text()
    path.write_text(text.replace("completions: 1", "completions: 5"))
    assert "spec.completions: 5 -> 1" in gitops.plan().out
    done = gitops.applied()
    assert "kubernetes/eks/train run 1: updated" in done.out
    assert path.read_text() == text
    assert folders(gitops) == ["demo-train-1"]


def test_an_edit_of_an_earlier_run_is_left_alone(gitops):
    gitops.task("train", resources={"cpus": 4, "infra": "k8s"})
    gitops.applied()
    path = gitops.folder / "out/kubernetes/eks/demo-train-1/job.yaml"
    path.write_text("# retired by hand\n")
    assert gitops.plan("--detailed-exitcode").code == 0
    gitops.task("train", resources={"cpus": 6, "infra": "k8s"})
    assert "train run 3: created" in gitops.applied().out
    assert path.read_text() == "# retired by hand\n"


def test_manifest_folders_hold_manifests_only(gitops):
    for path, text in gitops.files().items():
        if path.startswith("kubernetes/"):
            assert path.endswith(".yaml"), path
            [document] = yaml.safe_load_all(text)
            assert {"apiVersion", "kind", "metadata"} <= set(document), path


def test_records_hold_no_clock_no_host_and_no_user(gitops):
    state = {path: text for path, text in gitops.tree().items() if path.startswith(".triplane/")}
    assert state
    for path, text in state.items():
        assert path.endswith(".json"), path
        assert socket.gethostname() not in text
        assert str(gitops.folder) not in text
        assert not re.search(r"\b20\d\d-\d\d|\d\d:\d\d|\b1[67]\d{8}\b", text), path
        assert f"pid {os.getpid()}" not in text


def test_a_written_run_is_called_written_and_never_done(gitops):
    plan = gitops.plan_json()
    assert {work["state"] for work in plan["works"]} == {"written"}
    assert set(actions(plan).values()) == {"no-op"}
    assert "done" not in plan["summary"]
    status = gitops.run("status", "--stack", "stack.yaml").out
    assert "written" in status


def test_jobs_do_not_remove_themselves(gitops):
    job = yaml.safe_load(gitops.files()["kubernetes/eks/demo-train-1/job.yaml"])
    assert "ttlSecondsAfterFinished" not in job["spec"]
