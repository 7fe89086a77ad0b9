"""`resources`: every form of every field, how alternatives combine, and what is refused."""

import pytest

from compiler.model import (
    Accelerator,
    Amount,
    Autostop,
    Choice,
    Image,
    Infra,
    JobRecovery,
    label_problem,
)
from tests.unit.model_documents import candidate, candidates, task_findings, task_of


def devices(resources: str, **options) -> list[str]:
    return [str(item.accelerator) for item in candidates(resources, **options)]


@pytest.mark.parametrize(
    ("value", "choice", "expected"),
    [
        ("A100", Choice.ONE, ["A100:1"]),
        ("A100:8", Choice.ONE, ["A100:8"]),
        ("'A100: 8'", Choice.ONE, ["A100:8"]),
        ("L4:0.5", Choice.ONE, ["L4:0.5"]),
        ("{A100: 8}", Choice.ONE, ["A100:8"]),
        ("{A100: null}", Choice.ONE, ["A100:1"]),
        ("{A100: 8, H100: 8}", Choice.ANY_OF, ["A100:8", "H100:8"]),
        ("{L4, A10G, L40S}", Choice.ANY_OF, ["L4:1", "A10G:1", "L40S:1"]),
        ("{L4:1, L4:4, A100:1}", Choice.ANY_OF, ["L4:1", "L4:4", "A100:1"]),
        ("[A100:8, H100:8]", Choice.ORDERED, ["A100:8", "H100:8"]),
        ("[A100, A100:1]", Choice.ONE, ["A100:1"]),
        ("tpu-v6e-8", Choice.ONE, ["tpu-v6e-8:1"]),
        ("Radeon Pro V520:1", Choice.ONE, ["Radeon Pro V520:1"]),
    ],
)
def test_forms_of_accelerators(value, choice, expected):
    resources = task_of(f"resources: {{accelerators: {value}}}").resources
    assert [str(item.accelerator) for item in resources.candidates] == expected
    assert resources.choice is choice


def test_gpus_is_another_name():
    assert candidate("{gpus: H100:8}") == candidate("{accelerators: H100:8}")
    assert candidate("{gpus: H100:8}").origin_of("accelerators").span().column == 19


@pytest.mark.parametrize(
    ("value", "form", "count"),
    [
        ("80GB", (80, False, None), 1),
        ("80gb+:4", (80, True, None), 4),
        ("NVIDIA:16GB:2", (16, False, "nvidia"), 2),
        ("1TB+", (1024, True, None), 1),
    ],
)
def test_devices_by_memory_are_looked_up(value, form, count):
    asked = []

    def lookup(gib, at_least, maker):
        asked.append((gib, at_least, maker))
        return ("X", "Y")

    resources = task_of(f"resources: {{accelerators: '{value}'}}", lookup=lookup).resources
    assert set(asked) == {form}
    assert [item.accelerator for item in resources.candidates] == [
        Accelerator("X", count),
        Accelerator("Y", count),
    ]
    assert resources.choice is Choice.ANY_OF


def test_devices_by_memory_need_the_catalogue():
    text = "resources: {accelerators: 80GB+:8}"
    assert task_findings(text, lookup=None) == ["1:27 accelerator-unresolved"]
    assert "H100:8" in devices("{accelerators: 80GB+:8}")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'A100:0'", "1:27 accelerator-value"),
        ("'A100:-1'", "1:27 accelerator-value"),
        ("'A100:many'", "1:27 accelerator-value"),
        ("'A100:nan'", "1:27 accelerator-value"),
        ("'A100:8:2'", "1:27 accelerator-value"),
        ("'A100:8,H100:8'", "1:27 accelerator-value"),
        ("''", "1:27 accelerator-value"),
        ("[]", "1:27 accelerator-value"),
        ("{A100: 0}", "1:34 accelerator-value"),
        ("[A100, 'H100:x']", "1:34 accelerator-value"),
        ("'80GB:1.5'", "1:27 accelerator-value"),
        ("'999GB'", "1:27 accelerator-unresolved"),
        ("7", "1:27 wrong-type"),
    ],
)
def test_accelerators_refused(value, expected):
    assert task_findings(f"resources: {{accelerators: {value}}}") == [expected]


