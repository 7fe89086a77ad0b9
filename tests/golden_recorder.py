"""What the golden cases make use of, seen by running them all in a process of its own.

    python -m tests.golden_recorder

prints one JSON object: `opened`, the files below templates/ and the cases' inputs that were
read; `written`, the files that each case wrote; `jobs`, one entry for each job that a target
rendered: its `kind`, the `fields` that the task and its stack give, and the `losses` that were
reported about it. A fresh process, as texts of templates are kept for the rest of one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests import golden_harness as harness

_WATCHED = (str(harness.TOP / "templates"), str(harness.FOLDER))


def record() -> dict[str, Any]:
    """Run every case; see the module's text for the result."""
    from compiler.model import TargetKind
    from compiler.targets.registry import target_of

    opened: set[str] = set()
    jobs: list[dict[str, Any]] = []
    sys.addaudithook(lambda event, arguments: _watch(event, arguments, opened))
    for kind in TargetKind:
        _record_renders(target_of(kind), jobs)
    written = {}
    for case in harness.cases():
        with tempfile.TemporaryDirectory() as folder:
            outcome = harness.run_case(case, Path(folder) / "out")
        written[case.name] = sorted(outcome.files)
    return {"opened": sorted(opened), "written": written, "jobs": jobs}


def _watch(event: str, arguments: tuple, opened: set[str]) -> None:
    if event != "open" or not isinstance(arguments[0], str):
        return
    path = os.path.abspath(arguments[0])  # noqa: PTH100 (called for every file that is opened)
    if path.startswith(_WATCHED):
        opened.add(os.path.relpath(path, harness.TOP))


def _record_renders(target: Any, jobs: list[dict[str, Any]]) -> None:
    """Have the target write down each job that it renders, with what it says about it."""
    own = type(target).render

    def render(self, job, diagnostics):
        before = len(diagnostics)
        artifacts = own(self, job, diagnostics)
        said = [item.message for item in list(diagnostics)[before:]]
        jobs.append({"kind": self.kind, "fields": sorted(set(_fields(job))), "losses": said})
        return artifacts

    type(target).render = render


def _fields(job: Any) -> Iterator[str]:
    """The names of fields that the job's task gives, and those of the stack's `config`."""
    from compiler.model import GitWorkdir
    from compiler.model.paths import url_scheme

    data, task = job.task.origin.document.data, job.task
    yield from _below(data, "", 3)
    for choice in ("any_of", "ordered"):
        for item in (data.get("resources") or {}).get(choice) or ():
            yield from _below(item, "resources.", 1)
    yield from _below({"config": job.stack.config}, "", 3)
    if job.members:
        yield "group" if job.group is not None else "pipeline"
    if any(name.startswith("SKYPILOT_DOCKER_") for name in (*task.envs, *task.secrets)):
        yield "envs.SKYPILOT_DOCKER_*"
    if isinstance(task.workdir, GitWorkdir):
        yield "workdir (git)"
    if job.volume is not None:
        yield "volume"
    if task.run is None:
        yield "run (absent)"
        if job.resources.autostop is not None:
            yield "resources.autostop (without run)"
    if any(secret.mount_path for secret in task.secrets.values()):
        yield "managed_secrets.mount_path"
    if job.resources.image is not None and job.resources.image.docker:
        yield "resources.image_id (docker)"
    if any(volume.host_path for volume in task.volumes):
        yield "volumes.host_path"
    if any(url_scheme(mount.source) for mount in task.file_mounts):
        yield "file_mounts (URL)"
    if task.storage:
        yield "file_mounts (storage)"
    if job.target.options.get("logs"):
        yield "logs"


def _below(data: Any, prefix: str, depth: int) -> Iterator[str]:
    if isinstance(data, Mapping) and depth:
        for key, value in data.items():
            if value is not None:
                yield f"{prefix}{key}"
                yield from _below(value, f"{prefix}{key}.", depth - 1)


if __name__ == "__main__":
    json.dump(record(), sys.stdout)
