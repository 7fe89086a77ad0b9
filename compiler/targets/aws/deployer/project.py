"""The folder that the engine runs: the project's own files and the modules of live runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from compiler.model import Stack, TargetSpec
from compiler.rendering.artifact import Artifact
from compiler.targets.aws.deployer.records import Program
from compiler.targets.aws.emit import emit_project
from compiler.targets.pulumi.cli import backend_url, environment
from compiler.targets.pulumi.engine import Engine

PROJECT_KEY = "_project.1"


def relative(path: str) -> str:
    """A path of an artifact as seen from the project's folder."""
    return path.split("/", 2)[2]


def program_of(artifacts: Iterable[Artifact]) -> Program:
    """What is stored of a run: the texts of its artifacts."""
    return Program({relative(artifact.path): artifact.text for artifact in artifacts})


def project_files(stack: Stack, target: TargetSpec) -> dict[str, str]:
    """The project's own files as this version renders them."""
    return {relative(item.path): item.text for item in emit_project(stack, target)}


@contextmanager
def engine_over(
    stack: Stack,
    target: TargetSpec,
    project: Mapping[str, str],
    runs: Mapping[str, Program],
    released: Sequence[str] = (),
) -> Iterator[Engine]:
    """The engine over a folder with `project` and the programs of `runs` (by job name).

    `released` are the names of volumes that may be deleted.
    """
    variables = environment(backend_url(stack, target))
    with tempfile.TemporaryDirectory(prefix="triplane-") as name:
        folder = Path(name)
        for files in (project, *(program.files for program in runs.values())):
            for path, text in files.items():
                place = folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode())
        images = {name: program.image for name, program in sorted(runs.items()) if program.image}
        values = {"images": images, "released": list(released)}
        _configure(folder / f"Pulumi.{stack.set_name}.yaml", values)
        yield Engine(target.key, folder, stack.set_name, variables)


def _configure(settings: Path, values: Mapping[str, object]) -> None:
    """Adds what is known of runs and volumes to the stack's configuration."""
    given = {f"triplane:{key}": value for key, value in values.items() if value}
    if not given:
        return
    body = yaml.safe_load(settings.read_text(encoding="utf-8"))
    body["config"].update(given)
    settings.write_text(yaml.safe_dump(body, sort_keys=True), encoding="utf-8")
