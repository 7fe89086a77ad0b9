"""Jobs for the Kubernetes tests, made of YAML texts as the program reads them."""

from __future__ import annotations

from compiler import model, source
from compiler.diagnostics import Diagnostics
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Job

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
    assert not diagnostics.has_errors, [
        (item.code, item.message) for item in diagnostics.sorted()
    ]
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


def _document(text: str, label: str, diagnostics: Diagnostics) -> source.Document:
    documents = source.read_text(text, label, diagnostics)
    assert len(documents) == 1, list(diagnostics)
    return documents[0]
