"""From jobs to what their program registers, in one call."""

from __future__ import annotations

import json
from pathlib import Path

from compiler.diagnostics import Diagnostics
from compiler.rendering.artifact import Artifact
from compiler.targets.aws import TARGET
from compiler.targets.interface import Job
from tests.aws.mocks import Project, run_project, write_project
from tests.aws.validation import faults


def artifacts_of(*jobs: Job) -> list[Artifact]:
    """Everything rendered for jobs of one stack and target; it must be free of errors."""
    diagnostics = Diagnostics()
    rendered = [artifact for item in jobs for artifact in TARGET.render(item, diagnostics)]
    rendered += TARGET.project(jobs[0].stack, jobs[0].target)
    assert not diagnostics.has_errors, diagnostics.sorted()
    for artifact in rendered:
        assert list(TARGET.verify(artifact, jobs[0].target)) == []
    return rendered


def run(folder: Path, *jobs: Job, **settings: object) -> Project:
    """Render, write and execute a project whose inputs all fit the SDK's annotations."""
    project = run_project(write_project(folder, artifacts_of(*jobs)), **settings)
    assert faults(project) == []
    return project


def scripts(project: Project) -> dict[str, str]:
    """File name -> text of the objects that nodes fetch."""
    return {
        item.inputs["key"].rpartition("/")[2]: item.inputs["content"]
        for item in project.of("BucketObjectv2")
    }


def statements(project: Project) -> list[dict]:
    return json.loads(project.one("RolePolicy").inputs["policy"])["Statement"]
