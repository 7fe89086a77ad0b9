"""Jobs for the AWS target, built from the model's own classes without any file."""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import SourceText, Span
from compiler.model import (
    Accelerator,
    Choice,
    Deployer,
    Origin,
    Resources,
    ResourceSet,
    Secret,
    SecretSource,
    Stack,
    TargetKind,
    TargetSpec,
    Task,
    Volume,
)
from compiler.rendering.filetree import FileTree
from compiler.targets.aws.ownership import Ownership, owner_of
from compiler.targets.interface import Job


class Document:
    """Stands in for a read document: every value is at the same place."""

    source = SourceText("task.yaml", "name: test\n")

    def span(self, path: tuple) -> Span:
        return Span(self.source, 1, 1, 1, 5)

    key_span = span


ORIGIN = Origin(Document())
BUCKET = {"files": {"bucket": "s3://team-bucket/ml"}}


def target(key: str = "us-east-1", **options: object) -> TargetSpec:
    return TargetSpec(key, TargetKind.AWS, Deployer.DIRECTORY, None, {**BUCKET, **options}, ORIGIN)


def stack(spec: TargetSpec, **changes: object) -> Stack:
    values: dict = {
        "name": "demo",
        "set_name": "llama",
        "inputs": (),
        "out": "/out",
        "root": None,
        "targets": {spec.key: spec},
        "secrets": {},
        "policy": {},
        "pricing": {},
        "config": {},
        "gitops": None,
        "on_files_change": "ignore",
        "workspace": None,
        "workspaces": {},
        "requester_env": None,
        "origin": ORIGIN,
    }
    return Stack(**{**values, **changes})


def owner(spec: TargetSpec | None = None) -> Ownership:
    """Whose is what jobs of the target make."""
    spec = spec or target()
    return owner_of(stack(spec), spec)


def resources(accelerators: str | None = None, **fields: object) -> Resources:
    """`accelerators` as `H100:8`; `given` is derived from what is passed."""
    given = {"image_id" if name == "image" else name for name in fields}
    given |= {"accelerators"} if accelerators else set()
    accelerator = None
    if accelerators:
        name, _, count = accelerators.partition(":")
        accelerator = Accelerator(name, float(count or 1))
    values = {"given": frozenset(given), "origin": ORIGIN, "outer": ORIGIN, **fields}
    return Resources(accelerator=accelerator, **values)


def job(
    asked: Resources | None = None,
    *,
    spec: TargetSpec | None = None,
    stack_changes: dict | None = None,
    trees: tuple[FileTree, ...] = (),
    work: str = "pretrain",
    run: int = 1,
    script: str | None = "echo run\n",
    **task: object,
) -> Job:
    """A job of one node; `script` is the task's `run`, `task` its other fields."""
    spec = spec or target()
    asked = asked or resources()
    values: dict = {
        "name": work,
        "num_nodes": 1,
        "run": script,
        "resources": ResourceSet(Choice.ONE, (asked,), ORIGIN),
        "origin": ORIGIN,
        "given": frozenset(task),
    }
    return Job(
        stack=stack(spec, **(stack_changes or {})),
        target=spec,
        task=Task(**{**values, **task}),
        work=work,
        resources=asked,
        run=run,
        spec_digest="0" * 64,
        files_digest="0" * 64,
        trees=trees,
    )


def volume(
    kind: str,
    name: str = "data",
    *,
    size: int | None = None,
    infra: str | None = None,
    use_existing: bool = False,
    labels: dict[str, str] | None = None,
    **config: object,
) -> Volume:
    mode, storage = config.get("access_mode"), config.get("storage_class_name")
    return Volume(
        name=name,
        type=kind,
        infra=infra,
        size_gib=size,
        use_existing=use_existing,
        labels=labels or {},
        access_mode=None if mode is None else str(mode),
        storage_class_name=None if storage is None else str(storage),
        namespace=None,
        host_path=None,
        cleanup_on_deletion=False,
        config=config,
        origin=ORIGIN,
    )


def volume_job(
    kind: str, name: str = "data", *, spec: TargetSpec | None = None, **fields: object
) -> Job:
    """The job of a volume itself."""
    made = volume(kind, name, **fields)
    return dataclasses.replace(job(spec=spec, work=name, script=None), volume=made)


def secret_job() -> Job:
    """Two secrets with places in the stack, one that is handed over; each has a value."""
    return job(
        resources(),
        secrets={
            "HF_TOKEN": Secret("HF_TOKEN", "CANARY-hf"),
            "WANDB_API_KEY": Secret("WANDB_API_KEY", "CANARY-wandb"),
            "LOG": Secret("LOG", "CANARY-log"),
        },
        stack_changes={
            "secrets": {
                "HF_TOKEN": {"us-east-1": SecretSource("ssm", "/hf/token")},
                "WANDB_API_KEY": {"us-east-1": SecretSource("secrets_manager", "wandb")},
            }
        },
    )
