"""A saved plan is applied byte for byte or not at all, and is the same wherever it is made."""

import json
import os
import shutil

import pytest
from jsonschema import Draft202012Validator

from compiler.planning.plan_file import from_json, to_json
from compiler.source import schema
from tests.workflow.project import TARGETS, actions


@pytest.fixture
def two_tasks(project):
    """Two tasks on all kinds, one of them with files; nothing applied yet."""
    project.stack(root=".")
    project.write("src/train.py", "print('train')\n")
    project.write("src/README.md", "first\n")
    project.task("train", workdir="src", envs={"LR": "0.1"})
    project.task("serve", resources={"cpus": 4, "infra": "aws"})
    return project


def test_what_is_applied_is_what_the_plan_holds(two_tasks):
    assert two_tasks.plan("--out", "plan.json").code == 0
    plan = json.loads((two_tasks.folder / "plan.json").read_text())
    held = {
        item["path"]: item["artifact"].get("text", "")
        for work in plan["works"]
        for item in work["objects"]
    }
    done = two_tasks.run("apply", "plan.json")
    assert done.code == 0, done.text
    assert two_tasks.files() == held
    assert "slurm/alpha/train run 1: created" in done.out
    records = two_tasks.records()
    assert {record["plan"] for record in records.values()} == {plan["id"]}
    assert {record["stage"] for record in records.values()} == {"created"}
    [tree] = (two_tasks.folder / "out/.triplane/files").iterdir()
    assert sorted(path.name for path in tree.iterdir()) == ["README.md", "train.py"]


def test_a_plan_is_valid_by_its_schema_in_every_state(two_tasks):
    check = Draft202012Validator(schema("plan"))
    for every in ((), ("--every-target",)):
        check.validate(two_tasks.plan_json(*every))
    two_tasks.applied()
    check.validate(two_tasks.plan_json())
    two_tasks.task("train", workdir="src", envs={"LR": "0.2"})
    (two_tasks.folder / "tasks/serve.yaml").unlink()
    changed = two_tasks.plan_json()
    check.validate(changed)
    assert actions(changed) == {"train@alpha": "update", "serve@us-east-1": "delete"}
    check.validate(two_tasks.plan_json("--target", "eks"))
    check.validate(two_tasks.plan_json("--offline"))


def test_opening_a_saved_plan_loses_nothing(two_tasks):
    two_tasks.applied()
    two_tasks.task("train", workdir="src", envs={"LR": "", "NEW": ""}, num_nodes=3)
    text = two_tasks.plan("--format", "json").out
    assert to_json(from_json(text)) == text


def test_a_plan_is_the_same_in_another_process_checkout_and_folder(two_tasks, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(tmp_path, elsewhere, ignore=lambda folder, names: {"elsewhere"} & set(names))
    plans = {two_tasks.plan("--format", "json").out}
    for seed, cwd, stack in (
        ("77", tmp_path / "tasks", "../stack.yaml"),
        ("random", elsewhere, str(elsewhere / "stack.yaml")),
    ):
        done = two_tasks.process(
            "plan", "--stack", stack, "--format", "json", cwd=cwd, env={"PYTHONHASHSEED": seed}
        )
        assert done.returncode == 0, done.stderr
        plans.add(done.stdout)
    assert len(plans) == 1
    assert str(tmp_path) not in plans.pop()


def test_a_plan_made_in_one_checkout_is_applied_in_another(two_tasks, tmp_path, monkeypatch):
    two_tasks.plan("--out", "plan.json")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("src", "tasks"):
        shutil.move(tmp_path / name, elsewhere / name)
    for name in ("stack.yaml", "plan.json"):
        shutil.move(tmp_path / name, elsewhere / name)
    done = two_tasks.run("apply", "elsewhere/plan.json", "--stack", "elsewhere/stack.yaml")
    assert done.code == 0, done.text
    assert "slurm/alpha/demo-train-1/job.sbatch" in two_tasks.files("elsewhere/out")
    assert len(list((elsewhere / "out/.triplane/files").iterdir())) == 1


def test_without_a_root_a_plan_remembers_the_folder_it_was_made_in(project, tmp_path, monkeypatch):
    project.stack("alpha")
    project.write("work/src/a.py", "a\n")
    project.write("work/train.yaml", "workdir: src\nresources: {cpus: 1}\nrun: echo a\n")
    monkeypatch.chdir(tmp_path / "work")
    made = project.run("plan", "train.yaml", "--stack", "../stack.yaml", "--out", "../plan.json")
    assert made.code == 0, made.text
    monkeypatch.chdir(tmp_path)
    done = project.run("apply", "plan.json", "--stack", "stack.yaml")
    assert done.code == 0, done.text
    [record] = project.records().values()
    assert record["work"] == "train"
    assert record["ad_hoc"] is True


def _edited(text):
    return text.replace("echo train", "echo other", 1)


def _with(**members):
    def change(text):
        return json.dumps({**json.loads(text), **members})

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_edited, "edited"),
        (lambda text: text[: len(text) // 2], "cut short"),
        (lambda text: "", "not a plan file"),
        (lambda text: "[]", "not a plan file"),
        (lambda text: '{"a": ' * 50_000, "not a plan file"),
        (lambda text: "9" * 10_000, "not a plan file"),
        (_with(format_version="2.0"), "a plan of format 2.0; this triplane applies 1.1"),
        (_with(works=[{"work": 1}]), "edited"),
        (_with(set="other"), "edited"),
    ],
)
def test_a_plan_that_was_touched_is_refused(two_tasks, change, words):
    two_tasks.plan("--out", "plan.json")
    plan = two_tasks.folder / "plan.json"
    plan.write_text(change(plan.read_text()))
    done = two_tasks.run("apply", "plan.json")
    assert done.code == 1
    assert words in done.err
    assert "bad-plan" in done.err
    assert not (two_tasks.folder / "out").exists()


