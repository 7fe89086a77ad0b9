"""What pods ask for: quantities, defaults, accelerators, nodes."""

import pytest
from kubernetes_jobs import STACK, container_of, make_job, pod_of, rendered

from compiler.diagnostics import Diagnostics
from compiler.model import Accelerator
from compiler.targets.kubernetes import TARGET
from compiler.targets.kubernetes.accelerators import NoSelection, count_problem, select
from compiler.targets.kubernetes.requests import cpu_quantity, memory_quantity


@pytest.mark.parametrize(
    ("resources", "requests"),
    [
        ("{}", {"cpu": "2", "memory": "2Gi"}),
        ("{cpus: 8}", {"cpu": "8", "memory": "8Gi"}),
        ("{cpus: 0.1}", {"cpu": "100m", "memory": "103Mi"}),
        ("{memory: 16}", {"cpu": "2", "memory": "16Gi"}),
        ("{memory: 512MB}", {"cpu": "2", "memory": "512Mi"}),
        ("{cpus: 4, memory: 8x}", {"cpu": "4", "memory": "32Gi"}),
        ("{cpus: 4+, memory: 16+}", {"cpu": "4", "memory": "16Gi"}),
        ("{cpus: 4, disk_size: 100}", {"cpu": "4", "memory": "4Gi", "ephemeral-storage": "100Gi"}),
        ("{ephemeral_storage: 50}", {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "50Gi"}),
        ("{accelerators: A100}", {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}),
        ("{accelerators: 'H100:8'}", {"cpu": "32", "memory": "128Gi", "nvidia.com/gpu": "8"}),
        (
            "{accelerators: 'H100:8', cpus: 96, memory: 4x}",
            {"cpu": "96", "memory": "384Gi", "nvidia.com/gpu": "8"},
        ),
        ("{accelerators: 'MI300X:8'}", {"cpu": "32", "memory": "128Gi", "amd.com/gpu": "8"}),
        (
            "{accelerators: 'Trainium2:16', infra: k8s, image_id: 'docker:neuron:2'}",
            {"cpu": "64", "memory": "256Gi", "aws.amazon.com/neuron": "16"},
        ),
    ],
)
def test_requests(resources, requests):
    objects = rendered(f"run: x\nresources: {resources}\n")
    found = container_of(objects)["resources"]
    assert found["requests"] == requests
    devices = {key: value for key, value in requests.items() if "/" in key}
    assert found.get("limits", {}) == devices


def test_limits_if_the_configuration_asks_for_them():
    task = "run: x\nresources: {cpus: 4, memory: 16, accelerators: L4}\n"
    config = "config: {kubernetes: {set_pod_resource_limits: 1.5}}\n"
    assert container_of(rendered(task + config))["resources"]["limits"] == {
        "cpu": "6",
        "memory": "24Gi",
        "nvidia.com/gpu": "1",
    }


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (0.5, "500m"), (1.0001, "1001m"), (2.3, "2300m"), (96.0, "96")]
)
def test_cpu_quantity(value, text):
    assert cpu_quantity(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1Gi"), (0.5, "512Mi"), (1.5, "1536Mi"), (0.0001, "1Mi"), (2048, "2048Gi")],
)
def test_memory_quantity(value, text):
    assert memory_quantity(value) == text


