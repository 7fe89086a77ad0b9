"""Jobs for the Kubernetes tests, made of YAML texts as the program reads them."""

from __future__ import annotations

import dataclasses
from typing import Any

import yaml

from compiler import model, source
from compiler.diagnostics import Diagnostics
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Job
from compiler.targets.kubernetes import TARGET

STACK = """\
set: {name: demo}
targets:
  prod: {kind: kubernetes, version: "1.34", labels: skypilot}
"""


def make_job(
    task: str = "run: echo hi\n",
    stack: str = STACK,
    *,
    work: str = "train",
    run: int = 1,
    target: str = "prod",
    candidate: int = 0,
    trees: tuple[FileTree, ...] = (),
) -> Job:
    """The job of a task text on a target of a stack text; both have to be valid."""
    diagnostics = Diagnostics()
    built = model.build_task(_document(task, "task.yaml", diagnostics), diagnostics, environ={})
    stack_document = _document(stack, "stack.yaml", diagnostics)
    built_stack = model.build_stack(stack_document, diagnostics)
    assert not diagnostics.has_errors, [(item.code, item.message) for item in diagnostics.sorted()]
    return Job(
        stack=built_stack,
        target=built_stack.targets[target],
        task=built,
        work=work,
        resources=built.resources.candidates[candidate],
        run=run,
        spec_digest="a" * 64,
        files_digest="b" * 64,
        trees=trees,
    )


def rendered(*args: Any, **options: Any) -> dict[str, Any]:
    """File name -> object of a job that has no errors, each read back and verified."""
    job = make_job(*args, **options)
    diagnostics = Diagnostics()
    artifacts = TARGET.render(job, diagnostics)
    assert not diagnostics.has_errors, diagnostics.sorted()
    for artifact in artifacts:
        # with another text, so that the check reads it instead of remembering it
        again = dataclasses.replace(artifact, text=artifact.text + "# read back\n")
        assert list(TARGET.verify(again, job.target)) == []
    return {
        artifact.path.removeprefix(f"{job.folder}/"): yaml.safe_load(artifact.text)
        for artifact in artifacts
    }


def pod_of(objects: dict[str, Any]) -> dict[str, Any]:
    return objects["job.yaml"]["spec"]["template"]["spec"]


def container_of(objects: dict[str, Any]) -> dict[str, Any]:
    return pod_of(objects)["containers"][0]


def findings(*args: Any, **options: Any) -> list[tuple[str, str, str]]:
    """(code, position, message) of everything that rendering a job says, in reading order."""
    diagnostics = Diagnostics()
    TARGET.render(make_job(*args, **options), diagnostics)
    return [
        (item.code, item.span.location if item.span else "", item.message)
        for item in diagnostics.sorted()
    ]


def _document(text: str, label: str, diagnostics: Diagnostics) -> source.Document:
    documents = source.read_text(text, label, diagnostics)
    assert len(documents) == 1, list(diagnostics)
    return documents[0]