def test_a_plan_of_another_set_is_refused(two_tasks):
    two_tasks.plan("--out", "plan.json")
    two_tasks.stack("alpha", name="other.yaml", set={"name": "other", "inputs": ["tasks/"]})
    done = two_tasks.run("apply", "plan.json", "--stack", "other.yaml")
    assert done.code == 4
    assert "'demo'" in done.err
    assert "'other'" in done.err


def test_a_binary_file_and_a_missing_one_are_no_plans(two_tasks):
    (two_tasks.folder / "binary.json").write_bytes(b"\x00\xff\xfe")
    assert two_tasks.run("apply", "binary.json").code == 1
    missing = two_tasks.run("apply", "missing.json")
    assert missing.code == 1
    assert "missing.json" in missing.err


def test_a_plan_is_known_by_its_beginning_whatever_its_name(two_tasks):
    assert two_tasks.plan("--out", "plan.saved").code == 0
    done = two_tasks.run("apply", "plan.saved")
    assert done.code == 0, done.text
    assert "demo-train-1" in "".join(two_tasks.files())


def test_a_saved_plan_takes_no_other_flags_and_no_company(two_tasks):
    two_tasks.plan("--out", "plan.json")
    for words in (("--rerun",), ("--env", "A=1"), ("--target", "alpha"), ("tasks/train.yaml",)):
        done = two_tasks.run("apply", "plan.json", *words, "--stack", "stack.yaml")
        assert done.code == 64, words
        assert not (two_tasks.folder / "out").exists()


def _change_task(project):
    project.task("train", workdir="src", envs={"LR": "0.3"})


def _break_task(project):
    project.write("tasks/train.yaml", "run: [\n")


def _remove_task(project):
    (project.folder / "tasks/train.yaml").unlink()


def _add_task(project):
    project.task("another")


def _change_stack(project):
    project.stack(root=".", on_files_change="run")


def _change_file(project):
    project.write("src/train.py", "print('other')\n")


def _add_file(project):
    project.write("src/new.py", "")


def _make_executable(project):
    (project.folder / "src/train.py").chmod(0o755)


INPUTS = [
    (_change_task, "tasks/train.yaml changed"),
    (_break_task, "tasks/train.yaml changed"),
    (_remove_task, "tasks/train.yaml is gone"),
    (_add_task, "tasks/another.yaml is new"),
    (_change_stack, "stack.yaml changed"),
    (_change_file, "src/ changed"),
    (_add_file, "src/ changed"),
    (_make_executable, "src/ changed"),
]


@pytest.mark.parametrize(
    ("change", "words"), INPUTS, ids=lambda item: getattr(item, "__name__", "")
)
def test_a_changed_input_blocks_the_plan_and_is_named(two_tasks, change, words):
    two_tasks.plan("--out", "plan.json")
    change(two_tasks)
    done = two_tasks.run("apply", "plan.json")
    assert done.code == 4, done.text
    assert words in done.err
    assert not (two_tasks.folder / "out").exists()


