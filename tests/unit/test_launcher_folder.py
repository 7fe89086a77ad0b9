"""The files that a rank finds, and the variables that are known at compile time."""

import json
import subprocess

import pytest

from compiler.model import Accelerator
from compiler.rendering.launcher import (
    LAUNCHER_FILES,
    Placement,
    env_text,
    gpus_per_node,
    script_folder,
    task_env,
)
from tests.unit.slurm_jobs import make_job

PLACEMENT = Placement(cluster_name="demo-x-1", cloud="aws", region="us-east-1", zone=None)
TASK = """\
name: x
num_nodes: 2
envs:
  B: "2"
  A: "it's"
  SKYPILOT_NUM_NODES: "9"
  SKYPILOT_USER: me
  TOKEN: shadowed
secrets: {TOKEN: null}
run: echo run
"""


def variables(task: str = TASK, **settings) -> dict[str, str]:
    job = make_job(task)
    return task_env(job.task, task_id=job.task_id, placement=PLACEMENT, gpus=8, run=3, **settings)


def test_predefined_variables_overwrite_the_users() -> None:
    env = variables()
    assert env["SKYPILOT_NUM_NODES"] == "2"
    assert env["SKYPILOT_NUM_GPUS_PER_NODE"] == "8"
    assert env["SKYPILOT_TASK_ID"] == "triplane-demo-x-1"
    assert env["SKYPILOT_INTERNAL_JOB_ID"] == "3"
    assert json.loads(env["SKYPILOT_CLUSTER_INFO"]) == {
        "cluster_name": "demo-x-1",
        "cloud": "aws",
        "region": "us-east-1",
        "zone": None,
    }
    assert "SKYPILOT_USER" not in env  # the launcher knows it
    assert variables(user="alice")["SKYPILOT_USER"] == "alice"


def test_secrets_win_over_envs_of_the_same_name() -> None:
    assert "TOKEN" not in variables()


def test_a_given_task_id_is_kept() -> None:
    task = TASK.replace('"9"', '"9"\n  SKYPILOT_TASK_ID: mine')
    assert variables(task)["SKYPILOT_TASK_ID"] == "mine"


def test_variables_of_groups_and_many_jobs() -> None:
    assert "SKYPILOT_JOB_RANK" not in variables()
    env = variables(group="rl", job_rank=0, num_jobs=4)
    assert env["SKYPILOT_JOBGROUP_NAME"] == "rl"
    assert (env["SKYPILOT_JOB_RANK"], env["SKYPILOT_NUM_JOBS"]) == ("0", "4")


def test_env_text_exports_literally() -> None:
    values = {"A": "$(id) `id` ${HOME}", "B": 'it\'s\na \\ "b"', "C": ""}
    text = env_text(values)
    script = f'{text}printf \'%s\\0\' "$A" "$B" "$C"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == list(values.values())


@pytest.mark.parametrize("name", ["", "1A", "A B", "A-B", "A=1;id", "Ä", "A\n"])
def test_what_is_no_name_never_becomes_a_line(name: str) -> None:
    with pytest.raises(ValueError, match="variable"):
        env_text({name: "x"})


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_what_no_variable_can_hold_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"NUL|surrogate"):
        env_text({"A": value})


@pytest.mark.parametrize(
    ("accelerator", "expected"),
    [
        (None, 0),
        (Accelerator("H100", 8), 8),
        (Accelerator("L4", 0.5), 1),
        (Accelerator("tpu-v5p-slice", 4), 0),
        (Accelerator("Inferentia", 6), 6),
    ],
)
def test_gpus_per_node(accelerator: Accelerator | None, expected: int) -> None:
    assert gpus_per_node(accelerator) == expected


def test_the_folder_holds_the_users_texts_as_they_are() -> None:
    task = make_job("name: x\nsetup: \"a\\t\\r\\n$B\"\nrun: 'no line break'\n").task
    files = script_folder(task, {"A": "1"}, "platform")
    assert files["setup.sh"] == "a\t\r\n$B"
    assert files["run.sh"] == "no line break"
    assert files["platform.sh"] == "platform"
    assert files["task.env"] == "export A='1'\n"
    assert set(files) == {*LAUNCHER_FILES, "platform.sh", "task.env", "setup.sh", "run.sh"}


def test_absent_texts_give_no_files() -> None:
    files = script_folder(make_job("name: x\n").task, {}, "")
    assert set(files) == {*LAUNCHER_FILES, "platform.sh", "task.env"}
