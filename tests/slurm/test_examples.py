"""Every example really runs on the cluster: a copy without accelerators, beside stand-ins.

Programs that are not here say how they were called; engines of the reinforcement learning really
answer, and its trainer goes on when a task has joined.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.command_line import PROGRAM, TOP
from tests.slurm.example_copies import copy_of_examples
from tests.slurm.login_files import bashrc
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

_SAYS = """\
#!/bin/bash
printf 'ran %s' "${0##*/}"; for word; do printf ' %q' "$word"; done; printf '\\n'
"""
_PYTHON3 = """\
#!/bin/bash
[ "$1 $2" = "-m venv" ] || exec /usr/bin/python3 "$@"
mkdir -p "$3/bin"
cp -f "${0%/*}/pip" "$3/bin/pip.$$" && mv "$3/bin/pip.$$" "$3/bin/pip"
: >"$3/bin/activate"
"""
_PYTHON = """\
#!/bin/bash
here=$(sed -n "$((SKYPILOT_NODE_RANK + 1))p" <<<"$SKYPILOT_NODE_IPS")
case "$*" in
"-m http.server"*) exec /usr/bin/python3 "$@" --bind "$here" ;;
"-m sglang.launch_server"*)
    exec /usr/bin/python3 -m http.server 30000 --bind "$here" --directory "${0%/*}/answers" ;;
esac
printf 'ran python'; printf ' %q' "$@"; printf '\\n'
[ "$1 $SKYPILOT_JOBGROUP_NAME" != "train.py rl-slime" ] ||
    until [ -e "$POLICY/joined" ]; do sleep 0.2; done
