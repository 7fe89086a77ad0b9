"""Scripts of arrays and of tasks that join a group, which no golden case can ask for."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

from compiler.targets.interface import Job, JoinedGroup
from tests.unit.slurm_jobs import directives, make_job, render

_TASK = "name: {name}\nresources: {{infra: slurm/alpha, cpus: 1}}\nrun: ./x.sh\n"
_SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))


def text_of(job: Job) -> str:
    text, found = render(job)
    assert not list(found), [item.message for item in found]
    done = subprocess.run(
        [_SHELLCHECK, "-s", "bash", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return text


def test_an_array_has_a_folder_and_a_rank_for_each_member() -> None:
    job = make_job(_TASK.format(name="sweep"))
    text = text_of(dataclasses.replace(job, num_jobs=4))
    found = directives(text)
    assert found["array"] == "0-3"
    assert found["output"].endswith("/slurm-%A_%a.out")
    assert "RUN=$STATE/runs/'sweep.1'/$SLURM_ARRAY_TASK_ID\n" in text
    assert 'export SKYPILOT_JOB_RANK="$SLURM_ARRAY_TASK_ID"\n' in text
    assert "export SKYPILOT_NUM_JOBS=4\n" in text
    assert "array" not in directives(text_of(job))


def test_a_task_that_joins_names_the_group_s_run() -> None:
    job = make_job(_TASK.format(name="rlhf-eval"))
    text = text_of(dataclasses.replace(job, joins=JoinedGroup("rlhf", 7)))
    assert "\nGROUP_RUN='rlhf.7'\n" in text
    assert "'eval' \"$number\"" in text
    assert "export SKYPILOT_JOBGROUP_NAME='rlhf'\n" in text