@pytest.fixture
def update(project):
    """A saved plan that updates one work of two, and deletes another."""
    project.stack("eks")
    project.task("a")
    project.task("b")
    project.task("gone")
    project.applied()
    project.task("a", num_nodes=2)
    (project.folder / "tasks/gone.yaml").unlink()
    assert project.plan("--out", "plan.json").code == 0
    return project


MANIFEST = "out/kubernetes/eks/demo-{}-1/job.yaml"


@pytest.mark.parametrize("work", ["a", "gone"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda path: path.write_text(path.read_text() + "# by hand\n"), "job.yaml changed"),
        (lambda path: path.write_bytes(b"\xff\xfe"), "job.yaml changed"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n")), "changed"),
        (lambda path: path.unlink(), "job.yaml is gone"),
        (lambda path: shutil.rmtree(path.parent), "is gone"),
    ],
    ids=["edited", "binary", "line-ends", "deleted", "folder-deleted"],
)
def test_a_hand_edit_of_what_the_plan_touches_blocks_it(update, work, change, words):
    change(update.folder / MANIFEST.format(work))
    before = update.tree()
    done = update.run("apply", "plan.json")
    assert done.code == 4, done.text
    assert words in done.err
    assert f"kubernetes/eks/{work}" in done.err
    assert update.tree() == before


def test_a_hand_edit_of_what_the_plan_leaves_alone_does_not(update):
    path = update.folder / MANIFEST.format("b")
    path.write_text(path.read_text() + "# by hand\n")
    assert update.run("apply", "plan.json").code == 0
    assert path.read_text().endswith("# by hand\n")


def test_another_apply_in_between_blocks_the_plan(update):
    update.task("a", num_nodes=3)
    update.applied()
    update.task("a", num_nodes=2)
    done = update.run("apply", "plan.json")
    assert done.code == 4
    assert "changed" in done.err


def test_a_first_run_that_somebody_else_made_blocks_the_plan(project):
    project.stack("eks")
    project.task("a")
    project.plan("--out", "plan.json")
    project.task("a", num_nodes=2)
    project.applied()
    project.task("a")
    done = project.run("apply", "plan.json")
    assert done.code == 4
    assert "run 1 was made meanwhile" in done.err


def test_the_same_plan_twice_recognises_what_it_did(update):
    first = update.run("apply", "plan.json")
    assert first.code == 0, first.text
    after = update.tree()
    again = update.run("apply", "plan.json")
    assert again.code == 0, again.text
    assert again.out.count("done by an earlier apply") == 2
    assert update.tree() == after


def test_the_version_of_the_tool_is_noted_and_blocks_nothing(project, monkeypatch):
    project.stack("eks")
    project.task("a")
    project.plan("--out", "plan.json")
    assert json.loads((project.folder / "plan.json").read_text())["noted"]["triplane"]
    later = {"triplane": "99.0.0", "catalogue": "x", "templates": "y"}
    monkeypatch.setattr("compiler.workflow.planner.noted_versions", lambda: later)
    assert project.run("apply", "plan.json").code == 0
    plan = project.plan_json()
    assert plan["noted"] == later
    assert actions(plan) == {"a@eks": "no-op"}


def test_variables_of_the_environment_are_those_of_the_plan(project, monkeypatch):
    project.stack("alpha")
    project.task("a", envs={"STEP": None})
    monkeypatch.setenv("STEP", "900")
    project.plan("--env", "STEP", "--out", "plan.json")
    monkeypatch.delenv("STEP")
    done = project.run("apply", "plan.json")
    assert done.code == 0, done.text
    assert "export STEP='900'" in "".join(project.files().values())


def test_files_with_names_that_are_no_text_survive_in_a_plan(project):
    project.stack("alpha", root=".")
    project.write("src/a.py", "")
    (project.folder / "src" / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    project.task("a", workdir="src")
    made = project.plan("--out", "plan.json")
    assert made.code == 0, made.text
    done = project.run("apply", "plan.json")
    assert done.code == 0, done.text
    [tree] = (project.folder / "out/.triplane/files").iterdir()
    assert os.fsencode(b"caf\xe9.txt") in [os.fsencode(path.name) for path in tree.iterdir()]


def test_every_kind_is_in_these_tests():
    assert {spec["kind"] for spec in TARGETS.values()} == {"slurm", "kubernetes", "aws"}
