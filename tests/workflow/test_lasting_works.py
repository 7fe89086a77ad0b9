"""Services and volumes do not end: they keep their first run, and volumes their data."""

from __future__ import annotations

import pytest

from tests.workflow.project import TARGETS, Project

VOLUME = """\
name: models
type: k8s-pvc
infra: k8s/eks
size: {size}
config: {{access_mode: {mode}}}
"""
SERVICE = {
    "resources": {"infra": "kubernetes/eks", "ports": 8080},
    "service": {"readiness_probe": "/health", "replicas": 2},
}


def volume(size: int = 10, mode: str = "ReadWriteMany") -> str:
    return VOLUME.format(size=size, mode=mode)


@pytest.fixture
def lasting(project: Project) -> Project:
    project.stack("eks")
    return project


class TestService:
    def test_it_is_named_without_a_run_and_changes_in_place(self, lasting):
        lasting.task("chat", **SERVICE)
        lasting.applied()
        assert lasting.records()["demo/eks/chat.1"]["lifecycle"] == "service"
        folder = "kubernetes/eks/demo-chat"
        assert {path.rpartition("/")[0] for path in lasting.files()} == {folder}
        lasting.task("chat", run="echo changed\n", **SERVICE)
        [work] = lasting.plan_json()["works"]
        assert (work["action"], work["run"]) == ("update", 1)
        assert work["reason"] == "the task changed: rolled out in place"
        lasting.applied()
        assert list(lasting.records()) == ["demo/eks/chat.1"]
        assert "Nothing to do." in lasting.applied().out

    def test_changed_files_roll_it_out(self, lasting):
        lasting.write("code/a.txt", "1")
        lasting.task("chat", workdir="code", **SERVICE)
        lasting.applied()
        lasting.write("code/a.txt", "2")
        [work] = lasting.plan_json()["works"]
        assert (work["action"], work["reason"]) == (
            "update",
            "its files changed: rolled out in place",
        )

    def test_a_task_that_becomes_one_keeps_its_record(self, lasting):
        lasting.task("chat", resources={"infra": "kubernetes/eks"})
        lasting.applied()
        lasting.task("chat", **SERVICE)
        [work] = lasting.plan_json()["works"]
        assert (work["action"], work["reason"]) == ("update", "was a task, is a service now")
        lasting.applied()
        assert not [path for path in lasting.files() if "demo-chat-1/" in path]

    def test_on_another_target_it_is_made_not_changed(self, project):
        """Where it is new there is nothing to be changed in place, and no run number is shared."""
        clusters = {key: {**TARGETS["eks"], "context": key} for key in ("eks", "gke")}
        project.stack(targets=clusters)
        project.task("chat", **SERVICE)
        project.applied()
        project.task("chat", **{**SERVICE, "resources": {"infra": "kubernetes/gke", "ports": 8080}})
        works = project.plan_json()["works"]
        made = [(item["action"], item["target"], item["run"]) for item in works]
        assert made == [("delete", "eks", 1), ("create", "gke", 2)]

    def test_files_that_it_no_longer_has_are_in_a_diff_of_it_alone(self, lasting):
        path = lasting.task("chat", **SERVICE)
        lasting.applied()
        lasting.write("out/kubernetes/eks/demo-chat/left-over.yaml", "a: b\n")
        done = lasting.run("diff", path, "--stack", "stack.yaml", "--against", "out")
        assert "- kubernetes/eks/demo-chat/left-over.yaml" in done.out

    def test_it_has_no_runs(self, lasting):
        path = lasting.task("chat", **SERVICE)
        done = lasting.run("run", path, "--stack", "stack.yaml")
        assert done.code == 64
        assert "`chat` does not end, so it has no runs" in done.err


