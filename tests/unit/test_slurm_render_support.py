"""The support table covers the dialect, and nothing of a task is lost without a word."""

import re

import pytest

from compiler.diagnostics import Severity
from compiler.model import Pipeline
from compiler.resources import data_folder
from compiler.source import field_names
from compiler.targets.interface import SupportLevel
from compiler.targets.slurm import TARGET
from compiler.targets.slurm.deployer import records
from tests.unit.slurm_jobs import STACK, make_job, render

_INTERNAL = {"file_mounts_mapping", "volume_mounts"}


def schema_keys() -> tuple[set[str], set[str]]:
    """(keys of a task, keys of its resources), without those of dumps."""
    paths = [name.split(".") for name in field_names("task")]
    top = {path[0] for path in paths if len(path) == 1}
    resources = {path[1] for path in paths if len(path) == 2 and path[0] == "resources"}
    return {key for key in top if key[0] != "_"} - _INTERNAL, {
        key for key in resources if key[0] != "_"
    }


def test_every_field_has_a_row() -> None:
    top, resources = schema_keys()
    rows = {row.split(" (")[0] for row in TARGET.support}
    first = {row.split(".")[0] for row in rows}
    assert top - {"resources"} <= first
    expected = {f"resources.{key}" for key in resources}
    assert expected <= rows
    assert {row for row in rows if row.startswith("resources.")} == expected


def test_rows_say_what_becomes_of_a_field() -> None:
    for name, row in TARGET.support.items():
        assert row.field == name
        assert row.note
        assert not row.note.endswith(".")


def task(resources: str = "", more: str = "") -> str:
    return f"name: x\nresources: {{infra: slurm/alpha{resources}}}\nrun: x\n{more}"


IGNORED, CHANGED, REFUSED = SupportLevel.IGNORED, SupportLevel.CHANGED, SupportLevel.REFUSED
SERVICE = "service: {readiness_probe: /, ports: 8080}\n"
CASES = [
    (task(", disk_tier: high"), "resources.disk_tier", IGNORED),
    (task(", disk_size: 100"), "resources.disk_size", IGNORED),
    (task(", network_tier: best"), "resources.network_tier", IGNORED),
    (task(", priority: 5"), "resources.priority", IGNORED),
    (task(", priority_class: high"), "resources.priority_class", IGNORED),
    (task(", accelerator_args: {tpu_name: t}"), "resources.accelerator_args", IGNORED),
    (task("", "event_callback: echo\n"), "event_callback", IGNORED),
    (task("", "inputs: {s3://b: 5}\n"), "inputs", IGNORED),
    (task("", "outputs: {s3://b: 5}\n"), "outputs", IGNORED),
    (task("", "api_server_access: true\n"), "api_server_access", IGNORED),
    (task("", "config: {docker: {run_options: [--x]}}\n"), "config.docker", IGNORED),
    (task("", "config: {nvidia_gpus: {disable_ecc: true}}\n"), "config.nvidia_gpus", IGNORED),
    (task(", labels: {a: b}"), "resources.labels", CHANGED),
    (task(", cpus: 4+"), "resources.cpus (N+)", CHANGED),
    (task(", memory: 4+"), "resources.memory (N+)", CHANGED),
    (task(", accelerators: 'L4:0.5'"), "resources.accelerators (fraction)", CHANGED),
    (task(", gpus: 'L4:0.5'"), "resources.accelerators (fraction)", CHANGED),
    (
        task("", "volumes: {/d: {host_path: /s}}\n"),
        "volumes.host_path (no container)",
        CHANGED,
    ),
    (task(", use_spot: true"), "resources.use_spot", REFUSED),
    (task(", ports: 8080"), "resources.ports", REFUSED),
    (task(", local_disk: nvme"), "resources.local_disk", REFUSED),
    (task(", autostop: 10"), "resources.autostop", IGNORED),
    (task(", instance_type: p5.48xlarge"), "resources.instance_type", REFUSED),
    (task(", image_id: 'docker:x'"), "resources.image_id (docker, no Pyxis)", REFUSED),
    (task("", SERVICE), "service", REFUSED),
    (task("", "config: {hooks: [{run: x}]}\n"), "config.hooks", CHANGED),
    (task("", "file_mounts: {/d: s3://bucket/x}\n"), "file_mounts (URL)", REFUSED),
    (
        task("", "file_mounts: {/d: {name: bucket, mode: MOUNT}}\n"),
        "file_mounts (storage)",
        REFUSED,
    ),
    (task("", "volumes: {/d: named}\n"), "volumes.name", REFUSED),
    (task("", "volumes: {/d: {size: 10}}\n"), "volumes.size", REFUSED),
    (
        task("", "managed_secrets: [{S: {mount_path: /s}}]\n"),
        "managed_secrets.mount_path",
        REFUSED,
    ),
]


