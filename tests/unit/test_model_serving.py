"""Services, pools, pipelines and groups."""

import pytest

from compiler.model import Group, Overrides, Pipeline, ReadinessProbe, ReplicaPolicy
from tests.unit.model_documents import built_file, task_findings, task_of

PORT = "resources: {ports: 8080}\n"
SPOT = "resources: {ports: 8080, use_spot: true}\n"


def service_of(service: str, before: str = PORT):
    return task_of(f"{before}service: {service}").service


def test_a_short_service():
    service = service_of("{readiness_probe: /health}")
    assert service.readiness_probe == ReadinessProbe("/health")
    assert service.replica_policy == ReplicaPolicy(1)
    assert (service.port, service.load_balancing_policy) == (8080, "least_load")
    assert (service.stream_timeout, service.tls) == (120, None)


def test_a_long_service():
    service = service_of(
        "{readiness_probe: {path: /v1, initial_delay_seconds: 5, timeout_seconds: 1.5,"
        " endpoint_probe_interval_seconds: 3, consecutive_failure_threshold_timeout: 60,"
        " post_data: '{\"a\": 1}', headers: {X: y}},"
        " replica_policy: {min_replicas: 1, max_replicas: 4, num_overprovision: 1,"
        " target_qps_per_replica: {'H100:1': 2.5}, dynamic_ondemand_fallback: true,"
        " base_ondemand_fallback_replicas: 1, spot_placer: dynamic_fallback,"
        " upscale_delay_seconds: 10, downscale_delay_seconds: 20},"
        " load_balancing_policy: instance_aware_least_load, ports: 9000,"
        " load_balancer: {stream_timeout_seconds: 7}, tls: {keyfile: k, certfile: c}}",
        SPOT,
    )
    assert service.readiness_probe == ReadinessProbe("/v1", 5, 1.5, 3, 60, '{"a": 1}', {"X": "y"})
    assert service.replica_policy == ReplicaPolicy(
        1, 4, 1, {"H100:1": 2.5}, True, 1, "dynamic_fallback", 10, 20
    )
    assert service.load_balancing_policy == "instance_aware_least_load"
    assert (service.port, service.stream_timeout, service.tls) == (9000, 7, ("k", "c"))


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("{ports: 80}", ["2:1 probe-path"]),
        ("{readiness_probe: health}", ["2:28 probe-path"]),
        ("{readiness_probe: {path: health}}", ["2:35 probe-path"]),
        ("{readiness_probe: {path: /, post_data: '{x'}}", ["2:49 post-data"]),
        ("{readiness_probe: {path: /, post_data: ''}}", ["2:49 post-data"]),
        ("{readiness_probe: {path: /, headers: {a: 1}}}", ["2:51 wrong-type"]),
        (
            "{readiness_probe: /, replicas: 2, replica_policy: {min_replicas: 1}}",
            ["2:31 replicas-twice"],
        ),
        (
            "{readiness_probe: /, replica_policy: {min_replicas: 2, max_replicas: 1}}",
            ["2:79 replica-range"],
        ),
        (
            "{readiness_probe: /, replica_policy: {min_replicas: 1, max_replicas: 2}}",
            ["2:65 scaling-needs-target"],
        ),
        (
            "{readiness_probe: /, replica_policy: {min_replicas: 1, target_qps_per_replica: 2}}",
            ["2:65 scaling-needs-maximum"],
        ),
        (
            "{readiness_probe: /, replica_policy: {min_replicas: 1, max_replicas: 2,"
            " target_qps_per_replica: {A: 2}}}",
            ["2:82 qps-by-device"],
        ),
        (
            "{readiness_probe: /, load_balancing_policy: instance_aware_least_load}",
            ["2:54 qps-by-device"],
        ),
        (
            "{readiness_probe: /, replica_policy: {min_replicas: 1, spot_placer:"
            " dynamic_fallback, dynamic_ondemand_fallback: true}}",
            ["2:65 fallback-without-spot", "2:96 fallback-without-spot"],
        ),
        ("{readiness_probe: /, tls: {keyfile: k}}", ["2:31 tls-files"]),
        ("{readiness_probe: /, ports: 70000}", ["2:38 out-of-range"]),
        ("{readiness_probe: /, route53_hosted_zone: x}", ["2:31 unknown-field"]),
    ],
)
def test_services_refused(service, expected):
    assert task_findings(f"{PORT}service: {service}") == expected


