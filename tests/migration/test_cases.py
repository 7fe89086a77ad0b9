"""Golden cases: a script, the task that it becomes, and the report, byte for byte.

`cases/<name>/`: `job.sh`, `args` (what stands behind `triplane migrate` instead of the
script's name, or in front of it), `expected.yaml`, `report.txt`, and where they are made
`smoke.yaml` and `kept.sh`. `pytest tests/migration --update-golden` rewrites what is expected.
"""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

import pytest
import yaml

from compiler.diagnostics import all_codes
from compiler.migration.reporting import text
from compiler.migration.result import Migration, Outcome, Status
from compiler.workflow import migrate, migrate_command, migration_settings, validate
from compiler.workflow.migration_check import check

CASES = sorted(path.name for path in (Path(__file__).parent / "cases").iterdir())
FOLDER = Path(__file__).parent / "cases"
_FLAGS = {"--to": "target", "--submit-dir": "submit_folder"}


def _migrated(name: str, **more: object) -> Migration:
    """The case's result, as the command line would make it in the case's folder."""
    folder = FOLDER / name
    words = shlex.split((folder / "args").read_text()) if (folder / "args").exists() else []
    command: list[str] | None = None
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    options: dict[str, object] = {}
    rest = iter(words)
    for word in rest:
        if word in _FLAGS:
            options[_FLAGS[word]] = next(rest)
        else:
            options[word.removeprefix("--")] = True
    settings = migration_settings(**(options | more))  # type: ignore[arg-type]
    with contextlib.chdir(folder):
        if command is not None:
            return migrate_command(command, settings)
        return next(migrate(["job.sh"], settings).results)


def _files(found: Migration) -> dict[str, bytes | None]:
    return {
        "expected.yaml": found.yaml.encode() if found.yaml is not None else None,
        "report.txt": text.report(found).encode(),
        "smoke.yaml": found.smoke.encode() if found.smoke is not None else None,
        "kept.sh": found.script,
    }


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, request: pytest.FixtureRequest) -> None:
    found = _migrated(name)
    for file, content in _files(found).items():
        path = FOLDER / name / file
        if request.config.getoption("--update-golden"):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        assert (path.read_bytes() if path.exists() else None) == content, file


@pytest.mark.parametrize("name", CASES)
def test_every_directive_has_one_outcome_and_every_code_a_page(name: str) -> None:
    found = _migrated(name)
    codes = all_codes()
    for item in (*found.entries, *found.reasons, *found.notes):
        assert item.code in codes
    if found.yaml is None:
        return
    entries = [entry for part in found.parts or (found,) for entry in part.entries]
    assert all(isinstance(entry.outcome, Outcome) for entry in entries)
    lines = found.yaml.splitlines()
    for entry in entries:
        if entry.yaml_line is not None:
            assert entry.path is not None
            assert lines[entry.yaml_line - 1].strip().startswith(entry.path[-1])


@pytest.mark.parametrize("name", CASES)
def test_the_yaml_is_valid_and_means_what_the_script_asks_for(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = _migrated(name)
    if found.yaml is None:
        assert found.status not in (Status.TRANSLATED, Status.KEPT)
        return
    monkeypatch.chdir(FOLDER / name)
    path = tmp_path / "task.yaml"
    path.write_text(found.yaml)
    report = validate([str(path)], check_files=False)
    assert [item.message for item in report.diagnostics if item.severity == "error"] == []
    for part in found.parts or (found,):
        if found.target != "slurm":
            break
        checked = check(part, migration_settings())
        assert checked is not None and checked.faults == ()
        expected = "weaker" if name == "no-time-limit" else "equal"
        assert checked.verdict == expected, [row for row in checked.rows if row.verdict != "equal"]


@pytest.mark.parametrize("name", CASES)
def test_the_variant_to_try_first_is_one_node_with_one_accelerator(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = _migrated(name, smoke=True)
    assert (found.smoke is None) == (found.yaml is None)
    if found.smoke is None:
        return
    monkeypatch.chdir(FOLDER / name)
    path = tmp_path / "task.yaml"
    path.write_text(found.smoke)
    report = validate([str(path)], check_files=False)
    assert [item.message for item in report.diagnostics if item.severity == "error"] == []
    for task in yaml.safe_load_all(found.smoke):
        assert "num_nodes" not in task
        resources = task.get("resources", {})
        assert str(resources.get("accelerators", ":1")).endswith(":1")
        options = task.get("config", {}).get("slurm", {}).get("sbatch_options", {})
        assert not {"nodes", "ntasks", "ntasks-per-node", "array"} & options.keys()
        if options:
            assert options["time"] == "10"


@pytest.mark.parametrize("name", CASES)
def test_text_that_is_not_reported_as_changed_stays_byte_for_byte(name: str) -> None:
    found = _migrated(name)
    if found.status is not Status.TRANSLATED or found.parts:
        return
    assert found.yaml is not None
    run = yaml.safe_load(found.yaml)["run"]
    script = (FOLDER / name / "job.sh").read_text().splitlines()
    body = run.rpartition("# --- from here on the script is as it was ---\n")[2].splitlines()
    changed = {edit.line + at for edit in found.edits for at in range(edit.before.count("\n") + 2)}
    tail = script[_first_command(script) :]
    kept = [line for at, line in enumerate(tail, len(script) - len(tail) + 1) if at not in changed]
    rest = iter(body)
    assert all(line in rest for line in kept)  # in this order, whatever stands between
    assert len(body) <= len(tail)


def _first_command(script: list[str]) -> int:
    """Index of the line at which the header ends."""
    for at, line in enumerate(script):
        if line.strip() and not line.lstrip().startswith("#"):
            return at
    return len(script)


@pytest.mark.parametrize("name", [case for case in CASES if case.startswith("secret")])
def test_no_value_of_a_secret_is_written(name: str) -> None:
    values = ("0123456789abcdef", "hf_abcdef", "aaaabbbb", "S3cr3t", "hunter2")
    for content in _files(_migrated(name)).values():
        assert not any(value.encode() in (content or b"") for value in values)


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40
