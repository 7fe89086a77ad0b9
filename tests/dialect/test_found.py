"""What fuzzing and hostile users found, each as a small case."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.planning.records import Record
from tests.dialect.fuzzing import Field, inside, run

TOP = Path(__file__).parents[2]
LONG = "x" * 300


@pytest.fixture
def field(tmp_path: Path) -> Iterator[Field]:
    made = Field(tmp_path / "project")
    with inside(made.folder):
        yield made


def test_standard_input_may_be_closed() -> None:
    program = "from compiler.cli.start import entry; entry()"
    done = subprocess.run(
        f'"{sys.executable}" -c "{program}" validate - <&-',
        shell=True,
        capture_output=True,
        text=True,
        cwd=TOP,
        check=False,
    )
    assert done.returncode == 1
    assert "error[file-unreadable]: `<stdin>` cannot be read" in done.stdout + done.stderr


def test_overlong_names_stop_no_other_file(field: Field) -> None:
    text = (
        f"workdir: ./{LONG}\nfile_mounts: {{/a: ./{LONG}/b, /b: {{name: b-x, source: ./{LONG}}}}}\n"
    )
    Path("long.yaml").write_text(text)
    Path("wrong.yaml").write_text("runn: x\n")
    code, said = run(["validate", "long.yaml", "wrong.yaml"])
    assert code == 1
    for name in ("workdir-missing", "mount-source-missing", "unknown-field"):
        assert f"error[{name}]" in said
    code, said = run(["render", "task.yaml", "--stack", f"{LONG}.yaml", "--out", "tree"])
    assert code == 1 and "error[file-unreadable]" in said


def test_a_number_that_is_none_is_said_once(field: Field) -> None:
    Path("number.yaml").write_text("resources: {cpus: .inf, memory: .nan}\n")
    code, said = run(["validate", "number.yaml"])
    assert code == 1
    assert said.count("error[") == said.count("error[invalid-number]") == 2


def test_unknown_fields_without_a_value_are_said_too(field: Field) -> None:
    Path("nothing.yaml").write_text("run: x\nnum_nodess:\n")
    code, said = run(["validate", "nothing.yaml"])
    assert code == 1 and "error[unknown-field]" in said


def test_a_workspace_that_the_stack_does_not_have(field: Field) -> None:
    Path("task.yaml").write_text("run: x\nconfig: {active_workspace: nowhere}\n")
    code, said = run(["render", "task.yaml", "--stack", "stack.yaml", "--out", "tree"])
    assert code == 1 and "error[unknown-workspace]" in said
    assert not Path("tree").exists()


RECORD = {
    "format_version": "1.0",
    "set": "s",
    "work": "w",
    "run": 1,
    "target": "t",
    "kind": "slurm",
    "name": "n",
    "spec_digest": "a",
    "files_digest": "b",
    "stage": "created",
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"run": "1"},
        {"run": None},
        {"run": True},
        {"run": 1.5},
        {"set": None},
        {"work": ["w"]},
        {"files": "x"},
        {"files": {"a": None}},
        {"spec": [1]},
        {"extra": None},
        {"exit_code": "0"},
        {"outcome": {}},
        {"members": [["a", "1"]]},
        {"name": "\ud800"},
        {"stage": "begun"},
    ],
)
def test_records_of_wrong_types_are_none(wrong: dict[str, object]) -> None:
    assert Record.from_json(json.dumps(RECORD)).run_key == "w.1"
    with pytest.raises(ValueError):
        Record.from_json(json.dumps({**RECORD, **wrong}))


def test_deep_records_are_none() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        Record.from_json("[" * 100_000 + "]" * 100_000)


def test_a_broken_record_says_the_way_out(field: Field) -> None:
    field.prepare()
    field.records[0].write_text("{}")
    code, said = run(["status", "--stack", "stack.yaml"])
    assert code != 0
    assert str(field.records[0].name) in said and "move it away" in said
    field.records[0].unlink()
    assert run(["plan", "--stack", "stack.yaml"])[0] == 0