@pytest.mark.parametrize("ports", ["", "ports: [80, 81]", "ports: 80-90"])
def test_a_service_needs_exactly_one_port(ports):
    text = f"resources: {{{ports}}}\nservice: {{readiness_probe: /"
    assert task_findings(text + "}") == ["2:1 service-port"]
    assert task_findings(text + ", ports: 80}") == []


def test_alternatives_of_a_service_are_all_spot_or_none():
    text = "resources: {ports: 80, any_of: [{use_spot: true}, {use_spot: false}]}\n"
    assert task_findings(text + "service: {readiness_probe: /}") == ["2:1 service-mixed-spot"]


@pytest.mark.parametrize("kind", ["service: {readiness_probe: /, ports: 80}", "pool: {workers: 2}"])
def test_recovery_is_for_jobs(kind):
    text = f"resources: {{job_recovery: failover}}\n{kind}"
    assert task_findings(text) == ["1:13 recovery-of-service"]


@pytest.mark.parametrize(
    ("pool", "sizes"),
    [
        ("{workers: 3}", (3, 3, None)),
        ("{workers: 0}", (0, 0, None)),
        ("{max_workers: 3}", (1, 3, 1)),
        ("{min_workers: 2, max_workers: 3, queue_length_threshold: 4}", (2, 3, 4)),
        ("{workers: 2, max_workers: 5, upscale_delay_seconds: 7}", (2, 5, 1)),
    ],
)
def test_pools(pool, sizes):
    built = task_of(f"pool: {pool}\nrun: echo").pool
    assert (built.min_workers, built.max_workers, built.queue_length_threshold) == sizes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pool: {}", ["1:1 pool-size"]),
        ("pool: {workers: 1, min_workers: 1}", ["1:20 pool-needs-maximum"]),
        ("pool: {workers: 1, upscale_delay_seconds: 3}", ["1:20 pool-needs-maximum"]),
        ("pool: {min_workers: 3, max_workers: 2}", ["1:37 pool-range"]),
        ("pool: {max_workers: 0}", ["1:21 pool-range"]),
        ("pool: {workers: 1}\nservice: {readiness_probe: /, ports: 8}", ["2:1 service-and-pool"]),
        ("pool: {workers: 1}\nresources: {ports: 80}", ["2:13 pool-ports"]),
        (
            "pool: {workers: 1}\nresources: {ordered: [{infra: k8s}, {infra: aws}]}",
            ["2:1 pool-ordered"],
        ),
        ("pool: {workers: many}", ["1:17 wrong-type"]),
    ],
)
def test_pools_refused(text, expected):
    assert task_findings(text) == expected


def test_a_pipeline():
    pipeline, found = built_file(
        "# about it\n---\nname: pipe\n---\nname: a\nrun: x\n---\nnum_nodes: 2\nrun: y\n"
    )
    assert found == []
    assert isinstance(pipeline, Pipeline)
    assert pipeline.name == "pipe"
    assert [(task.name, task.num_nodes) for task in pipeline.tasks] == [("a", 1), ("pipe-1", 2)]


def test_a_pipeline_without_a_header():
    pipeline, found = built_file("run: x\n---\nname: b\nrun: y\n")
    assert found == []
    assert (pipeline.name, [task.name for task in pipeline.tasks]) == (None, [None, "b"])


