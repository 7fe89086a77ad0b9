"""What makes work the same work: file trees here; the task's own digest with its builder."""

import os

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import build_task
from compiler.planning.digests import changed_fields, secret_digest, spec_fields
from compiler.rendering.filetree import read_tree
from compiler.source import read_text


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a.py").write_text("print(1)\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.txt").write_text("b")
    return tmp_path


def digest(folder):
    return read_tree(folder, "~/sky_workdir").digest


def test_content_and_names_and_modes_count(tree):
    seen = {digest(tree)}
    (tree / "a.py").write_text("print(2)\n")
    seen.add(digest(tree))
    (tree / "a.py").rename(tree / "c.py")
    seen.add(digest(tree))
    (tree / "c.py").chmod(0o755)
    seen.add(digest(tree))
    (tree / "link").symlink_to("c.py")
    seen.add(digest(tree))
    (tree / "link").unlink()
    (tree / "link").symlink_to("sub")
    seen.add(digest(tree))
    (tree / "empty").mkdir()
    seen.add(digest(tree))
    assert len(seen) == 7


def test_times_and_owners_and_place_do_not_count(tree, tmp_path_factory):
    before = digest(tree)
    os.utime(tree / "a.py", (0, 0))
    other = tmp_path_factory.mktemp("elsewhere") / "copy"
    os.system(f"cp -r {tree} {other}")
    assert digest(tree) == before == digest(other)


def test_ignored_files_do_not_count(tree):
    before = digest(tree)
    (tree / ".skyignore").write_text("*.log\n.skyignore\nbuild/\n")
    (tree / "x.log").write_text("noise")
    (tree / "build").mkdir()
    (tree / "build" / "o").write_text("noise")
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("noise")
    assert digest(tree) == before


def test_what_triplane_wrote_is_no_part_of_what_a_task_brings(tree):
    before = digest(tree)
    (tree / "rendered/.triplane/demo").mkdir(parents=True)
    (tree / "rendered/slurm").mkdir()
    (tree / "rendered/slurm/job.sbatch").write_text("noise")
    (tree / ".triplane").mkdir()
    (tree / ".triplane/lock").write_text("noise")
    assert digest(tree) == before
    assert "a.py" in read_tree(tree, "x").files


def test_skyignore_takes_the_place_of_gitignore(tree):
    (tree / ".gitignore").write_text("a.py\n")
    without = set(read_tree(tree, "x").files)
    (tree / ".skyignore").write_text("sub\n")
    with_both = set(read_tree(tree, "x").files)
    assert "a.py" not in without
    assert "a.py" in with_both
    assert "sub/b.txt" not in with_both


def test_a_single_file_is_a_tree(tree):
    single = read_tree(tree / "a.py", "/tmp/a.py")
    assert list(single.files) == [""]
    assert single.size == 9


def test_secret_digests_are_keyed_and_hide_the_value():
    first = secret_digest("hunter2", "set/A")
    assert first == secret_digest("hunter2", "set/A")
    assert first != secret_digest("hunter2", "set/B")
    assert first != secret_digest("hunter3", "set/A")
    assert "hunter" not in first


def test_changed_fields_names_both_sides():
    assert changed_fields({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["a", "b", "c"]


def fields_of(text):
    diagnostics = Diagnostics()
    (document,) = read_text(text, "task.yaml", diagnostics)

    def lookup(gib, at_least, maker):
        return ["A100-80GB", "H100"] if catalogue_is_old else ["A100-80GB", "H100", "X1000"]

    task = build_task(document, diagnostics, environ={}, lookup=lookup)
    diagnostics.raise_if_errors()
    return spec_fields(task)


catalogue_is_old = True
TASK = "name: a\nresources: {accelerators: H100:8, cpus: 4}\nenvs: {A: '1'}\nrun: echo\n"


@pytest.mark.parametrize(
    "same",
    [
        TASK.replace("name: a", "name: b"),
        TASK.replace("cpus: 4", "infra: slurm/alpha, cpus: 4"),
        TASK.replace("cpus: 4", "cloud: aws, region: us-east-1, cpus: 4"),
        TASK.replace("accelerators: H100:8", "gpus: {H100: 8}"),
        TASK.replace("run: echo", "num_nodes: 1\nrun: echo"),
        TASK.replace("cpus: 4", "cpus: '4', use_spot: false"),
        "# a comment\n" + TASK,
    ],
)
def test_placement_spelling_and_defaults_are_no_part_of_the_work(same):
    assert fields_of(same) == fields_of(TASK)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        (TASK.replace("H100:8", "H100:4"), "resources.accelerator"),
        (TASK.replace("cpus: 4", "cpus: 4+"), "resources.cpus"),
        (TASK.replace("'1'", "'2'"), "envs.A"),
        (TASK.replace("echo", "echo 1"), "run"),
        (TASK + "secrets: {T: null}\n", "secrets.T"),
        (TASK + "num_nodes: 2\n", "num_nodes"),
        (TASK.replace("cpus: 4", "cpus: 4, image_id: 'docker:x'"), "resources.image"),
    ],
)
def test_what_changes_is_named(changed, field):
    assert changed_fields(fields_of(TASK), fields_of(changed)) == [field]


def test_the_value_of_a_secret_is_no_part_of_the_work():
    assert fields_of(TASK + "secrets: {T: one}\n") == fields_of(TASK + "secrets: {T: two}\n")


def test_a_newer_catalogue_changes_no_digest(monkeypatch):
    text = TASK.replace("H100:8", "80GB+:8")
    before = fields_of(text)
    monkeypatch.setitem(globals(), "catalogue_is_old", False)
    assert fields_of(text) == before
