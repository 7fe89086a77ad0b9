"""Every example really runs on the real node, as it stands in the repository.

A policy of the test's server takes accelerators, images and sizes away (docs/testing.md);
frameworks are stand-ins that say how they were called, and engines and services that answer.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.command_line import TOP
from tests.kubernetes.project import V1, Project
from tests.kubernetes_site import KubernetesSite

pytestmark = [pytest.mark.kubernetes, pytest.mark.timeout(900)]

SECRET = "--secret=HF_TOKEN=hf_not-to-be-seen"
GROUP, MEMBER, NODE, SERVICE, PIPELINE = (
    "rl-slime",
    "evaluation",
    "dev-node",
    "chat",
    "train-and-eval",
)
QUEUES = ("batch", "interactive")
VOLUMES = ("shared-policy", "shared-checkpoints")
_STORAGE, _KUEUE = "storage.k8s.io/v1", "kueue.x-k8s.io/v1beta2"

# What a rank of each work prints, in regular expressions of whole lines.
_TORCHRUN = r"ran torchrun --nnodes=2 .*\b\d+\.\d+\.\d+\.\d+\b"
SAYS: Mapping[str, tuple[str, ...]] = {
    "data-prep": ("16",),
    "eval-sweep": tuple(f"evaluating with seed {seed}" for seed in range(4)),
    "finetune-any": (
        "ran pip install --quiet trl==0.24.0 peft==0.17.1",
        "ran trl sft --model_name_or_path Qwen/Qwen3-8B --dataset_name trl-lib/Capybara "
        "--use_peft --num_train_epochs 3 --output_dir .*/sky_workdir/out",
    ),
    "hello": ("hello from rank 0 of 1",),
    "llama-pretrain": (rf"{_TORCHRUN}.* train.py --model llama-3.1-8b .* --max-steps 20000",),
    "lora-finetune": (
        "ran trl sft --config /tmp/lora/settings.json --model_name_or_path Qwen/Qwen3-1.7B "
        "--dataset_name .*/data --output_dir .*/sky_workdir/adapter",
    ),
    "nccl-bandwidth": (rf"{_TORCHRUN} --master-port=29501 allreduce.py",),
    "nemo-pretrain": (
        rf"{_TORCHRUN}:29500 --no-python nemo llm pretrain --factory llama3_8b "
        "trainer.max_steps=1000 --yes",
    ),
    "nightly": ("ran python regress.py --all",),
    "parameter-study": ("viscosity 0.0[0-9]*, speed [0-9.]*: Reynolds number [0-9]*",),
    "ray-train": ("ran ray start --head --port 6379 --num-gpus 1", "ran python train.py"),
    "smoke": ("ran python regress.py --smoke",),
    "trainium-finetune": (
        "ran neuron-ls ''",
        "ran torchrun --nproc-per-node=32 finetune.py --model llama-3.1-8b",
    ),
    "vision-container": ("ran python -",),
}


@pytest.fixture(scope="module")
def examples(
    kubernetes_site: KubernetesSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Project]:
    """All of them applied at once, but for the member that joins a running group."""
    folder = tmp_path_factory.mktemp("examples")
    project = Project(
        kubernetes_site,
        folder,
        "examples",
        real=True,
        roles=("plan", "apply", "exec"),
        target={"jobset": "0.12", "labels": "karpenter"},
    )
    try:
        shutil.copytree(TOP / "examples", folder / "examples")
        _volumes(project)
        _queues(project)
        everything = sorted((folder / "examples").glob("*/*.yaml"))
        paths = [path.relative_to(folder) for path in everything if path.parent.name != "rl-member"]
        paths = [path for path in paths if path.parent.name != "slurm-failover"]
        project.apply(*paths, SECRET)
        yield project
    finally:
        project.clean()
        for name in VOLUMES:
            project.api.delete(V1, "PersistentVolume", f"{project.name}-{name}")


def _volumes(project: Project) -> None:
    """A folder of the node for each volume that the examples share between nodes."""
    project.api.apply(
        {
            "apiVersion": _STORAGE,
            "kind": "StorageClass",
            "metadata": {"name": "shared"},
            "provisioner": "kubernetes.io/no-provisioner",
        }
    )
    for name in VOLUMES:
        place = project.folder / name
        place.mkdir()
        claim = {"namespace": project.namespace, "name": f"{project.name}-{name}"}
        spec = {
            "capacity": {"storage": "500Gi"},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "shared",
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(place)},
            "claimRef": claim,
        }
        meta = {"name": f"{project.name}-{name}"}
        project.api.apply(
            {"apiVersion": V1, "kind": "PersistentVolume", "metadata": meta, "spec": spec}
        )


def _queues(project: Project) -> None:
    """Two queues of Kueue that admit whatever comes, and the priority of the urgent one."""
    covered = {"cpu": "9000", "memory": "9000Ti", "nvidia.com/gpu": "9000"}
    quotas = [{"name": name, "nominalQuota": quota} for name, quota in covered.items()]
    flavors = [{"name": "any", "resources": quotas}]
    group = {"coveredResources": list(covered), "flavors": flavors}
    project.api.apply(
        {"apiVersion": _KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "any"}, "spec": {}},
        {
            "apiVersion": _KUEUE,
            "kind": "ClusterQueue",
            "metadata": {"name": project.name},
            "spec": {"namespaceSelector": {}, "resourceGroups": [group]},
        },
        {
            "apiVersion": _KUEUE,
            "kind": "WorkloadPriorityClass",
            "metadata": {"name": "high"},
            "value": 7,
        },
    )
    for name in QUEUES:
        project.api.apply(
            {
                "apiVersion": _KUEUE,
                "kind": "LocalQueue",
                "metadata": {"name": name, "namespace": project.namespace},
                "spec": {"clusterQueue": project.name},
            }
        )


def _logs(project: Project, work: str) -> list[str]:
    """What all ranks said, without the prefixes of ranks."""
    done = project.triplane("logs", work, "--no-follow")
    assert done.code == 0, done.text
    return [re.sub(r"^\([^)]*\) ", "", line) for line in done.out.splitlines()]


@pytest.mark.parametrize("work", SAYS)
def test_it_runs_to_its_end(examples: Project, work: str):
    found = examples.until(work, seconds=600)
    said = _logs(examples, work)
    assert found.state is RunState.SUCCEEDED, said
    for pattern in SAYS[work]:
        assert any(re.fullmatch(pattern, line) for line in said), (pattern, said)
    assert "hf_not-to-be-seen" not in "\n".join(said)


def test_train_then_evaluate(examples: Project):
    assert examples.until(PIPELINE, seconds=600).state is RunState.SUCCEEDED
    said = "\n".join(_logs(examples, PIPELINE))
    assert re.search(r"ran torchrun --nnodes=2 .* --steps 2000 --out /checkpoints/last", said)
    assert "ran python evaluate.py /checkpoints/last" in said


def test_a_task_without_run_keeps_its_node(examples: Project):
    examples.until(NODE, RunState.RUNNING, seconds=600)
    words = ("--", "git", "config", "--global", "init.defaultBranch")
    deadline = time.monotonic() + 120
    while True:  # setup may not have ended yet
        process = examples.start("exec", NODE, *words)
        out, err = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert time.monotonic() < deadline, err
        time.sleep(1)
    assert out == "main\n"
    assert examples.triplane("cancel", NODE).code == 0
    assert examples.until(NODE).state is RunState.CANCELLED


def test_replicas_answer(examples: Project):
    examples.until(SERVICE, RunState.RUNNING, detail="2 of 2 replicas ready", seconds=600)


def test_reinforcement_learning_with_a_member_that_joins(examples: Project):
    examples.until(GROUP, RunState.RUNNING, seconds=600)
    deadline = time.monotonic() + 300
    trained = rf"ran python train.py --engines http://engine-0.{GROUP}:30000 http://engine-1.*"
    while not any(re.fullmatch(trained, line) for line in _logs(examples, GROUP)):
        assert time.monotonic() < deadline, _logs(examples, GROUP)
        time.sleep(2)
    examples.apply("examples/rl-member/task.yaml", "--group", GROUP)
    member = f"{GROUP}-{MEMBER}"
    assert examples.until(member, seconds=300).state is RunState.SUCCEEDED
    assert f"ran python evaluate.py --engine http://engine-0.{GROUP}:30000" in _logs(
        examples, member
    )
    (Path(examples.folder) / VOLUMES[0] / "go-on").touch()
    assert examples.until(GROUP, seconds=300).state is RunState.SUCCEEDED
