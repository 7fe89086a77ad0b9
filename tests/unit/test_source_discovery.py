"""From paths to files to documents; one bad file never stops the others."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.renderers import render
from compiler.source import discover, read_file, read_paths, read_stdin, read_units
from compiler.source.limits import MAX_FILE_BYTES
from tests.needs import give_up


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.yaml", "a.yml", "sub/c.yaml", "sub/deeper/a.yaml", "sub-two/z.yaml"):
        path = tmp_path / "tasks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"name: {path.stem}\n", encoding="utf-8")
    for name in (".hidden.yaml", ".git/x.yaml", "notes.txt", "sub/run.sh"):
        path = tmp_path / "tasks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("not: read\n", encoding="utf-8")
    return tmp_path


def test_folders_are_searched_and_sorted(folder: Path) -> None:
    found = Diagnostics()
    assert discover(["tasks"], found) == [
        "tasks/a.yml",
        "tasks/b.yaml",
        "tasks/sub/c.yaml",
        "tasks/sub/deeper/a.yaml",
        "tasks/sub-two/z.yaml",
    ]
    assert not list(found)


def test_files_come_as_given_and_once(folder: Path) -> None:
    found = Diagnostics()
    paths = ["tasks/notes.txt", "tasks/sub", "-", "tasks/sub/c.yaml", folder / "tasks/b.yaml", "-"]
    assert discover(paths, found) == [
        "tasks/notes.txt",
        "tasks/sub/c.yaml",
        "tasks/sub/deeper/a.yaml",
        "-",
        str(folder / "tasks/b.yaml"),
    ]
    (folder / "link.yaml").symlink_to("tasks/b.yaml")
    assert discover(["link.yaml", "tasks/b.yaml"], found) == ["link.yaml"]
    assert not list(found)


def test_what_is_not_there_is_reported_and_the_rest_is_read(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "bad.yaml").write_text("a: [\n", encoding="utf-8")
    found = Diagnostics()
    read = read_paths(["missing.yaml", "empty", "bad.yaml", "tasks/b.yaml"], found)
    assert [[document.data for document in documents] for documents in read] == [
        [],
        [{"name": "b"}],
    ]
    assert [(item.code, item.message) for item in found] == [
        ("file-not-found", "there is no file or folder `missing.yaml`"),
        ("no-input-files", "the folder `empty` holds no *.yaml or *.yml file"),
        ("yaml-syntax", "a `[` or `{` before this is not closed"),
    ]


def test_units_leave_out_what_could_not_be_read(folder: Path) -> None:
    (folder / "bad.yaml").write_text("a: [\n", encoding="utf-8")
    found = Diagnostics()
    units = read_units(["bad.yaml", "tasks/b.yaml"], found)
    assert [unit.source.path for unit in units] == ["tasks/b.yaml"]
    assert found.has_errors


def test_paths_are_shown_relative_to_the_current_folder(folder: Path) -> None:
    found = Diagnostics()
    (document,) = read_file(folder / "tasks" / "b.yaml", found)
    assert document.span(("name",)).location == "tasks/b.yaml:1:7"
    (document,) = read_file("./tasks/../tasks/b.yaml", found)
    assert document.source.path == "tasks/b.yaml"


def test_paths_outside_stay_absolute(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "t.yaml"
    outside.write_text("name: x\n", encoding="utf-8")
    (document,) = read_file(outside, Diagnostics())
    assert document.source.path == str(outside)


def test_not_utf_8(folder: Path) -> None:
    (folder / "latin.yaml").write_bytes(b"name: x\nrun: caf\xe9\n")
    found = Diagnostics()
    assert read_file("latin.yaml", found) == []
    (item,) = found
    assert item.span is not None
    assert (item.code, item.span.location) == ("not-utf-8", "latin.yaml:2:9")
    assert item.message == "the byte 0xe9 is not UTF-8 here"


def test_byte_order_mark(folder: Path) -> None:
    (folder / "bom.yaml").write_bytes(b"\xef\xbb\xbfname: x\n")
    found = Diagnostics()
    (document,) = read_file("bom.yaml", found)
    assert document.span(("name",)).location == "bom.yaml:1:7"
    assert not list(found)


def test_too_large(folder: Path) -> None:
    (folder / "large.yaml").write_bytes(b"#" * (MAX_FILE_BYTES + 1))
    found = Diagnostics()
    assert read_file("large.yaml", found) == []
    (item,) = found
    assert (item.code, item.message) == ("file-too-large", "`large.yaml` is larger than 4 MiB")


def test_endless_input_is_not_read_to_its_end(folder: Path) -> None:
    found = Diagnostics()
    assert read_file("/dev/zero", found) == []
    assert [item.code for item in found] == ["no-regular-file"]


def test_a_large_file_is_not_read_to_its_end(folder: Path) -> None:
    with Path("tasks/large.yaml").open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room
    found = Diagnostics()
    assert read_file("tasks/large.yaml", found) == []
    assert [item.code for item in found] == ["file-too-large"]


def test_a_folder_or_a_strange_name_instead_of_a_file(folder: Path) -> None:
    found = Diagnostics()
    assert read_file("tasks", found) == []
    assert read_file("a\x00b", found) == []
    assert discover(["a\x00b"], found) == []
    assert {item.code for item in found} == {"file-unreadable"}
    assert next(iter(found)).message == "`tasks` cannot be read: Is a directory"


def test_a_name_that_is_no_unicode(folder: Path) -> None:
    name = os.fsdecode(b"tasks/\xff.yaml")
    try:
        Path(name).write_text("name: [\n", encoding="utf-8")
    except OSError:
        give_up("this file system has only Unicode names")
    found = Diagnostics()
    read_file(name, found)
    (item,) = found
    assert item.span is not None
    assert item.span.source.path == name
    assert " --> tasks/\\udcff.yaml:1:" in render(found)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"name: x\nname: y\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    found = Diagnostics()
    (document,) = read_stdin(found)
    assert document.data == {"name": "y"}
    (item,) = found
    assert item.span is not None
    assert item.span.location == "<stdin>:2:1"


def test_what_an_apply_wrote_is_not_read_again(folder: Path) -> None:
    out = folder / "tasks" / "rendered"
    (out / ".triplane").mkdir(parents=True)
    (out / "job.yaml").write_text("kind: Job\n", encoding="utf-8")
    found = Diagnostics()
    assert not any("rendered" in path for path in discover(["tasks"], found))
    # Asked for by name it is read like any other.
    assert discover(["tasks/rendered"], found) == ["tasks/rendered/job.yaml"]
    assert not list(found)
