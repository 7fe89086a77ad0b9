"""Tasks that are in the folder already: left, brought up to date, or replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compiler.workflow import migrate, migration_settings

SCRIPT = """\
#!/bin/bash
# Trains the model.
#SBATCH --job-name=train --nodes=1 --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --gres=gpu:2
#SBATCH --time=1:00:00
python train.py
"""
EDITED = """\
# yaml-language-server: $schema=https://triplane.dev/schemas/task.schema.json
# Trains the model.
name: train
num_nodes: 1  # enough, says Ada
resources:
  infra: k8s
  # the two in rack 7
  accelerators: A100:2
  cpus: 4
  memory: 16
  disk_size: 200
volumes:
    /data: 'datasets'
run: |
  # changed by hand
  python train.py --fast
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks").mkdir()
    return tmp_path


def _again(script: str, existing: str, there: str = EDITED, target: str = "kubernetes"):
    Path("train.sh").write_text(script)
    Path("tasks/train.yaml").write_text(there)
    settings = migration_settings(target=target, existing=existing)
    found = next(migrate(["train.sh"], settings, out="tasks").results)
    said = [
        note.message for note in found.notes if note.code in ("migrate-exists", "migrate-updated")
    ]
    return Path("tasks/train.yaml").read_text(), said


def test_what_says_something_else_is_left(folder: Path):
    text, said = _again(SCRIPT, "keep")
    assert text == EDITED
    assert said == ["tasks/train.yaml exists and says something else: it is left as it is"]


def test_what_says_the_same_is_no_matter(folder: Path):
    Path("train.sh").write_text(SCRIPT)
    settings = migration_settings(target="kubernetes")
    for _ in range(2):
        found = next(migrate(["train.sh"], settings, out="tasks").results)
        assert not [note for note in found.notes if note.code == "migrate-exists"]


def test_overwriting(folder: Path):
    text, said = _again(SCRIPT, "overwrite")
    assert "Ada" not in text and "DECIDE:2" in text
    assert said == []


def test_an_update_brings_in_directives_and_nothing_else(folder: Path):
    script = SCRIPT.replace("--mem=16G", "--mem=24G").replace("--nodes=1", "--nodes=2")
    script = script.replace("python", "srun python")
    text, said = _again(script, "update")
    expected = EDITED.replace("num_nodes: 1", "num_nodes: 2").replace("memory: 16", "memory: 24")
    assert yaml.safe_load(text) == yaml.safe_load(expected)
    for kept in ("# enough, says Ada", "  # the two in rack 7", "'datasets'", "# changed by hand"):
        assert kept in text
    assert said == [
        "tasks/train.yaml: num_nodes, resources.memory",
        "tasks/train.yaml: `run` is not the script's text, and stays",
        "tasks/train.yaml: `accelerators: A100:2` was decided on, and stays",
    ]


def test_an_update_quotes_what_yaml_would_change(folder: Path):
    script = SCRIPT.replace("--gres=gpu:2\n", "--gres=gpu:a100:2\n")
    there = "name: train\nconfig:\n  slurm:\n    sbatch_options:\n      time: '10'  # short\n"
    there += "      constraint: ib\nrun: |\n  python train.py\n"
    text, said = _again(script.replace("1:00:00", "24:00:00"), "update", there, "slurm")
    assert 'time: "24:00:00" # short' in text
    task = yaml.safe_load(text)
    assert task["config"]["slurm"]["sbatch_options"] == {"constraint": "ib", "time": "24:00:00"}
    assert task["resources"]["accelerators"] == "A100:2"
    assert any("`constraint`" in message for message in said)


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ("name: [\n", "cannot be read"),
        ("- a\n", "no task"),
        ("name: train\nconfig: {triplane: {native_script: train.sh}}\n", "would be translated now"),
    ],
)
def test_what_cannot_be_updated_is_left(folder: Path, there: str, why: str):
    text, [said] = _again(SCRIPT, "update", there)
    assert text == there
    assert why in said
