"""Golden jobs that really run: started together, read when somebody asks."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.kubernetes.goldens import prepare, rendered, secrets_of, send
from tests.kubernetes_site import KubernetesSite, path_of

_RANK = "batch.kubernetes.io/job-completion-index"

# What each rank of a golden case prints when it really runs (rank 0 first), IP for an address
# of rank 0. Programs that are not in the image say how they were called.
RUNS: Mapping[str, tuple[str, ...]] = {
    "dialect-05-neuron-devices/prod/lab-serve-neuron-1": (
        "ran python -m serve --tensor-parallel-size 12",
    ),
    "dialect-12-ray-helper/prod/lab-ray-train-1": (
        "ran pip install --quiet ray\\[train\\]==2.51.0\n"
        "ran ray start --head --port 6379\nran python train.py",
        "ran pip install --quiet ray\\[train\\]==2.51.0\nran ray start --address IP:6379 --block",
        "ran pip install --quiet ray\\[train\\]==2.51.0\nran ray start --address IP:6379 --block",
    ),
    "dialect-15-single-file-mount/prod/lab-bandwidth-1": (
        "ran python /tmp/measure.py\nthere is /tmp/measure.py",
    ),
    "dialect-16-here-document/prod/lab-gateway-1": ("ran python gateway.py\nthere is gateway.py",),
    "dialect-20-image-taken-away/prod/lab-pretrain-small-1": ("ran python pretrain.py",),
    "dialect-22-value-given/prod/lab-eval-head-1": ("http://localhost",),
    "every-target/prod/lab-train-1": (
        "ran pip install --quiet -e .\nthere is .\nran python -m trainer --epochs 3",
        "ran pip install --quiet -e .\nthere is .\nran python -m trainer --epochs 3",
    ),
    "kubernetes-accelerator-families/eks/lab-on-a100-1": ("ran python train.py",),
    "kubernetes-accelerator-families/eks/lab-on-trainium-1": ("ran python train_neuron.py",),
    "kubernetes-accelerator-families/gke/lab-on-tpu-1": ("ran python train_tpu.py",),
    "kubernetes-accelerator-families/metal/lab-on-amd-1": ("ran python train.py",),
    "kubernetes-accelerator-families/metal/lab-on-gaudi-1": ("ran python train_hpu.py",),
    "kubernetes-config-layers/prod/lab-with-its-own-1": ("ready on lab-with-its-own-1-0",),
    "kubernetes-files/prod/lab-evaluate-1": (
        "ran python evaluate.py --settings /tmp/eval/settings.toml --prompts /root/prompts "
        "--checks checks\nthere is evaluate.py\nthere is /tmp/eval/settings.toml\n"
        "there is /root/prompts\nthere is checks",
    ),
    "kubernetes-hooks/prod/lab-train-1": ("ran python train.py", "ran python train.py"),
    "kubernetes-label-schemes/by-gfd/lab-infer-1": ("ran python infer.py",),
    "kubernetes-label-schemes/by-karpenter/lab-infer-1": ("ran python infer.py",),
    "kubernetes-one-node-cpu/prod/lab-tokenize-1": ("ran python tokenize_corpus.py",),
    "kubernetes-ports/inside/lab-on-inside-1": ("ran python serve.py",),
    "kubernetes-recovery/plain/lab-distil-1": ("ran python distil.py", "ran python distil.py"),
    "kubernetes-recovery/plain/lab-evaluate-1": ("ran python evaluate.py",),
    "kubernetes-two-nodes/prod/lab-pretrain-1": (
        "ran pip install --quiet torch==2.9.1\n"
        "ran torchrun --nnodes=2 --node-rank=0 --nproc-per-node=8 --rdzv-endpoint=IP:29500 "
        "pretrain.py",
        "ran pip install --quiet torch==2.9.1\n"
        "ran torchrun --nnodes=2 --node-rank=1 --nproc-per-node=8 --rdzv-endpoint=IP:29500 "
        "pretrain.py",
    ),
    "odd-texts/prod/lab-blank-1": ("indented\ntab",),
    "odd-texts/prod/lab-dos-1": ("one\ntwo",),
    "odd-texts/prod/lab-unicode-1": ("模型 ready: ✓ naïve",),
    "placement-cheapest/prod/lab-distil-1": ("ran python distil.py",),
    "several-tasks/prod/lab-first-1": ("first",),
    "several-tasks/prod/lab-nested-1": ("third",),
    "several-tasks/prod/lab-second-1": ("second",),
}
ODD_VALUES = "odd-values/prod/lab-odd-values-1"
FAILS = "kubernetes-choice-of-nodes/prod/lab-with-an-accelerator-1"


@dataclass(frozen=True)
class Ended:
    """One golden job that has ended: its last condition, and its ranks' output by rank."""

    condition: str
    output: Mapping[int, str]
    addresses: Mapping[int, str]


@dataclass
class GoldenRuns:
    """All of them at once, in as few namespaces as their names allow."""

    site: KubernetesSite
    jobs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    _ended: dict[str, Ended] = field(default_factory=dict)

    def start(self) -> None:
        mark = uuid.uuid4().hex[:5]
        taken: list[set[str]] = []
        begun: dict[str, tuple[str, str]] = {}
        for place in (*RUNS, ODD_VALUES, FAILS):
            job = rendered(place)
            bodies = job.objects("")
            names = {body["metadata"]["name"] for body in bodies} | secrets_of(bodies[-1]).keys()
            at = next((at for at, used in enumerate(taken) if not used & names), len(taken))
            namespace = f"golden-{mark}-{at}"
            if at == len(taken):
                taken.append(set())
                self.site.namespace(namespace, real=True)
            taken[at] |= names
            objects = job.objects(namespace)
            prepare(self.site.api, namespace, objects[-1])
            for body in objects:
                send(self.site.api, body)
            begun[place] = namespace, objects[-1]["metadata"]["name"]
        self.jobs = begun

    def ended(self, place: str, seconds: float = 200) -> Ended:
        """Wait for one of them. AssertionError if it does not end in time."""
        deadline = time.monotonic() + seconds
        while place not in self._ended:
            condition = _condition(self.site, *self.jobs[place])
            if condition:
                self._ended[place] = _read(self.site, *self.jobs[place], condition)
                break
            assert time.monotonic() < deadline, f"{place} did not end in {seconds} s"
            time.sleep(0.5)
        return self._ended[place]

    def clean(self) -> None:
        for namespace in sorted({namespace for namespace, _ in self.jobs.values()}):
            self.site.api.delete("v1", "Namespace", namespace)


def _condition(site: KubernetesSite, namespace: str, name: str) -> str:
    job = site.api.get("batch/v1", "Job", name, namespace)
    for item in job["status"].get("conditions", ()):
        if item["type"] in ("Complete", "Failed") and item["status"] == "True":
            return item["type"]
    return ""


def _read(site: KubernetesSite, namespace: str, name: str, condition: str) -> Ended:
    output, addresses = {}, {}
    label = f"batch.kubernetes.io/job-name={name}"
    for pod in site.api.items("v1", "Pod", namespace, label):
        rank = int(pod["metadata"]["labels"][_RANK])
        path = path_of("v1", "Pod", pod["metadata"]["name"], namespace)
        output[rank] = site.api.text("GET", f"{path}/log").rstrip("\n")
        addresses[rank] = pod["status"].get("podIP", "")
    return Ended(condition, output, addresses)