@pytest.mark.parametrize(("text", "row", "level"), CASES, ids=[row for _, row, _ in CASES])
def test_what_is_lost_is_said(text: str, row: str, level: SupportLevel) -> None:
    support = TARGET.support[row]
    assert support.level is level
    job = make_job(text)
    _, found = render(job)
    ours = [item for item in found if support.note in item.message]
    assert [item.code for item in ours] == [f"field-{level}"]
    (item,) = ours
    assert item.target == "alpha"
    assert item.span is not None and item.span.source.path == "task.yaml"
    written = row.split(" (")[0].split(".")[-1]
    if not row.startswith(("volumes", "file_mounts", "resources.accelerators")):
        near = item.span.source.line(item.span.line)
        assert written in near or written == "mount_path"
    refusals = list(TARGET.refusals(job.task, job.resources, job.target))
    assert [refusal.code for refusal in refusals] == ["field-refused"] * (level is REFUSED)
    assert all(refusal.severity is Severity.ERROR for refusal in refusals)


def test_what_is_not_asked_for_is_not_mentioned() -> None:
    for resources in (", use_spot: false", ", max_hourly_cost: 5", ", ports: null"):
        _, found = render(make_job(task(resources)))
        assert [item.message for item in found] == []


def test_docker_logins_are_of_no_use() -> None:
    trio = "".join(f"  SKYPILOT_DOCKER_{name}: x\n" for name in ("USERNAME", "PASSWORD", "SERVER"))
    stack = STACK.replace('"22.05"', '"22.05", containers: pyxis')
    for place in ("envs", "secrets"):
        text = task(", image_id: 'docker:x'", f"{place}:\n{trio}")
        _, found = render(make_job(text, stack))
        assert [item.code for item in found] == ["field-ignored"]  # the three as one
        assert [item.span.line for item in found if item.span] == [5]


def beside_the_tasks() -> set[str]:
    """What a run of several has beside the folders of its tasks, by what writes it."""
    texts = [
        (data_folder("templates") / "slurm" / name).read_text()
        for name in ("group.sbatch.j2", "hosts.j2", "remote/submit.sh")
    ]
    written = re.compile(r'"\$(?:RUN|WORK|GROUP_WORK)/([a-z]+(?:\.[a-z]+)*)|\$folder/([a-z.]+)')
    names = {first or second for text in texts for first, second in written.findall(text)}
    return names | {records.SCRIPT, records.PARTS}


def test_no_task_of_several_is_called_like_what_lies_beside_it() -> None:
    taken = beside_the_tasks()
    assert {"hosts", "hosts.lock", "record.json", "started"} <= taken
    for name in sorted(taken):
        job = make_job(task().replace("name: x", f"name: {name}"))
        whole = Pipeline(name="several", tasks=(job.task,), origin=job.task.origin)
        found = list(TARGET.refusals_of_whole(whole, job.target))
        assert [item.code for item in found] == ["slurm-member-name"], name
