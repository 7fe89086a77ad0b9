"""What makes work the same work: file trees here; the task's own digest with its builder."""

import os

import pytest

from compiler.planning.digests import changed_fields, secret_digest
from compiler.rendering.filetree import read_tree


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