@pytest.mark.parametrize(
    ("resources", "choice", "expected"),
    [
        (
            "{accelerators: A100:8, any_of: [{use_spot: true}, {use_spot: false}]}",
            Choice.ANY_OF,
            ["A100:8 spot", "A100:8"],
        ),
        (
            "{accelerators: {A100: 1, H100: 1}, any_of: [{use_spot: true}, {accelerators: L4}]}",
            Choice.ANY_OF,
            ["A100:1 spot", "H100:1 spot", "L4:1"],
        ),
        (
            "{ordered: [{gpus: H100:8}, {gpus: A100:8, use_spot: true}]}",
            Choice.ORDERED,
            ["H100:8", "A100:8 spot"],
        ),
        ("{accelerators: [A100:8], ordered: [{use_spot: true}]}", Choice.ONE, ["A100:8 spot"]),
        ("{accelerators: A100, any_of: []}", Choice.ONE, ["A100:1"]),
        ("{accelerators: A100, any_of: [{}, {}]}", Choice.ONE, ["A100:1"]),
    ],
)
def test_alternatives(resources, choice, expected):
    task = task_of(f"resources: {resources}")
    found = [f"{item.accelerator}{' spot' * item.use_spot}" for item in task.resources.candidates]
    assert found == expected
    assert task.resources.choice is choice


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{gpus: [A, B], any_of: [{use_spot: true}]}", "1:19 accelerators-with-alternatives"),
        ("{gpus: [A, B], ordered: [{use_spot: true}]}", "1:19 accelerators-with-alternatives"),
        ("{gpus: {A, B}, ordered: [{use_spot: true}]}", "1:19 accelerators-with-alternatives"),
        ("{any_of: [{infra: aws}], ordered: [{infra: aws}]}", "1:37 alternatives-twice"),
        ("{any_of: [{any_of: [{infra: aws}]}]}", "1:23 alternatives-nested"),
        ("{any_of: [{accelerators: {A: 1, B: 1}}]}", "1:37 accelerators-in-item"),
        ("{any_of: [{accelerators: [A]}]}", "1:37 accelerators-in-item"),
        ("{accelerators: A, gpus: B}", "1:13 accelerators-twice"),
        ("{any_of: [{priority: 3}, {priority: 5}]}", "1:48 alternatives-disagree"),
        ("{priority: 5, any_of: [{priority: 3}, {}]}", "1:46 alternatives-disagree"),
        ("{any_of: [{priority_class: a}, {}]}", "1:39 alternatives-disagree"),
        ("{any_of: [{job_recovery: failover}, {}]}", "1:37 alternatives-disagree"),
        ("{autostop: 5, any_of: [{autostop: 3}, {}]}", "1:46 alternatives-disagree"),
        ("[]", "1:12 wrong-type"),
    ],
)
def test_alternatives_refused(resources, expected):
    assert task_findings(f"resources: {resources}") == [expected]


def test_labels_of_an_alternative_are_merged_and_win():
    resources = "{labels: {a: x, b: x}, any_of: [{labels: {b: y}, infra: k8s}]}"
    assert candidate(resources).labels == {"a": "x", "b": "y"}


def test_null_in_an_alternative_cancels_the_outer_value():
    resources = "{infra: k8s, image_id: docker:a, any_of: [{image_id: null}, {use_spot: true}]}"
    first, second = candidates(resources)
    assert first.image is None
    assert second.image == Image(docker="a")


def test_positions_of_values_of_alternatives():
    text = "resources:\n  cpus: 4\n  accelerators: {L4:1, A100:2}\n  any_of:\n  - {infra: k8s/a}\n"
    first, second = task_of(text).resources.candidates
    assert first.origin_of("cpus").span().line == 2
    assert first.origin_of("infra").span().location == "task.yaml:5:13"
    assert second.origin_of("accelerators").key_span().location == "task.yaml:3:24"
    assert first.given == {"cpus", "accelerators", "infra"}