class TestVolume:
    @pytest.fixture
    def made(self, lasting: Project) -> Project:
        lasting.write("tasks/models.yaml", volume())
        lasting.task("reader", resources={"infra": "kubernetes/eks"}, volumes={"/models": "models"})
        lasting.applied()
        return lasting

    def test_it_is_made_before_what_mounts_it(self, lasting):
        lasting.write("tasks/zz-models.yaml", volume().replace("models", "zz-models"))
        lasting.task(
            "reader", resources={"infra": "kubernetes/eks"}, volumes={"/models": "zz-models"}
        )
        done = lasting.applied()
        first, second = [line for line in done.out.splitlines() if "created" in line]
        assert first.startswith("kubernetes/eks/zz-models")
        assert second.startswith("kubernetes/eks/reader")
        assert lasting.records()["demo/eks/zz-models.1"]["lifecycle"] == "volume"
        assert "Nothing to do." in lasting.applied().out

    def test_it_grows_in_place(self, made):
        made.write("tasks/models.yaml", volume(size=20))
        works = {work["work"]: work for work in made.plan_json()["works"]}
        assert (works["models"]["action"], works["models"]["run"]) == ("update", 1)
        assert works["models"]["because"] == [
            {"field": "size", "location": "tasks/models.yaml:4:1"}
        ]
        made.applied()
        assert "Nothing to do." in made.applied().out

    def test_what_cannot_change_is_refused_without_a_flag(self, made):
        made.write("tasks/models.yaml", volume(mode="ReadOnlyMany"))
        done = made.apply()
        assert done.code == 1
        assert "refused: kubernetes/eks/models: `config.access_mode` changed" in done.err
        assert "ReadWriteMany" in str(made.files())
        made.applied("--delete-volumes")
        assert "ReadOnlyMany" in str(made.files())

    def test_it_stays_when_it_goes_from_the_set_or_the_set_is_destroyed(self, made):
        kept = [path for path in made.files() if "models" in path]
        assert kept
        (made.folder / "tasks/models.yaml").unlink()
        made.task("reader", resources={"infra": "kubernetes/eks"})
        assert "kept with what it holds" in made.plan().out
        made.applied()
        assert set(kept) <= set(made.files())
        assert made.run("destroy", "--stack", "stack.yaml", "--auto-approve", "-q").code == 0
        assert list(made.files()) == kept
        words = ("destroy", "--stack", "stack.yaml", "--auto-approve", "-q", "--delete-volumes")
        assert made.run(*words).code == 0
        assert made.files() == {}

    def test_it_moves_to_another_cluster_only_without_what_it_holds(self, project):
        clusters = {key: {**TARGETS["eks"], "context": key} for key in ("one", "two")}
        project.stack("eks", targets=clusters)
        project.write("tasks/models.yaml", volume().replace("k8s/eks", "k8s/one"))
        project.applied()
        project.write("tasks/models.yaml", volume().replace("k8s/eks", "k8s/two"))
        done = project.apply()
        assert done.code == 1
        assert "moves from one without what it holds; needs --delete-volumes" in done.err
        project.applied("--delete-volumes")
        assert {path.split("/")[1] for path in project.files()} == {"two"}

    def test_only_a_flag_prunes_it(self, made):
        (made.folder / "tasks/models.yaml").unlink()
        made.task("reader", resources={"infra": "kubernetes/eks"})
        made.applied("--delete-volumes")
        assert not [path for path in made.files() if "models" in path]

    def test_a_task_alone_finds_the_volume_among_the_sets_inputs(self, made):
        made.task("second", "more", resources={"infra": "kubernetes/eks"}, volumes={"/m": "models"})
        made.applied("more/second.yaml")
        claim = made.files()["kubernetes/eks/demo-second-1/job.yaml"]
        assert "claimName: demo-models" in claim

    def test_a_task_alone_is_told_of_a_volume_that_is_not_made(self, lasting):
        lasting.write("tasks/models.yaml", volume())
        path = lasting.task(
            "reader", resources={"infra": "kubernetes/eks"}, volumes={"/models": "models"}
        )
        done = lasting.plan(path)
        assert done.code == 0
        assert "warning[volume-not-made]" in done.err
        assert "volume-not-made" not in lasting.plan().err

    def test_an_unknown_one_is_an_error_with_what_there_is(self, made):
        made.task("second", volumes={"/m": "model"})
        done = made.plan()
        assert done.code == 1
        assert "the set has no volume `model`" in done.err
        assert "did you mean `models`?" in done.err

    def test_a_run_is_told_of_a_volume_that_is_not_made_and_goes_where_it_is(self, project):
        clusters = {key: {**TARGETS["eks"], "context": key} for key in ("one", "two")}
        project.stack(targets=clusters)
        project.write("tasks/models.yaml", volume().replace("k8s/eks", "k8s/two"))
        path = project.task("reader", "more", volumes={"/models": "models"})
        words = ("run", path, "--stack", "stack.yaml")
        assert "warning[volume-not-made]" in project.run(*words).err
        project.applied()
        project.write("tasks/models.yaml", volume().replace("infra: k8s/eks\n", ""))
        done = project.run(*words)
        assert done.code == 0
        assert "warning" not in done.err
        assert "demo/two/reader.2" in project.records()

    def test_a_task_goes_where_its_volume_is(self, project):
        project.stack("alpha", "eks")
        project.write("tasks/models.yaml", volume())
        project.task("reader", resources={"infra": "kubernetes"}, volumes={"/models": "models"})
        works = {work["work"]: work for work in project.plan_json()["works"]}
        assert works["reader"]["target"] == works["models"]["target"] == "eks"
