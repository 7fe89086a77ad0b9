"""The rules of a stack's policy: what breaks one, where it is shown, and what does not."""

from __future__ import annotations

import dataclasses
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.renderers import render
from compiler.model import Infra, Stack
from compiler.planning.cost import Cost
from compiler.planning.policy import (
    PlanFacts,
    Violation,
    WorkFacts,
    candidate_findings,
    known_rules,
    of_plans,
    plan_findings,
)
from compiler.planning.policy.of_candidates import Candidate
from compiler.planning.policy.patterns import image_matches, place_matches, registry_matches
from compiler.source import read_text
from tests.unit.model_documents import build_stack, task_of

TARGETS = """\
set: {name: demo}
targets:
  alpha: {kind: slurm}
  prod: {kind: kubernetes, context: prod-eks}
  us-east-1: {kind: aws}
"""


def stack_with(policy: str) -> Stack:
    diagnostics = Diagnostics()
    (document,) = read_text(f"{TARGETS}policy:\n  {policy}\n", "stack.yaml", diagnostics)
    stack = build_stack(document, diagnostics)
    assert stack is not None, [item.message for item in diagnostics]
    return stack


def broken(policy: str, task: str, target: str = "prod", hourly: float | None = 0.0) -> list[str]:
    """`line:column code (line of the rule): message` of each finding."""
    stack = stack_with(policy)
    built = task_of(task)
    candidate = Candidate(
        built, built.resources.candidates[0], stack.targets[target], stack, lambda: hourly
    )
    shown = []
    for item in candidate_findings(candidate):
        span, rule = item.diagnostic.span, item.diagnostic.related[0].span
        assert span is not None
        assert rule is not None
        assert rule.source.path == "stack.yaml"
        assert rule.line == 7
        shown.append(f"{span.line}:{span.column} {item.diagnostic.code}: {item.diagnostic.message}")
    return shown


def run(resources: str, more: str = "") -> str:
    return f"run: echo\nresources: {resources}\n{more}"


@pytest.mark.parametrize(
    ("policy", "task", "target", "expected"),
    [
        (
            "max_accelerators: 16",
            run("{accelerators: H100:8}", "num_nodes: 4\n"),
            "alpha",
            [
                "2:27 policy-accelerators: the task asks for 32 accelerators on 4 nodes, "
                "the policy allows 16"
            ],
        ),
        ("max_accelerators: 32", run("{accelerators: H100:8}", "num_nodes: 4\n"), "alpha", []),
        # What the type has counts, named or not.
        (
            "max_accelerators: 4",
            run("{instance_type: p5.48xlarge, infra: aws/us-east-1}"),
            "us-east-1",
            ["2:28 policy-accelerators: the task asks for 8 accelerators, the policy allows 4"],
        ),
        (
            "max_accelerators: 4",
            run(
                "{accelerators: H100:1, ports: 80}",
                "service: {readiness_probe: /, replica_policy: {min_replicas: 1, "
                "max_replicas: 5, target_qps_per_replica: 1}}\n",
            ),
            "prod",
            ["2:27 policy-accelerators: the task asks for 5 accelerators, the policy allows 4"],
        ),
        (
            "allowed_infra: [k8s/*]",
            run("{infra: slurm/alpha/gpu}"),
            "alpha",
            ["2:20 policy-infra: the policy does not allow slurm/alpha/gpu"],
        ),
        ("allowed_infra: [slurm/alpha/gpu*]", run("{infra: slurm/alpha/gpu}"), "alpha", []),
        (
            "allowed_infra: [slurm/alpha/gpu*]",
            run("{infra: slurm/alpha}"),
            "alpha",
            ["2:20 policy-infra: the policy does not allow slurm/alpha"],
        ),
        ("allowed_infra: [k8s/prod-eks]", run("{cpus: 1}"), "prod", []),
        (
            "allowed_images: [registry.example.com/ml/*]",
            run("{image_id: 'docker:ubuntu:22.04'}"),
            "prod",
            ["2:23 policy-image: the policy does not allow the image `ubuntu:22.04`"],
        ),
        (
            "allowed_images: [registry.example.com/ml/*]",
            run("{image_id: 'docker:registry.example.com/ml/train:1'}"),
            "alpha",
            [],
        ),
        ("allowed_images: [registry.example.com/ml/*]", run("{cpus: 1}"), "prod", []),
        (
            "allowed_registries: ['*.example.com']",
            run(
                "{cpus: 1}",
                "config:\n  kubernetes:\n    pod_config:\n      spec:\n        "
                "initContainers: [{name: x, image: evil.io/a.example.com/x}]\n",
            ),
            "prod",
            [
                "7:43 policy-image: the policy does not allow the registry of "
                "`evil.io/a.example.com/x`"
            ],
        ),
        (
            "allowed_images: [ami-1]",
            run("{image_id: ami-2, infra: aws/us-east-1}"),
            "us-east-1",
            ["2:23 policy-image: the policy does not allow the image `ami-2`"],
        ),
        (
            "required_labels: [team, cost]",
            run("{labels: {team: a, cost: ''}}"),
            "prod",
            ["2:21 policy-label: the policy requires the label `cost`"],
        ),
        (
            "spot: forbidden",
            run("{use_spot: true}"),
            "us-east-1",
            ["2:23 policy-spot: the policy forbids spot capacity"],
        ),
        (
            "spot: required",
            run("{cpus: 2}"),
            "us-east-1",
            ["2:12 policy-spot: the policy requires spot capacity"],
        ),
        ("spot: required", run("{cpus: 2}"), "alpha", []),
        ("spot: allowed", run("{use_spot: true}"), "us-east-1", []),
        (
            "forbidden_pod_config: [spec.hostNetwork, 'spec.containers.*.securityContext']",
            run(
                "{cpus: 1}",
                "config:\n  kubernetes:\n    pod_config:\n      spec:\n        "
                "hostNetwork: false\n        containers:\n        - securityContext: {a: 1}\n",
            ),
            "prod",
            [
                "7:22 policy-pod-config: the policy forbids `spec.hostNetwork` in `pod_config`",
                "9:28 policy-pod-config: the policy forbids `spec.containers.0.securityContext` "
                "in `pod_config`",
            ],
        ),
    ],
)
def test_rules_of_candidates(policy, task, target, expected):
    assert broken(policy, task, target) == expected