@pytest.mark.parametrize(
    ("resources", "infra"),
    [
        ("{infra: k8s/a/b}", Infra("kubernetes", "a/b")),
        (
            "{cloud: AWS, region: us-east-1, zone: us-east-1a}",
            Infra("aws", "us-east-1", "us-east-1a"),
        ),
        ("{zone: us-east-1a}", Infra(None, None, "us-east-1a")),
        ("{cloud: gcp, ordered: [{region: us-central1}]}", Infra("gcp", "us-central1")),
        ("{infra: aws, any_of: [{infra: k8s/x}]}", Infra("kubernetes", "x")),
        ("{infra: k8s/a, cpus: 1}", Infra("kubernetes", "a")),
    ],
)
def test_infra_and_its_older_spelling(resources, infra):
    assert candidate(resources).infra == infra


def test_a_zone_and_a_region_are_combined_with_the_cloud_outside():
    zone, region = candidates("{cloud: gcp, any_of: [{zone: us-a1-b}, {region: us-a1}]}")
    assert zone.infra == Infra("gcp", None, "us-a1-b")
    assert region.infra == Infra("gcp", "us-a1")


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{infra: aws, region: us-east-1}", "1:13 infra-twice"),
        ("{infra: aws, cloud: aws, zone: a}", "1:13 infra-twice"),
        ("{cloud: aws, any_of: [{infra: k8s}]}", "1:35 infra-twice"),
        ("{infra: aws, any_of: [{region: us-east-1}]}", "1:13 infra-twice"),
        ("{infra: kubernets/prod}", "1:20 infra-value"),
        ("{infra: aws/}", "1:20 infra-value"),
        ("{infra: aws/a/b/c}", "1:20 infra-value"),
        ("{cloud: mars}", "1:20 infra-value"),
    ],
)
def test_infra_refused(resources, expected):
    assert task_findings(f"resources: {resources}") == [expected]


def test_amounts():
    read = candidate(
        "{infra: slurm, cpus: 0.5+, memory: 512MB, disk_size: 1TB, local_disk: 'ssd:100',"
        " ephemeral_storage: 2048MB, max_hourly_cost: 2.5, use_spot: true, disk_tier: BEST,"
        " network_tier: Best, priority: -5, priority_class: high, instance_type: x.large,"
        " accelerator_args: {tpu_vm: true}}"
    )
    assert read.cpus == Amount(0.5, at_least=True)
    assert read.memory == Amount(0.5)
    assert (read.disk_size, read.ephemeral_storage) == (1024, "2Gi")
    assert (read.disk_tier, read.network_tier) == ("best", "best")
    assert (read.priority, read.priority_class) == (-5, "high")
    assert (read.use_spot, read.max_hourly_cost, read.instance_type) == (True, 2.5, "x.large")
    assert read.accelerator_args == {"tpu_vm": True}


def test_a_disk_of_256_is_told_from_none():
    assert candidate("{disk_size: 256}").disk_size == 256
    assert candidate("{}").disk_size is None
    assert "disk_size" in candidate("{disk_size: 256}").given


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{cpus: 500m}", "1:19 cpus-value"),
        ("{cpus: 0}", "1:19 cpus-value"),
        ("{memory: 16G}", "1:21 memory-value"),
        ("{memory: 2x+}", "1:21 memory-value"),
        ("{memory: 0, infra: k8s}", "1:21 memory-value"),
        ("{disk_size: 1.5TB}", "1:24 disk-size-value"),
        ("{ephemeral_storage: 512MB}", "1:32 disk-size-value"),
        ("{local_disk: 'hdd:1'}", "1:25 local-disk-value"),
        ("{max_hourly_cost: 0}", "1:30 out-of-range"),
        ("{priority: 1001}", "1:23 priority-range"),
        ("{priority: high}", "1:23 priority-range"),
        ("{disk_tier: fast}", "1:24 invalid-value"),
        ("{use_spot: maybe}", "1:23 wrong-type"),
        ("{volumes: [{path: /x, name: y}]}", "1:13 resources-volumes"),
        ("{labels: {a: 1}}", "1:25 label-value"),
        ("{infra: k8s, labels: {a: 'b c'}}", "1:37 label-value"),
        ("{infra: k8s, labels: {'a b': c}}", "1:34 label-value"),
        ("{infra: aws, labels: {'aws:x': b}}", "1:34 label-value"),
    ],
)
def test_amounts_refused(resources, expected):
    assert task_findings(f"resources: {resources}") == [expected]


