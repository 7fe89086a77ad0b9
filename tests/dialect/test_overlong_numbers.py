"""Digits without end, which Python refuses to convert: a message, and never a breakdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialect.fuzzing import Field, inside, run

DIGITS = "1" * 5000
RESOURCES = (
    f"disk_size: '{DIGITS}GB'",
    f"disk_size: '{DIGITS}'",
    f"cpus: '{DIGITS}'",
    f"cpus: {DIGITS}m",
    f"memory: '{DIGITS}MB'",
    f"ports: ['1-{DIGITS}']",
    f"accelerators: 'H100:{DIGITS}'",
    f"accelerators: '{DIGITS}GB'",
    f"autostop: '{DIGITS}m'",
    f"ephemeral_storage: '{DIGITS}Gi'",
)
TEXTS = (
    *(f"resources: {{{item}}}\nrun: x\n" for item in RESOURCES),
    f"volumes: {{/a: {{size: '{DIGITS}Gi'}}}}\nrun: x\n",
    f"name: v\ntype: k8s-pvc\nsize: '{DIGITS}Gi'\n",
    f"name: g\nexecution: parallel\ntermination_delay: '{DIGITS}s'\n---\nname: a\nrun: x\n",
)


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_in_a_task(tmp_path: Path, number: int) -> None:
    with inside(tmp_path):
        Path("text.yaml").write_text(TEXTS[number])
        code, said = run(["validate", "text.yaml"])
    assert code == 1
    assert "error[" in said and "internal error" not in said


def test_in_a_script(tmp_path: Path) -> None:
    with inside(tmp_path):
        Path("job.sh").write_text(f"#!/bin/bash\n#SBATCH --gres=gpu:h100:{DIGITS}\nsrun ./x\n")
        code, said = run(["migrate", "job.sh"])
    assert code == 1
    assert "thousands of digits" in said and "internal error" not in said


def test_in_options_of_a_task(tmp_path: Path) -> None:
    field = Field(tmp_path / "project")
    options = ("time", "nice", "priority", "array", "begin", "mem-per-gpu")
    with inside(field.folder):
        for name in options:
            Path("task.yaml").write_text(
                "run: x\nresources: {infra: slurm}\n"
                f"config: {{slurm: {{sbatch_options: {{{name}: '{DIGITS}'}}}}}}\n"
            )
            words = ["render", "task.yaml", "--stack", "stack.yaml", "--out", "tree"]
            assert "internal error" not in run(words)[1]