def test_overrides_hold_for_every_task():
    text = "name: pipe\n---\nenvs: {A: null}\n---\nenvs: {A: x}\n"
    pipeline, found = built_file(text, overrides=Overrides(env=(("A", "1"),), num_nodes=3))
    assert found == []
    assert [(task.envs["A"], task.num_nodes) for task in pipeline.tasks] == [("1", 3), ("1", 3)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: p\n---\nname: a\n---\nname: a\n", ["5:7 task-names-collide"]),
        (
            "run: x\n---\nresources: {priority: 3}\nrun: y\n",
            ["3:23 priorities-differ"],
        ),
        ("run: x\nnum_nodes: 0\n---\nrun: y\nnme: z\n", ["2:12 out-of-range", "5:1 unknown-field"]),
    ],
)
def test_pipelines_refused(text, expected):
    assert built_file(text)[1] == expected


HEADER = "name: rlhf-math\nexecution: parallel\n"
MEMBERS = "---\nname: trainer\nnum_nodes: 2\nrun: x\n---\nname: rollout_server\nrun: y\n"


@pytest.mark.parametrize(
    ("header", "primary", "delays", "connection"),
    [
        ("", ("trainer", "rollout_server"), {}, None),
        ("primary_tasks: []\n", ("trainer", "rollout_server"), {}, None),
        (
            "primary_tasks: [trainer]\ninter_connection: true\n",
            ("trainer",),
            {},
            True,
        ),
        (
            "termination_delay: 90\n",
            ("trainer", "rollout_server"),
            {"trainer": 90, "rollout_server": 90},
            None,
        ),
        (
            "termination_delay: {default: 30s, trainer: 5M}\n",
            ("trainer", "rollout_server"),
            {"trainer": 300, "rollout_server": 30},
            None,
        ),
    ],
)
def test_groups(header, primary, delays, connection):
    group, found = built_file(HEADER + header + MEMBERS)
    assert found == []
    assert isinstance(group, Group)
    assert [task.name for task in group.tasks] == ["trainer", "rollout_server"]
    assert group.primary_tasks == primary
    assert group.termination_delay == delays
    assert group.inter_connection is connection


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name: a.b\nexecution: parallel\n" + MEMBERS, ["1:7 group-name"]),
        (f"name: {'g' * 64}\nexecution: parallel\n{MEMBERS}", ["1:7 group-name-length"]),
        (HEADER + "primary_tasks: [trainr]\n" + MEMBERS, ["3:17 group-unknown-task"]),
        (HEADER + "primary_tasks: trainer\n" + MEMBERS, ["3:16 wrong-type"]),
        (HEADER + "termination_delay: 1.5h\n" + MEMBERS, ["3:20 termination-delay"]),
        (HEADER + "termination_delay: {trainr: 5}\n" + MEMBERS, ["3:21 group-unknown-task"]),
        (HEADER + "inter_connection: maybe\n" + MEMBERS, ["3:19 wrong-type"]),
        (HEADER + "resources: {cpus: 4}\n" + MEMBERS, ["3:1 unknown-field"]),
        (HEADER + "---\nname: a\n---\nrun: x\n", ["6:1 group-task-name"]),
        (HEADER + "---\nname: a\n---\nname: b.c\n", ["6:7 group-task-name"]),
        (HEADER + "---\nname: a-b\n---\nname: a_b\n", ["6:7 task-names-collide"]),
        (HEADER + "---\nname: a\n---\nname: b\npool: {workers: 1}\n", ["7:1 group-pool"]),
        (
            f"{HEADER}---\nname: {'t' * 61}\nnum_nodes: 11\n---\nname: b\n",
            ["4:7 group-name-length"],
        ),
    ],
)
def test_groups_refused(text, expected):
    assert built_file(text)[1] == expected


def test_a_misspelt_task_of_a_group_gets_a_suggestion():
    from compiler.diagnostics import Diagnostics
    from compiler.model import build_group
    from compiler.source import detect, read_text

    diagnostics = Diagnostics()
    documents = read_text(HEADER + "primary_tasks: [trainr]\n" + MEMBERS, "g.yaml", diagnostics)
    unit = detect(documents, diagnostics)
    assert build_group(unit.header, unit.documents, diagnostics, environ={}) is None
    assert [item.hint for item in diagnostics] == ["did you mean `trainer`?"]
