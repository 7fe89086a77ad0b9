"""Scripts that leave Slurm: their `run`, started as the launcher starts it, does what they did."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from compiler.migration.result import Migration, Status
from compiler.workflow import migrate_script, migration_settings


def _moved(script: str, **settings: object) -> Migration:
    found = migrate_script(
        script.encode(),
        "job.sh",
        migration_settings(target="kubernetes", **settings),  # type: ignore[arg-type]
    )
    assert found.status is Status.TRANSLATED, [note.message for note in found.reasons]
    return found


def _run(found: Migration, folder: Path, rank: int = 0, **variables: str) -> tuple[int, list[str]]:
    """(exit code, lines of output) of one rank."""
    assert found.yaml is not None
    task = yaml.safe_load(found.yaml)
    nodes = task.get("num_nodes", 1)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(folder),
        "SKYPILOT_NODE_RANK": str(rank),
        "SKYPILOT_NUM_NODES": str(nodes),
        "SKYPILOT_NODE_IPS": "\n".join(f"10.0.0.{number}" for number in range(nodes)),
        "SKYPILOT_NUM_GPUS_PER_NODE": "4",
        "SKYPILOT_INTERNAL_JOB_ID": "77",
        "SKYPILOT_JOB_RANK": "0",
        "SKYPILOT_NUM_JOBS": "1",
        **variables,
    }
    done = subprocess.run(
        ["bash", "-c", task["run"]],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_processes_of_two_nodes_are_numbered_as_tasks_are(tmp_path: Path):
    found = _moved(
        """#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=3
srun bash -c 'echo "$SLURM_PROCID/$SLURM_NTASKS $SLURM_NODEID:$SLURM_LOCALID"'
"""
    )
    said = [line for rank in (0, 1) for line in _run(found, tmp_path, rank)[1]]
    assert sorted(said) == [f"{task}/6 {task // 3}:{task % 3}" for task in range(6)]


def test_every_process_has_its_gpus(tmp_path: Path):
    found = _moved(
        """#!/bin/bash
#SBATCH --nodes=1 --ntasks=2 --gpus-per-task=a100:2
srun bash -c 'echo "$SLURM_PROCID $CUDA_VISIBLE_DEVICES"'
"""
    )
    assert sorted(_run(found, tmp_path)[1]) == ["0 0,1", "1 2,3"]


@pytest.mark.parametrize(("flags", "seconds", "late"), [("", 1, 3), ("-K ", 6, 0)])
def test_the_code_is_the_highest_and_k_ends_the_others(
    tmp_path: Path, flags: str, seconds: int, late: int
):
    found = _moved(
        f"""#!/bin/bash
#SBATCH --nodes=1 --ntasks=4
srun {flags}bash -c '[ $SLURM_PROCID = 2 ] && exit 5; sleep {seconds}; echo late'
echo "code $?"
"""
    )
    code, lines = _run(found, tmp_path)
    assert code == 0
    assert lines.count("late") == late
    assert lines[-1] == "code 5"


@pytest.mark.parametrize(
    ("array", "members"),
    [
        ("1-3", [1, 2, 3]),
        ("0-10:5", [0, 5, 10]),
        ("[7]", [7]),
        ("2,9,4-5%2", [2, 4, 5, 9]),
    ],
)
def test_the_members_of_an_array(tmp_path: Path, array: str, members: list[int]):
    found = _moved(
        f"""#!/bin/bash
#SBATCH --array={array}
echo "$SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX"
"""
    )
    count = str(len(members))
    for rank, member in enumerate(members):
        numbered = {"SKYPILOT_JOB_RANK": str(rank), "SKYPILOT_NUM_JOBS": count}
        expected = [f"{member} {count} {members[0]}-{members[-1]}"]
        assert _run(found, tmp_path, **numbered) == (0, expected)
    [entry] = [entry for entry in found.entries if "array" in entry.directive]
    assert f"--num-jobs {count}" in entry.message


def test_mpirun_on_one_node_is_told_the_number(tmp_path: Path):
    (tmp_path / "mpirun").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "mpirun").chmod(0o755)
    found = _moved(
        """#!/bin/bash