[ "$1" != evaluate.py ] || [ ! -d "$POLICY" ] || : >"$POLICY/joined"
"""
_RAY = """\
#!/bin/bash
printf 'ran ray'; printf ' %q' "$@"; printf '\\n'
case "$1" in
status) exit 1 ;;
list) printf 'node_id\\n%.0s' 1 2 3 ;;
esac
"""
SECRET = "--secret=HF_TOKEN=hf_not-to-be-seen"
GROUP, MEMBER, NODE = "rl-slime", "evaluation", "dev-node"

# What the first rank of each work prints, in regular expressions; FIRST is its address.
_TORCHRUN = r"ran torchrun --nnodes=2 .*\bFIRST\b"
SAYS: Mapping[str, tuple[str, ...]] = {
    "data-prep": ("16",),
    "eval-sweep": tuple(f"evaluating with seed {seed}" for seed in range(4)),
    "finetune-any": (
        "ran pip install --quiet trl==0.24.0 peft==0.17.1",
        "ran trl sft --model_name_or_path Qwen/Qwen3-8B --dataset_name trl-lib/Capybara "
        "--use_peft --num_train_epochs 3 --output_dir .*/sky_workdir/out",
    ),
    "hello": ("hello from rank 0 of 1",),
    "llama-pretrain": (
        "ran pip install --quiet -r requirements.txt",
        rf"{_TORCHRUN}.* train.py --model llama-3.1-8b .* --max-steps 20000",
    ),
    "lora-finetune": (
        "ran pip install --quiet trl==0.24.0 peft==0.17.1",
        "ran trl sft --config /tmp/lora/settings.json --model_name_or_path Qwen/Qwen3-1.7B "
        "--dataset_name .*/data --output_dir .*/sky_workdir/adapter",
    ),
    "nccl-bandwidth": (
        r"ran pip install --quiet torch==2.9.1 numpy\\<3",
        rf"{_TORCHRUN} --master-port=29501 allreduce.py",
    ),
    "nemo-pretrain": (
        rf"{_TORCHRUN}:29500 --no-python nemo llm pretrain --factory llama3_8b "
        "trainer.max_steps=1000 --yes",
    ),
    "nightly": ("ran python regress.py --all",),
    "overnight": ("alpha-[ah][12]",),
    "parameter-study": ("viscosity 0.0[0-9]*, speed [0-9.]*: Reynolds number [0-9]*",),
    "ray-train": (
        r"ran pip install --quiet ray\\\[train\\\]==2.51.0",
        "ran ray start --head --port 6379 --num-gpus 0",
        "ran python train.py",
        "ran ray stop",
    ),
    "smoke": ("ran python regress.py --smoke",),
    "trainium-finetune": (
        "ran neuron-ls",
        "ran torchrun --nproc-per-node=32 finetune.py --model llama-3.1-8b",
    ),
    "vision-container": ("ran python -",),
    "chat": ("ran vllm serve Qwen/Qwen3-8B --host 0.0.0.0 --port 8000",),
}
RANKS = {"parameter-study": 3, "ray-train": 3, "overnight": 3}


@dataclass
class Examples:
    project: Project
    shared: Path


@pytest.fixture(scope="module")
def examples(slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Examples]:
    """All of them applied at once, and those that end by themselves waited for."""
    home = slurm_site.home("alice")
    programs = dict.fromkeys(("pip", "torchrun", "trl", "vllm", "neuron-ls"), _SAYS)
    programs |= {"python3": _PYTHON3, "python": _PYTHON, "ray": _RAY}
    for name, text in programs.items():
        slurm_site.write("alice", f"example-programs/{name}", text).chmod(0o755)
    slurm_site.write("alice", "example-programs/answers/health", "ok\n")
    shared = slurm_site.write("alice", "example-shared/readme", "").parent
    shared.chmod(0o777)
    project = Project(slurm_site, tmp_path_factory.mktemp("examples"), "examples")
    copies = copy_of_examples(project.folder, shared)
    paths = [path for path in copies if "/rl-" not in path]
    try:
        with bashrc(slurm_site, "alice", f"export PATH={home}/example-programs:$PATH\n"):
            validated = project.triplane("validate", *copies, stack=False)
            assert validated.code == 0, validated.text
            project.apply(*paths, SECRET)
            waited_for = (*SAYS, "train-and-eval")
            project.until_all(
                {work: lambda run: not run.state.is_live for work in waited_for}, seconds=250
            )
            yield Examples(project, shared)
    finally:
        project.clean()
        for folder in ("example-programs", "example-shared"):
            shutil.rmtree(home / folder)


@pytest.mark.parametrize("work", SAYS)
def test_it_runs_to_its_end(examples: Examples, work: str) -> None:
    project = examples.project
    logs = [project.log(work, rank) for rank in range(RANKS.get(work, 1))]
    assert project.runs()[work, 1].state is RunState.SUCCEEDED, logs
    first = re.escape(project.sh("getent", "ahostsv4", "alpha-h1").split()[0])
    lines = logs[0].splitlines()
    for wanted in SAYS[work]:
        pattern = wanted.replace("FIRST", first.rpartition(r"\.")[0] + r"\.\d+")
        assert any(re.fullmatch(pattern, line) for line in lines), (pattern, logs[0])
    assert "hf_not-to-be-seen" not in "".join(logs)


def test_every_example_is_here(examples: Examples) -> None:
    works = {work for work, _ in examples.project.runs()}
    assert works == {*SAYS, NODE, "train-and-eval"}
    made = {path.parent.name for path in (examples.project.folder / "examples").glob("*/*.yaml")}
    assert made == {path.name for path in (TOP / "examples").iterdir() if path.is_dir()}


def test_a_study_shares_its_rows_out_to_all_nodes(examples: Examples) -> None:
    source = examples.project.folder / "examples/parameter-study/src/parameters.csv"
    logs = [examples.project.log("parameter-study", rank) for rank in range(3)]
    seen = [line for log in logs for line in log.splitlines()]
    assert all(logs)
    assert len(set(seen)) == len(seen) == len(source.read_text().splitlines()) - 1


def test_train_then_evaluate(examples: Examples) -> None:
    run = examples.project.runs()["train-and-eval", 1]
    assert run.state is RunState.SUCCEEDED
    folder = examples.project.run_folder("train-and-eval")
    trained = (folder / "train/logs/0.log").read_text()
    assert re.search(r"ran torchrun --nnodes=2 .* train.py --steps 2000 --out .*/last\n", trained)
    evaluated = (folder / "evaluate/logs/0.log").read_text()
    assert evaluated.startswith("ran python evaluate.py ")


def test_a_task_without_run_keeps_its_node(examples: Examples) -> None:
    project = examples.project
    project.until(NODE, RunState.RUNNING, seconds=60)
    words = ("--", "git", "config", "--global", "init.defaultBranch")
    done = subprocess.run(
        [*PROGRAM, "exec", NODE, "--stack", "stack.yaml", *words],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "main\n"), done.stderr
    assert project.triplane("cancel", NODE).code == 0
    assert project.until(NODE).state is RunState.CANCELLED


def test_reinforcement_learning_with_a_member_that_joins(examples: Examples) -> None:
    project = examples.project
    project.apply("examples/rl-slime/task.yaml", SECRET)
    project.until(GROUP, RunState.RUNNING, seconds=100)
    trainer = project.run_folder(GROUP) / "trainer/logs/0.log"
    project.site.wait_for(
        lambda: trainer.exists() and "ran python train.py" in trainer.read_text(), 100, "trainer"
    )
    joined = project.triplane(
        "apply", "--auto-approve", "examples/rl-member/task.yaml", "--group", GROUP
    )
    assert joined.code == 0, joined.text
    assert project.until(f"{GROUP}-{MEMBER}", seconds=60).state is RunState.SUCCEEDED
    said = project.log(f"{GROUP}-{MEMBER}")
    assert said == f"ran python evaluate.py --engine http://engine-0.{GROUP}:30000\n"
    (examples.shared / "joined").touch()
    assert project.until(GROUP, seconds=100).state is RunState.SUCCEEDED
    assert trainer.read_text() == (
        f"ran python train.py --engines http://engine-0.{GROUP}:30000 "
        f"http://engine-1.{GROUP}:30000 --policy {examples.shared} --updates nccl\n"
    )