def test_a_cost_above_the_limit_and_one_that_nobody_knows():
    task = run("{cpus: 1}")
    assert broken("max_hourly_cost: 9", task, hourly=9.0) == []
    assert broken("max_hourly_cost: 9", task, hourly=9.5) == [
        "2:12 policy-cost: the task costs 9.50 $/h on prod, the policy allows 9.00 $/h"
    ]
    assert broken("max_hourly_cost: 9", task, hourly=None) == [
        "2:12 policy-cost: what the task costs on prod is not known, the policy allows 9.00 $/h"
    ]


def test_both_places_are_shown():
    stack = stack_with("max_accelerators: 1")
    task = task_of(run("{accelerators: H100:8}"))
    candidate = Candidate(
        task, task.resources.candidates[0], stack.targets["alpha"], stack, lambda: None
    )
    (found,) = candidate_findings(candidate)
    assert render([found.diagnostic], "text") == (
        "error[policy-accelerators]: the task asks for 8 accelerators, the policy allows 1\n"
        " --> task.yaml:2:27\n"
        "  |\n"
        "2 | resources: {accelerators: H100:8}\n"
        "  |                           ^^^^^^\n"
        "  = note: the rule\n"
        " --> stack.yaml:7:3\n"
        "  |\n"
        "7 |   max_accelerators: 1\n"
        "  |   ----------------\n"
    )
    warning = found.overridden()
    assert warning.severity == "warning"
    assert "let pass by --override-policy max_accelerators" in warning.message


@pytest.mark.parametrize(
    ("pattern", "image", "fits"),
    [
        ("*", "anything/at/all", True),
        ("ubuntu:*", "ubuntu:22.04", True),
        ("docker.io/library/*", "ubuntu", True),
        ("*.example.com/*", "a.example.com/x/y:1", True),
        ("*.example.com/*", "evil.io/a.example.com/y", False),
        ("registry.example.com/*", "registry.example.com.evil.io/x", False),
        ("registry.example.com/*", "REGISTRY.example.com/x", True),
        ("registry.example.com:5000/*", "registry.example.com/x", False),
        ("team/*", "docker.io/team/x", True),
    ],
)
def test_image_patterns(pattern, image, fits):
    assert image_matches(pattern, image) is fits


def test_registries_are_hosts():
    assert registry_matches("docker.io", "ubuntu")
    assert registry_matches("*.example.com", "a.example.com/x")
    assert not registry_matches("*.example.com", "evil.io/b.example.com")


def test_a_context_with_slashes_is_one_part():
    stack = stack_with("spot: allowed")
    spec = dataclasses.replace(stack.targets["prod"], options={"context": "arn:x/prod"})
    assert place_matches("k8s/arn:x/prod", Infra("kubernetes"), spec)
    assert place_matches("k8s/arn:*", Infra(), spec)
    assert place_matches("*", Infra(), spec)
    assert not place_matches("aws/*", Infra(), spec)