#SBATCH --nodes=1 --ntasks=8
module load openmpi
mpirun ./solver input
mpirun -np 2 ./other
"""
    )
    assert _run(found, tmp_path)[1] == ["-np 8 ./solver input", "-np 2 ./other"]


def test_a_script_for_sh_is_read_as_sh_does(tmp_path: Path):
    found = _moved("#!/bin/sh -e\n#SBATCH --time=5\necho $- | tr -cd e\necho\nfalse\necho no\n")
    assert _run(found, tmp_path) == (1, ["e"])


def test_a_step_in_a_variable_that_is_set_once(tmp_path: Path):
    found = _moved(
        "#!/bin/bash\n#SBATCH --ntasks=1\nEXE=/bin/echo\nsrun $EXE 'a  b'\nsrun -n1 \"$EXE\" c\n"
    )
    assert _run(found, tmp_path)[1] == ["a  b", "c"]


IMAGES = {
    "pyxis": ("srun --container-image=nvcr.io#nvidia/pytorch:24.01-py3 python x.py", None),
    "pyxis-in-a-variable": (
        "IMG=nvcr.io#nvidia/pytorch:24.01-py3\nsrun --container-image=$IMG python x.py",
        None,
    ),
    "docker-url": (
        "apptainer exec --nv docker://nvcr.io/nvidia/pytorch:24.01-py3 python x.py",
        None,
    ),
    "step-and-runtime": (
        "srun singularity exec -B /data docker://nvcr.io/nvidia/pytorch:24.01-py3 python x.py",
        None,
    ),
    "shifter": ("srun shifter --image=docker:nvcr.io/nvidia/pytorch:24.01-py3 python x.py", None),
    "file": ("singularity exec --nv torch.sif python x.py", "docker:DECIDE"),
    "unknown": ('singularity exec "$IMAGE" python x.py', "docker:DECIDE"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_the_container_becomes_the_image(name: str):
    command, image = IMAGES[name]
    found = _moved(f"#!/bin/bash\n#SBATCH --ntasks=1\necho start\n{command}\n")
    assert found.yaml is not None
    task = yaml.safe_load(found.yaml)
    expected = image or "docker:nvcr.io/nvidia/pytorch:24.01-py3"
    assert task["resources"]["image_id"] == expected
    assert task["run"].endswith("\npython x.py\n") or task["run"] == "echo start\npython x.py\n"
    assert found.undecided == (1 if image else 0)


STAY = {
    "two images": "singularity exec a.sif x\nsingularity exec b.sif y",
    "outside": "singularity exec a.sif x\n./solver",
    "outside, on one line": "./solver; singularity exec a.sif x",
    "clean environment": "singularity exec --cleanenv a.sif x",
    "another verb": "singularity run a.sif",
    "docker": "docker run --rm ubuntu true",
    "an MPI program": "srun -n 4 ./solver",
    "python with MPI": "module load openmpi\nsrun -n 4 python x.py",
    "hosts of MPI": "mpirun -hostfile nodes ./solver",
    "a chosen node": "srun -w node1 ./solver",
    "in the background": "srun ./a &\nsrun ./b &\nwait",
    "held in a variable": 'RUN="singularity exec a.sif"\n$RUN x',
    "input for all": "srun -n 4 python x.py <data",
    "restart chain": "#SBATCH --array=1-7%1\npython x.py",
    "index without array": "echo $SLURM_ARRAY_TASK_ID",
}


@pytest.mark.parametrize("why", STAY)
def test_what_would_not_be_the_same_stays(why: str):
    text = f"#!/bin/bash\n#SBATCH --nodes=1 --ntasks=4\n{STAY[why]}\n"
    found = migrate_script(text.encode(), "job.sh", migration_settings(target="kubernetes"))
    assert found.status is Status.KEPT
    assert found.reasons


@pytest.mark.parametrize("target", ["slurm", "kubernetes"])
@pytest.mark.parametrize(
    "text", ['run="srun -N $N --cpu_bind=cores"\n$run x', "run=(srun -n $N)\n${run[@]} x"]
)
def test_srun_with_expansions_in_a_variable_is_seen(target: str, text: str):
    found = migrate_script(
        f"#!/bin/bash\n#SBATCH --ntasks=1\n{text}\n".encode(),
        "job.sh",
        migration_settings(target=target),
    )
    assert found.status is Status.KEPT
    assert any("srun is held in `run`" in reason.message for reason in found.reasons)


def test_words_that_the_grammar_cuts_are_whole(tmp_path: Path):
    text = """#!/bin/bash
#SBATCH --nodes=1
dir=$HOME/runs/$SLURM_JOB_ID/
mkdir -p $HOME/x/$SLURM_JOB_NAME/ && cd $dir/../$SLURM_JOB_NAME/ 2>/dev/null
echo $dir >$HOME/$SLURM_JOB_NAME.txt
cat <$HOME/$SLURM_JOB_NAME.txt
a=$HOME/$SLURM_JOB_ID/$SLURM_JOB_NAME/
>$HOME/$SLURM_JOB_ID/ cat 2>/dev/null
"""
    found = _moved(text)
    assert {fact.text for fact in found.facts if fact.kind == "slurm-variable"} == {
        "SLURM_JOB_ID",
        "SLURM_JOB_NAME",
    }
    assert _run(found, tmp_path)[1] == [f"{tmp_path}/runs/77/"]
