"""Hand edits, lost files, and what changed files alone do."""

import pytest

from tests.workflow.project import actions

KINDS = {
    "slurm": ("alpha", "slurm/alpha/demo-train-1/job.sbatch"),
    "kubernetes": ("eks", "kubernetes/eks/demo-train-1/scripts.yaml"),
    "aws": ("us-east-1", "aws/us-east-1/scripts/demo-train-1/run.sh"),
}


@pytest.fixture(params=KINDS)
def written(project, request):
    """A work with files, written for one kind; with the path of one of its artifacts."""
    key, artifact = KINDS[request.param]
    project.stack(key, root=".")
    project.write("src/train.py", "print('train')\n")
    project.write("src/README.md", "first\n")
    project.task("train", workdir="src")
    project.applied()
    return project, artifact


def test_a_hand_edit_is_drift_and_is_healed_with_nothing_else_touched(written):
    project, artifact = written
    before = project.tree()
    stamps = {path: (project.folder / "out" / path).stat().st_mtime_ns for path in before}
    path = project.folder / "out" / artifact
    path.write_text(path.read_text().replace("echo train", "echo by hand"))
    planned = project.plan("--detailed-exitcode")
    assert planned.code == 2
    assert f"drift: {artifact} changed by hand" in planned.out
    assert "echo by hand" in planned.out
    assert "Plan: 1 to update" in planned.out
    project.applied()
    assert project.files() == {p: t for p, t in before.items() if not p.startswith(".triplane")}
    touched = {
        path
        for path, stamp in stamps.items()
        if (project.folder / "out" / path).stat().st_mtime_ns != stamp
    }
    assert {path for path in touched if not path.startswith(".triplane")} == {artifact}
    assert project.plan("--detailed-exitcode").code == 0


def test_a_lost_file_is_written_again(written):
    project, artifact = written
    before = project.files()
    (project.folder / "out" / artifact).unlink()
    planned = project.plan()
    assert f"drift: {artifact} is gone" in planned.out
    project.applied()
    assert project.files() == before


def test_line_ends_and_bytes_count(written):
    project, artifact = written
    before = project.files()
    path = project.folder / "out" / artifact
    for content in (path.read_bytes().replace(b"\n", b"\r\n"), b"\xff\xfe\x00", b""):
        path.write_bytes(content)
        assert f"{artifact} changed by hand" in project.plan().out
        project.applied()
        assert project.files() == before


def test_a_script_with_carriage_returns_is_no_drift(project):
    project.stack("alpha")
    project.task("train", run="printf 'a\\r\\n'\necho 'b\r'\n")
    project.applied()
    assert project.plan("--detailed-exitcode").code == 0


def test_an_edit_of_a_readme_starts_nothing_and_is_noted(written):
    project, _ = written
    before = project.tree()
    project.write("src/README.md", "second\n")
    planned = project.plan("--detailed-exitcode")
    assert planned.code == 0
    assert "its files changed; that alone starts nothing (on_files_change: ignore)" in planned.out
    project.applied()
    assert project.tree() == before


def test_healing_after_files_changed_writes_one_consistent_run(written):
    project, artifact = written
    project.write("src/train.py", "print('second')\n")
    (project.folder / "out" / artifact).unlink()
    planned = project.plan()
    assert "written anew as this input and version render it" in planned.out
    project.applied()
    healed = project.files()
    assert project.run("destroy", "--stack", "stack.yaml", "--auto-approve", "-q").code == 0
    project.applied()
    assert project.files() == healed


@pytest.mark.parametrize("where", ["task", "stack"])
@pytest.mark.parametrize("gitops", [None, "flux"])
def test_changed_files_start_a_run_where_that_is_wanted(project, where, gitops):
    more = {"gitops": gitops} if gitops else {}
    if where == "stack":
        more["on_files_change"] = "run"
    project.stack("alpha", root=".", **more)
    project.write("src/train.py", "print('train')\n")
    config = {"config": {"triplane": {"on_files_change": "run"}}} if where == "task" else {}
    project.task("train", workdir="src", **config)
    project.applied()
    project.write("src/train.py", "print('second')\n")
    plan = project.plan_json()
    assert actions(plan) == {"train@alpha": "create" if gitops else "update"}
    assert plan["works"][0]["reason"].startswith("its files changed (on_files_change: run)")
    assert plan["works"][0]["run"] == (2 if gitops else 1)
    project.applied()
    assert len(list((project.folder / "out/.triplane/files").iterdir())) == 2
    assert project.plan("--detailed-exitcode").code == 0


def test_a_task_can_ignore_what_its_stack_runs_for(project):
    project.stack("alpha", root=".", on_files_change="run")
    project.write("src/train.py", "print('train')\n")
    project.task("train", workdir="src", config={"triplane": {"on_files_change": "ignore"}})
    project.applied()
    project.write("src/train.py", "print('second')\n")
    assert actions(project.plan_json()) == {"train@alpha": "no-op"}


def test_ignored_files_are_no_part_of_the_work(written):
    project, _ = written
    project.write("src/.gitignore", "*.log\n")
    project.task("train", workdir="src", envs={"A": "1"})
    project.applied()
    project.write("src/training.log", "much\n")
    planned = project.plan("--detailed-exitcode")
    assert planned.code == 0
    assert "files changed" not in planned.out
    assert not list((project.folder / "out/.triplane").rglob("training.log"))


def test_what_changed_is_named_with_its_place(written):
    project, _ = written
    project.task("train", workdir="src", envs={"LR": "0.1"}, num_nodes=2)
    text = (project.folder / "tasks/train.yaml").read_text().splitlines()
    lines = {line.split(":")[0].strip(): at + 1 for at, line in enumerate(text)}
    said = project.plan().out
    assert f"because envs.LR changed (tasks/train.yaml:{lines['LR']}:3)" in said
    assert f"because num_nodes changed (tasks/train.yaml:{lines['num_nodes']}:1)" in said


def test_a_change_of_placement_or_stack_alone_starts_nothing(written):
    project, _ = written
    kind = project.plan_json()["works"][-1]["kind"]
    project.task("train", workdir="src", resources={"cpus": 2, "infra": kind})
    assert set(actions(project.plan_json()).values()) == {"no-op"}


def test_kubernetes_keeps_no_second_copy_of_the_files(project):
    project.stack("eks", root=".")
    project.write("src/train.py", "print('train')\n")
    project.task("train", workdir="src")
    project.applied()
    assert not (project.folder / "out/.triplane/files").exists()
