"""Drivers that submit chains, heterogeneous jobs: several tasks in one file."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compiler.migration.reporting.summary import Summary
from compiler.migration.result import Migration, Status
from compiler.workflow import checked, migrate, migration_settings, validate

SCRIPTS = {
    "a.sh": "#!/bin/bash\n#SBATCH --time=5\necho a $1\n",
    "b.sh": "#!/bin/bash\n#SBATCH --time=5\necho b\n",
    "secret.sh": "#!/bin/bash\n#SBATCH -n 2\nexport HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz0123\n"
    "srun true\n",
    "empty.sh": "#!/bin/bash\n#SBATCH --nodes=NODES\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in SCRIPTS.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _driver(folder: Path, *lines: str, **settings: object) -> Migration:
    (folder / "go.sh").write_text("\n".join(["#!/bin/bash", *lines, ""]))
    return next(migrate(["go.sh"], migration_settings(**settings)).results)  # type: ignore[arg-type]


FIRST = "one=$(sbatch --parsable a.sh)"
CHAINS = {
    "parsable": [FIRST, "sbatch --dependency=afterok:$one b.sh"],
    "awk": ["one=$(sbatch a.sh | awk '{print $4}')", "sbatch -d afterok:${one} b.sh"],
    "backticks": ["one=`sbatch a.sh | cut -d' ' -f4`", 'sbatch -dafterok:"$one" b.sh'],
    "number-behind-blanks": ["one=$(sbatch a.sh)", 'sbatch --depend="afterok:${one##* }" b.sh'],
    "said-again": [
        "out=$(sbatch a.sh)",
        "one=${out##* }",
        "sbatch --dependency afterok:$one --kill-on-invalid-dep=yes b.sh",
    ],
    "own-folder": ['cd "$(dirname "$0")"', FIRST, "sbatch -d afterok:$one b.sh"],
}


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_is_a_pipeline(folder: Path, name: str):
    found = _driver(folder, *CHAINS[name])
    assert found.status is Status.TRANSLATED, [note.message for note in found.notes]
    assert found.yaml is not None
    header, first, second = yaml.safe_load_all(found.yaml)
    assert header == {"name": "go"}
    assert (first["name"], second["name"]) == ("a", "b")
    (folder / "go.yaml").write_text(found.yaml)
    found_wrong = [item for item in validate(["go.yaml"]).diagnostics if item.severity == "error"]
    assert found_wrong == []
    waits = [entry for entry in found.parts[1].entries if "dependency" in entry.directive]
    assert [entry.outcome for entry in waits] == ["translated"]


NO_CHAINS = {
    "afterany": ([FIRST, "sbatch -d afterany:$one b.sh"], "whatever became of"),
    "side-by-side": ([FIRST, "sbatch -d afterok:$one b.sh", "sbatch a.sh"], "waits for none"),
    "not-the-one-before": (
        [FIRST, "two=$(sbatch --parsable -d afterok:$one b.sh)", "sbatch -d afterok:$one a.sh"],
        "not the submission before",
    ),
    "variable-that-is-set-anew": (
        [FIRST, "one=7", "sbatch -d afterok:$one b.sh"],
        "not the submission before",
    ),
    "several": ([FIRST, "sbatch -d afterok:$one:$one b.sh"], "success of a single job"),
    "loop": ([FIRST, "for n in 1 2; do sbatch -d afterok:$one b.sh; done"], "in a loop"),
    "condition": ([FIRST, "if true; then sbatch -d afterok:$one b.sh; fi"], "in a condition"),
    "argument": ([FIRST, "sbatch -d afterok:$one b.sh $HOME"], "known only when"),
    "another-command": ([FIRST, "make", "sbatch -d afterok:$one b.sh"], "`make` is called"),
    "exported": (["export MODE=fast", FIRST, "sbatch -d afterok:$one b.sh"], "`MODE` is handed"),
    "for-one-job": ([FIRST, "MODE=fast sbatch -d afterok:$one b.sh"], "`MODE` is set"),
    "missing": ([FIRST, "sbatch -d afterok:$one c.sh"], "`c.sh` is not there"),
    "refused": ([FIRST, "sbatch -d afterok:$one empty.sh"], "cannot become a task"),
    "secret": ([FIRST, "sbatch -d afterok:$one secret.sh"], "holds a secret"),
    "wrapped": ([FIRST, "sbatch -d afterok:$one --wrap=ls"], "--wrap"),
}


@pytest.mark.parametrize("name", NO_CHAINS)
def test_what_is_no_pipeline_is_said(folder: Path, name: str):
    lines, why = NO_CHAINS[name]
    found = _driver(folder, *lines)
    assert (found.status, found.yaml) == (Status.BY_HAND, None)
    assert any(why in note.message for note in found.notes), [n.message for n in found.notes]
    assert all(note.line for note in found.notes[1:])


def test_options_and_arguments_of_each_submission_hold(folder: Path):
    found = _driver(
        folder,
        "one=$(sbatch --parsable --time=10 a.sh x 'y z')",
        "two=$(sbatch --parsable -d afterok:$one a.sh)",
        "sbatch -d afterok:$two a.sh",
    )
    assert found.yaml is not None
    _, *tasks = yaml.safe_load_all(found.yaml)
    assert [task["name"] for task in tasks] == ["a", "a-2", "a-3"]
    options = [task["config"]["slurm"]["sbatch_options"]["time"] for task in tasks]
    assert options == ["10", "5", "5"]
    assert "set -- x 'y z'" in tasks[0]["run"]


def test_drivers_are_found_in_folders(folder: Path):
    _driver(folder, *CHAINS["parsable"])
    results = {item.path: item for item in migrate([str(folder)], out="tasks").results}
    assert results[f"{folder}/go.sh"].parts
    text = (folder / "tasks" / "go.yaml").read_text()
    assert len(list(yaml.safe_load_all(text))) == 3


def test_a_job_that_submits_the_next_is_a_job(folder: Path):
    found = _driver(folder, "#SBATCH -n1", FIRST, "sbatch -d afterok:$one b.sh")
    assert found.status is Status.KEPT and not found.parts


def test_the_summary_counts_what_the_check_found(folder: Path):
    _driver(folder, *CHAINS["parsable"])
    (folder / "c.sh").write_text(
        "#!/bin/bash\n#SBATCH --chdir=./sub/ -n 2 --time=UNLIMITED\ntrue\n"
    )
    settings = migration_settings(submit_folder=str(folder))
    summary = Summary()
    verdicts = {}
    for item in checked(migrate(["."], settings).results, settings):
        summary.add(item)
        verdicts[item.path] = item.check
    # No limit is a decision: the task has none of its own.
    assert verdicts == {
        **dict.fromkeys(("a.sh", "b.sh", "go.sh", "secret.sh"), "equal"),
        "c.sh": "weaker",
        "empty.sh": None,
    }
    assert summary.data()["scripts_by_check"] == {"equal": 4, "weaker": 1}
    assert "compared with the script\n  equal              4\n  weaker" in summary.text()


def test_no_secret_of_a_driver_is_written(folder: Path):
    token = "hf_abcdefghijklmnopqrstuvwxyz0123456"
    found = _driver(folder, f"# token {token}", FIRST, "sbatch -d afterok:$one b.sh")
    assert found.yaml is not None and token not in found.yaml
    assert all(token not in note.message for note in found.notes)