def test_memory_of_nothing_is_for_slurm():
    assert candidate("{memory: 0, infra: slurm/alpha}").memory == Amount(0)


@pytest.mark.parametrize(
    ("cloud", "key", "value", "is_fine"),
    [
        ("kubernetes", "a.b/c", "x", True),
        ("kubernetes", "team", "", True),
        ("kubernetes", "-team", "x", False),
        ("kubernetes", "a/b/c", "x", False),
        ("kubernetes", "team", "x" * 64, False),
        ("aws", "team", "x y", True),
        ("aws", "AWS:team", "x", False),
        ("aws", "team", "x" * 257, False),
        ("aws", "k" * 129, "x", False),
        ("slurm", "any thing", "at all!", True),
    ],
)
def test_labels_by_cloud(cloud, key, value, is_fine):
    assert (label_problem(cloud, key, value) is None) is is_fine


@pytest.mark.parametrize(
    ("value", "ports"),
    [
        ("8080", ("8080",)),
        ("'8080-8090'", ("8080-8090",)),
        ("'80, 8080-8090'", ("80", "8080-8090")),
        ("[80, 81]", ("80", "81")),
        ("[80, '90', 80]", ("80", "90")),
        ("'80-80'", ("80",)),
        ("[]", ()),
    ],
)
def test_ports_are_kept_as_a_list(value, ports):
    assert candidate(f"{{ports: {value}}}").ports == ports


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", ["1:20 ports-value"]),
        ("70000", ["1:20 ports-value"]),
        ("8090-8080", ["1:20 ports-value"]),
        ("'80;81'", ["1:20 ports-value"]),
        ("[80, 99999999999, x]", ["1:25 ports-value", "1:38 ports-value"]),
        ("true", ["1:20 wrong-type"]),
    ],
)
def test_ports_refused(value, expected):
    assert task_findings(f"resources: {{ports: {value}}}") == expected


@pytest.mark.parametrize(
    ("resources", "image"),
    [
        ("{image_id: 'docker:a/b:c'}", Image(docker="a/b:c")),
        ("{image_id: a/b, infra: k8s}", Image(docker="a/b")),
        ("{image_id: ' docker: a/b ', infra: k8s}", Image(docker="a/b")),
        (
            "{image_id: {' us-east-1': 'ami-1 '}, infra: aws}",
            Image(by_region={"us-east-1": "ami-1"}),
        ),
        ("{image_id: docker:/x.sqsh, infra: slurm}", Image(docker="/x.sqsh")),
        ("{image_id: ami-1, infra: aws/us-east-1}", Image(machine="ami-1")),
        ("{image_id: 'skypilot:gpu', infra: aws}", Image(machine="skypilot:gpu")),
        ("{image_id: 'skypilot:gpu', infra: k8s}", Image(machine="skypilot:gpu")),
        (
            "{image_id: {us-east-1: ami-1, us-west-2: ami-2}, infra: aws}",
            Image(by_region={"us-east-1": "ami-1", "us-west-2": "ami-2"}),
        ),
        (
            "{image_id: {us-east-1: ami-1, docker: a/b}, infra: aws}",
            Image(docker="a/b", by_region={"us-east-1": "ami-1"}),
        ),
        ("{image_id: {docker: 'docker:a/b'}, infra: aws}", Image(docker="a/b")),
        ("{image_id: {}, infra: aws}", None),
        ("{image_id: x, infra: gcp, network_tier: best}", Image(machine="x")),
    ],
)
def test_images(resources, image):
    assert candidate(resources).image == image


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{image_id: 'python:3.12'}", "1:23 image-needs-cloud"),
        ("{image_id: ami-1, infra: aws}", "1:23 image-needs-region"),
        ("{image_id: 'docker:'}", "1:23 image-value"),
        ("{image_id: {us-east-1: 'docker:x', docker: y}, infra: aws}", "1:35 image-value"),
        ("{image_id: {us-east-1: ami-1}, infra: aws/us-west-2}", "1:23 image-region"),
        (
            "{image_id: ami-1, infra: aws/us-east-1, network_tier: best}",
            "1:23 image-with-network-tier",
        ),
        ("{image_id: [x]}", "1:23 wrong-type"),
    ],
)
def test_images_refused(resources, expected):
    assert task_findings(f"resources: {resources}") == [expected]