def facts(*works: tuple[str, str, int, Cost | None]) -> PlanFacts:
    task = task_of(run("{accelerators: H100:8}"))
    return PlanFacts(
        "demo",
        tuple(
            WorkFacts(name, "prod", "kubernetes", action, (task,), (), count, cost)
            for name, action, count, cost in works
        ),
    )


def messages(policy: str, given: PlanFacts, skipped: tuple[str, ...] = ()) -> list[str]:
    found = plan_findings(given, stack_with(policy), skipped)
    return [f"{item.diagnostic.code} {item.work}: {item.diagnostic.message}" for item in found]


def test_limits_of_a_plan_count_what_it_starts():
    given = facts(
        ("a", "create", 8, Cost(10.0)), ("b", "update", 8, Cost(5.0)), ("c", "no-op", 64, Cost(90))
    )
    assert messages("max_accelerators_per_plan: 16", given) == []
    assert messages("max_accelerators_per_plan: 15", given) == [
        "policy-accelerators-per-plan : the plan starts 16 accelerators (a: 8, b: 8), "
        "the policy allows 15"
    ]
    assert messages("max_hourly_cost_per_plan: 15", given) == []
    assert messages("max_hourly_cost_per_plan: 14.5", given) == [
        "policy-cost-per-plan : the plan starts work for 15.00 $/h, the policy allows 14.50 $/h"
    ]
    unknown = facts(("a", "create", 8, Cost(None)))
    assert messages("max_hourly_cost_per_plan: 14.5", unknown) == [
        "policy-cost-per-plan : what a costs is not known, the policy allows 14.50 $/h"
    ]


def quotas(given: PlanFacts, options: Any):
    for item in given.works:
        if item.accelerators > options["limit"]:
            yield Violation(
                f"{item.name} is over the quota",
                item.name,
                0,
                ("resources", "accelerators"),
                "less",
            )


def failing(given: PlanFacts, options: Any):
    raise RuntimeError("no connection")


def careless(given: PlanFacts, options: Any):
    return ["a text"]


@pytest.fixture
def installed(monkeypatch):
    """Entry points as an installed package would have them."""

    def found(group: str, name: str) -> list[EntryPoint]:
        known = {"quotas": "quotas", "failing": "failing", "careless": "careless"}
        if name == "twice":
            return [EntryPoint(name, "a:b", group), EntryPoint(name, "c:d", group)]
        return [EntryPoint(name, f"{__name__}:{known[name]}", group)] if name in known else []

    monkeypatch.setattr(of_plans, "entry_points", found)


def test_a_plugin_objects_with_positions(installed):
    given = facts(("a", "create", 8, None), ("b", "create", 2, None))
    stack = stack_with("plugins: {quotas: {limit: 4}}")
    (found,) = plan_findings(given, stack)
    assert (found.rule, found.work) == ("quotas", "a")
    assert found.diagnostic.span is not None
    assert found.diagnostic.span.location == "task.yaml:2:27"
    assert found.diagnostic.message == "quotas: a is over the quota"
    assert found.diagnostic.hint == "less"
    assert found.diagnostic.related[0].span is not None
    assert found.diagnostic.related[0].span.location == "stack.yaml:7:13"


def test_a_plugin_that_is_missing_or_fails_fails_the_plan(installed):
    given = facts(("a", "create", 8, None))
    assert messages("plugins: {gone: {}}", given) == [
        "policy-plugin-failed : no installed package has a policy plug-in `gone`"
    ]
    assert messages("plugins: {twice: null}", given) == [
        "policy-plugin-failed : 2 installed packages offer a policy plug-in `twice`"
    ]
    assert messages("plugins: {failing: {}}", given) == [
        "policy-plugin-failed : policy plug-in `failing` failed: RuntimeError: no connection"
    ]
    assert messages("plugins: {careless: {}}", given) == [
        "policy-plugin-failed : policy plug-in `careless` failed: TypeError: it gave something "
        "else than Violations"
    ]


def test_an_overridden_plugin_may_be_missing(installed):
    given = facts(("a", "create", 8, None))
    assert messages("plugins: {gone: {}}", given, ("gone",)) == []


def test_the_names_that_can_be_overridden():
    stack = stack_with("{max_accelerators: 1, spot: allowed, plugins: {quotas: {}}}")
    assert known_rules(stack.policy) == ["max_accelerators", "spot", "quotas"]
