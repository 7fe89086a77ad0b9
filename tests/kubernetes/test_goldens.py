"""Golden manifests on the real API server: accepted strictly, placed, and really run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from tests.kubernetes.goldens import Rendered, all_rendered, prepare, rendered, send
from tests.kubernetes_site import KubernetesSite, Refused, path_of

pytestmark = pytest.mark.kubernetes

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
    "kubernetes-config-layers/prod/lab-with-its-own-1": ("",),
    "kubernetes-files/prod/lab-evaluate-1": (
        "ran python evaluate.py --settings /tmp/eval/settings.toml --prompts /root/prompts "
        "--checks checks\nthere is evaluate.py\nthere is /tmp/eval/settings.toml\n"
        "there is /root/prompts\nthere is checks",
    ),
    "kubernetes-label-schemes/by-gfd/lab-infer-1": ("ran python infer.py",),
    "kubernetes-label-schemes/by-karpenter/lab-infer-1": ("ran python infer.py",),
    "kubernetes-one-node-cpu/prod/lab-tokenize-1": ("ran python tokenize_corpus.py",),
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


@pytest.fixture(scope="module")
def ended(kubernetes_site: KubernetesSite) -> Iterator[Mapping[str, Ended]]:
    """All of them at once, each in a namespace of its own."""
    places = {
        place: kubernetes_site.namespace(f"golden-run-{index}", real=True)
        for index, place in enumerate([*RUNS, ODD_VALUES, FAILS])
    }
    api = kubernetes_site.api
    for place, namespace in places.items():
        objects = rendered(place).objects(namespace)
        prepare(api, namespace, objects[-1])
        for body in objects:
            send(api, body)
    found: dict[str, Ended] = {}
    deadline = time.monotonic() + 200
    while len(found) < len(places) and time.monotonic() < deadline:
        for place, namespace in places.items():
            if place not in found and (condition := _condition(kubernetes_site, namespace)):
                found[place] = _read(kubernetes_site, namespace, condition)
        time.sleep(1)
    yield found
    for namespace in places.values():
        api.delete("v1", "Namespace", namespace)


def _condition(site: KubernetesSite, namespace: str) -> str:
    job = site.api.items("batch/v1", "Job", namespace)[0]
    for item in job["status"].get("conditions", ()):
        if item["type"] in ("Complete", "Failed") and item["status"] == "True":
            return item["type"]
    return ""


def _read(site: KubernetesSite, namespace: str, condition: str) -> Ended:
    output, addresses = {}, {}
    for pod in site.api.items("v1", "Pod", namespace):
        rank = int(pod["metadata"]["labels"][_RANK])
        path = path_of("v1", "Pod", pod["metadata"]["name"], namespace)
        output[rank] = site.api.text("GET", f"{path}/log").rstrip("\n")
        addresses[rank] = pod["status"].get("podIP", "")
    return Ended(condition, output, addresses)


@pytest.fixture(scope="module")
def dry(kubernetes_site: KubernetesSite) -> Iterator[str]:
    yield kubernetes_site.namespace("golden-dry")
    kubernetes_site.api.delete("v1", "Namespace", "golden-dry")


@pytest.mark.parametrize("job", all_rendered(), ids=lambda job: job.id)
def test_manifests_are_accepted_with_strict_validation(
    kubernetes_site: KubernetesSite, dry: str, job: Rendered
):
    objects = job.objects(dry)
    assert objects
    for body in objects:
        answer = send(kubernetes_site.api, body, dry=True)
        assert answer["metadata"]["name"] == body["metadata"]["name"]


def test_strict_validation_is_on(kubernetes_site: KubernetesSite, dry: str):
    body = rendered(FAILS).objects(dry)[-1]
    body["spec"]["template"]["spec"]["contaners"] = []
    with pytest.raises(Refused, match="contaners"):
        send(kubernetes_site.api, body, dry=True)


@pytest.mark.parametrize("place", RUNS)
def test_it_really_runs(ended: Mapping[str, Ended], place: str):
    assert place in ended, "did not end in time"
    found = ended[place]
    assert found.condition == "Complete"
    wanted = {rank: text.replace("IP", found.addresses[0]) for rank, text in enumerate(RUNS[place])}
    assert found.output == wanted


def test_odd_values_arrive_intact(ended: Mapping[str, Ended]):
    assert ended[ODD_VALUES].condition == "Complete"
    lines = ended[ODD_VALUES].output[0].splitlines()
    for line in (
        "DOLLARS=$HOME ${HOME} $(id) `id` $$",
        "BACKSLASHES=C:\\new\\table\\",
        'QUOTES=it\'s "quoted"',
        "SPACES=  two before, two after  ",
        "JINJA={{ 7 * 7 }} {% raw %}",
        "TAB=a\tb",
        "GLOB=*?[a-z] ~/x {a,b}",
    ):
        assert line in lines


def test_the_first_failure_ends_the_job(ended: Mapping[str, Ended]):
    assert ended[FAILS].condition == "Failed"
    assert all("./infer.sh: No such file" in text for text in ended[FAILS].output.values())