def test_shared_memory_has_a_limit():
    objects = rendered("run: x\nresources: {memory: 64}\n")
    volume = {"name": "triplane-shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}
    assert volume in pod_of(objects)["volumes"]


@pytest.mark.parametrize(
    ("scheme", "name", "required"),
    [
        ("skypilot", "H100", {"skypilot.co/accelerator": ["h100"]}),
        ("generic", "A100-80GB", {"skypilot.co/accelerator": ["a100-80gb"]}),
        ("gke", "H100", {"cloud.google.com/gke-accelerator": ["nvidia-h100-80gb"]}),
        ("gke", "H200", {"cloud.google.com/gke-accelerator": ["nvidia-h200-141gb"]}),
        ("gke", "A100-80GB", {"cloud.google.com/gke-accelerator": ["nvidia-a100-80gb"]}),
        ("gke", "T4", {"cloud.google.com/gke-accelerator": ["nvidia-tesla-t4"]}),
        ("karpenter", "H100", {"karpenter.k8s.aws/instance-gpu-name": ["h100"]}),
        (
            "karpenter",
            "A100",
            {
                "karpenter.k8s.aws/instance-gpu-name": ["a100"],
                "karpenter.k8s.aws/instance-gpu-memory": ["40960"],
            },
        ),
        ("karpenter", "Trainium", {"karpenter.k8s.aws/instance-accelerator-name": ["trainium"]}),
        (
            "gfd",
            "H100",
            {"nvidia.com/gpu.product": ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"]},
        ),
        ("gfd", "T4", {"nvidia.com/gpu.product": ["Tesla-T4"]}),
        ("coreweave", "H100", {"gpu.nvidia.com/class": ["H100", "H100_NVLINK_80GB"]}),
        ("coreweave", "L40S", {"gpu.nvidia.com/class": ["L40S"]}),
        ("nebius", "H200", {"nebius.com/gpu-name": ["H200"]}),
        ("skypilot", "MI300X", {"skypilot.co/accelerator": ["mi300x"]}),
        (
            "gke",
            "tpu-v6e-slice",
            {"cloud.google.com/gke-tpu-accelerator": ["tpu-v6e-slice"]},
        ),
    ],
)
def test_labels_of_nodes(scheme, name, required):
    assert select(Accelerator(name, 8), scheme).required == required


def test_the_chips_in_a_tpus_name_count_for_the_defaults():
    stack = STACK.replace("labels: skypilot", "labels: gke")
    for named in ("tpu-v6e-8", "'tpu-v6e-slice:8'"):
        task = f"run: x\nresources: {{accelerators: {named}}}\n"
        assert container_of(rendered(task, stack))["resources"]["requests"] == {
            "cpu": "32",
            "memory": "128Gi",
            "google.com/tpu": "8",
        }


def test_tpus_get_their_topology_and_toleration():
    found = select(Accelerator("tpu-v6e-8", 1), "gke")
    assert (found.resource, found.count) == ("google.com/tpu", 8)
    assert found.node_selector == {"cloud.google.com/gke-tpu-topology": "2x4"}
    assert found.tolerations[0]["value"] == "present"


@pytest.mark.parametrize(
    ("scheme", "name", "count"),
    [
        ("gfd", "MI250X", 8),
        ("gke", "A10G", 1),
        ("nebius", "Trainium2", 16),
        ("gke", "tpu-v6e-slice", 5),
        ("gke", "tpu-v4-podslice", 4),
        ("skypilot", "AI100", 1),
        ("skypilot", "Warp9", 1),
    ],
)
def test_what_labels_cannot_tell_is_refused(scheme, name, count):
    with pytest.raises(NoSelection):
        select(Accelerator(name, count), scheme)


@pytest.mark.parametrize(
    ("name", "count", "good"),
    [
        ("H100", 8, True),
        ("K80", 16, True),
        ("H100", 17, False),
        ("GB200", 8, False),
        ("Trainium", 8, True),
        ("Trainium", 2, False),
        ("Inferentia2", 6, True),
        ("Inferentia2", 5, False),
        ("MI300X", 9, False),
        ("tpu-v6e-8", 1, True),
        ("tpu-v6e-slice", 16, False),
    ],
)
def test_counts_that_nodes_have(name, count, good):
    assert (count_problem(Accelerator(name, count)) is None) is good


def test_the_refusal_names_place_and_way_out():
    stack = STACK.replace("labels: skypilot", "labels: nebius")
    job = make_job("run: x\nresources:\n  accelerators: MI300X:8\n", stack)
    (refused,) = TARGET.refusals(job.task, job.resources, job.target)
    diagnostics = Diagnostics()
    assert TARGET.render(job, diagnostics) == ()
    assert list(diagnostics) == [refused]
    assert refused.code == "kubernetes-accelerator-unselectable"
    assert refused.span.location == "task.yaml:3:17"
    assert "now nebius" in refused.hint


def test_the_default_way_of_labelling():
    def keys(stack):
        affinity = pod_of(rendered("run: x\nresources: {accelerators: L4}\n", stack))["affinity"]
        required = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        return [item["key"] for item in required["nodeSelectorTerms"][0]["matchExpressions"]]

    plain = STACK.replace(", labels: skypilot", "")
    assert keys(plain) == ["nvidia.com/gpu.product"]
    autoscaler = plain + "config: {kubernetes: {autoscaler: gke}}\n"
    assert keys(autoscaler) == ["cloud.google.com/gke-accelerator"]


def test_tolerations_follow_the_family():
    objects = rendered("run: x\nresources: {accelerators: L4}\n")
    assert pod_of(objects)["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]
    assert "tolerations" not in pod_of(rendered("run: x\n"))


def test_a_pod_without_accelerators_sees_none():
    hidden = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}
    assert hidden in container_of(rendered("run: x\n"))["env"]
    objects = rendered("run: x\nresources: {accelerators: L4}\n")
    assert hidden not in container_of(objects)["env"]


@pytest.mark.parametrize(
    ("accelerators", "rule"),
    [
        ("'H100:8'", "required"),
        ("'GB200:4'", "required"),
        ("'MI300X:8'", "required"),
        ("'H100:4'", "preferred"),
        ("null", "preferred"),
    ],
)
def test_ranks_lie_apart(accelerators, rule):
    objects = rendered(f"run: x\nnum_nodes: 2\nresources: {{accelerators: {accelerators}}}\n")
    spread = pod_of(objects)["affinity"]["podAntiAffinity"]
    (name, (term,)) = next(iter(spread.items()))
    assert name.startswith(rule)
    term = term.get("podAffinityTerm", term)
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"] == {"batch.kubernetes.io/job-name": "demo-train-1"}


def test_allowed_nodes_are_alternatives():
    nodes = "{label_selector: {pool: a, rack: '7'}, names: [n1]}"
    config = f"config: {{kubernetes: {{allowed_nodes: {nodes}}}}}\n"
    objects = rendered("run: x\nresources: {accelerators: L4}\n", STACK + config)
    affinity = pod_of(objects)["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [[item["key"] for item in term["matchExpressions"]] for term in terms] == [
        ["skypilot.co/accelerator", "pool"],
        ["skypilot.co/accelerator", "rack"],
        ["skypilot.co/accelerator", "kubernetes.io/hostname"],
    ]
