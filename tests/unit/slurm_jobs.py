"""Jobs for the tests of the Slurm target, from YAML as users write it."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import Diagnostics
from compiler.model.build_stack import build_stack
from compiler.model.build_task import build_task
from compiler.rendering.filetree import FileTree
from compiler.source import read_text
from compiler.targets.interface import Job
from compiler.targets.slurm import TARGET

STACK = """\
set: {name: demo, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
"""
DIGEST = "0123456789abcdef" * 4


def make_job(task: str, stack: str = STACK, *, run: int = 1, trees: Sequence[FileTree] = ()) -> Job:
    """Run `run` of the task, placed by its first candidate on the stack's first target."""
    found = Diagnostics()
    built_stack = build_stack(read_text(stack, "stack.yaml", found)[0], found)
    built = build_task(read_text(task, "task.yaml", found)[0], found, environ={})
    assert built is not None and built_stack is not None, [item.message for item in found]
    return Job(
        stack=built_stack,
        target=next(iter(built_stack.targets.values())),
        task=built,
        work=built.name or "task",
        resources=built.resources.candidates[0],
        run=run,
        spec_digest=DIGEST,
        files_digest=DIGEST,
        trees=tuple(trees),
    )


def render(job: Job) -> tuple[str, Diagnostics]:
    """The script (empty where none was made) and what was said about it; verified."""
    found = Diagnostics()
    artifacts = TARGET.render(job, found)
    for artifact in artifacts:
        found.extend(TARGET.verify(artifact, job.target))
    return "".join(artifact.text for artifact in artifacts), found


def script(task: str, stack: str = STACK, **settings) -> str:
    """The script of a task that renders without a word."""
    text, found = render(make_job(task, stack, **settings))
    assert not list(found), [(item.code, item.message) for item in found]
    return text


def directives(text: str) -> dict[str, str]:
    """Option -> the rest of its line, as written."""
    lines = [line.removeprefix("#SBATCH --") for line in text.split("\n") if "#SBATCH --" in line]
    return {line.split("=", 1)[0]: line.partition("=")[2] for line in lines}