@pytest.mark.parametrize(
    ("value", "autostop"),
    [
        ("true", Autostop(1)),
        ("false", None),
        ("0", Autostop(1)),
        ("10", Autostop(10)),
        ("'30m'", Autostop(30)),
        ("2h", Autostop(120)),
        ("{}", Autostop(1)),
        ("{down: true}", Autostop(1, down=True)),
        ("{idle_minutes: 5, wait_for: NONE}", Autostop(5, wait_for="none")),
    ],
)
def test_autostop(value, autostop):
    assert candidate(f"{{autostop: {value}}}").autostop == autostop


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10s", "1:23 autostop-value"),
        ("-1", "1:23 autostop-value"),
        ("1.5", "1:23 autostop-value"),
        ("{idle_minute: 5}", "1:24 autostop-value"),
        ("{idle_minutes: '10'}", "1:38 wrong-type"),
        ("{wait_for: ever}", "1:34 invalid-value"),
    ],
)
def test_autostop_refused(value, expected):
    assert task_findings(f"resources: {{autostop: {value}}}") == [expected]


def test_the_hook_of_autostop_moves_to_the_hooks():
    text = "resources: {autostop: {idle_minutes: 5, down: true, hook: ./save, hook_timeout: 7}}"
    (hook,) = task_of(text).hooks
    assert (hook.run, hook.events, hook.timeout) == ("./save", ("down",), 7)
    assert task_findings(text) == ["1:53 autostop-hook"]


def test_hooks_of_autostop_in_alternatives_are_kept_once():
    item = "{autostop: {idle_minutes: 5, hook: ./save}}"
    task = task_of(f"resources: {{any_of: [{item}, {item[:-1]}, use_spot: true}}]}}")
    assert [hook.run for hook in task.hooks] == ["./save"]


@pytest.mark.parametrize(
    ("value", "recovery"),
    [
        ("failover", JobRecovery("FAILOVER")),
        ("EAGER_NEXT_REGION", JobRecovery("EAGER_NEXT_REGION")),
        ("none", JobRecovery("NONE")),
        ("{strategy: null, max_restarts_on_errors: 3}", JobRecovery(None, 3)),
        ("{recover_on_exit_codes: 33}", JobRecovery(None, 0, (33,))),
        ("{recover_on_exit_codes: [33, 34]}", JobRecovery(None, 0, (33, 34))),
    ],
)
def test_job_recovery(value, recovery):
    assert candidate(f"{{job_recovery: {value}}}").job_recovery == recovery


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("sometimes", ["1:27 job-recovery-strategy"]),
        (
            "{strategy: DYNAMIC_NODE_SET, min_nodes: 3}",
            ["1:38 job-recovery-strategy", "1:56 job-recovery-key"],
        ),
        ("{recover_on_exit_codes: [300]}", ["1:52 out-of-range"]),
        ("{max_restarts_on_errors: -1}", ["1:52 out-of-range"]),
    ],
)
def test_job_recovery_refused(value, expected):
    assert task_findings(f"resources: {{job_recovery: {value}}}") == expected
