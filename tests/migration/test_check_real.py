"""`--check` with a cluster at hand: the real controller is asked about script and task."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compiler.migration.checking import Verdict, compare, worst
from compiler.workflow import migrate, migration_settings
from compiler.workflow.migration_check import check
from tests.slurm_site import SlurmSite

SCRIPTS = {
    "kept": "#SBATCH -N2 --ntasks-per-node=4 -p gpu -C h100 --gres=gpu:h100:2\nsrun ./x\n",
    "translated": "#SBATCH -p cpu -c 4 --mem=2G --time=30\n./x\n",
    "array": "#SBATCH --array=1-3 -p cpu --mem-per-cpu=500\n./x\n",
}


@pytest.mark.slurm
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_controller_takes_both(
    name: str, slurm_site: SlurmSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = slurm_site.bin_dir("alpha", "alice")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    Path("job.sh").write_text(f"#!/bin/bash\n{SCRIPTS[name]}")
    found = next(migrate(["job.sh"]).results)
    checked = check(found, migration_settings(), ask=True)
    assert checked is not None
    assert checked.verdict is Verdict.EQUAL
    assert [answer.partition(": ")[0] for answer in checked.controller] == [
        "the controller takes the script",
        "the controller takes the task",
    ]


@pytest.mark.slurm
def test_the_controller_refuses_both(
    slurm_site: SlurmSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = slurm_site.bin_dir("alpha", "alice")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    Path("job.sh").write_text("#!/bin/bash\n#SBATCH -p nowhere\n./x\n")
    checked = check(next(migrate(["job.sh"]).results), migration_settings(), ask=True)
    assert checked is not None
    assert all("refuses" in answer for answer in checked.controller)
    assert all("invalid partition" in answer for answer in checked.controller)


@pytest.mark.parametrize(
    ("script", "task", "field", "verdict"),
    [
        ({"mem": "4G"}, {"mem": "2G"}, "memory (MiB)", Verdict.WEAKER),
        ({"mem": "4G"}, {"mem": "8G"}, "memory (MiB)", Verdict.STRONGER),
        ({"mem-per-cpu": "2G", "cpus-per-task": "2"}, {"mem": "4G", "cpus-per-task": "2"}, "", ""),
        ({"gres": "gpu:2"}, {"gres": "gpu:h100:2"}, "gpu type", Verdict.STRONGER),
        ({"gpus-per-node": "h100:2"}, {"gres": "gpu:h100:2"}, "", ""),
        ({"gres": "gpu:h100:2"}, {"gres": "gpu:a100:2"}, "gpu type", Verdict.DIFFERENT),
        ({"time": "01:00:00"}, {}, "minutes", Verdict.WEAKER),
        ({"constraint": "ib"}, {}, "constraint", Verdict.DIFFERENT),
        ({"nodes": "2", "ntasks": "4"}, {"nodes": "2", "ntasks-per-node": "2"}, "", ""),
    ],
)
def test_comparing(script, task, field: str, verdict: str):
    rows = compare(script, task, kept=True, name="job")
    unequal = {row.field: row.verdict for row in rows if row.verdict is not Verdict.EQUAL}
    assert unequal == ({field: verdict} if field else {})
    assert worst(rows) == (verdict or Verdict.EQUAL)
