"""Checking a rendered sbatch script: directives as sbatch reads them, syntax as bash does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.slurm import SLURM_SCRIPT
from compiler.model import TargetSpec
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.slurm.directives import Unreadable, header
from compiler.targets.slurm.options import parse_version, table

_LIMIT = 4 << 20  # Slurm's default max_script_size
_SECONDS = 20


def verify(artifact: Artifact, target: TargetSpec) -> Iterator[Diagnostic]:
    """Findings about an SBATCH or SHELL artifact."""
    if artifact.kind is ArtifactKind.SBATCH:
        for fault in _sbatch_faults(artifact.text, target):
            yield _finding(artifact, target, fault)
    if artifact.kind in (ArtifactKind.SBATCH, ArtifactKind.SHELL):
        fault = syntax_fault(artifact.text)
        if fault:
            yield _finding(artifact, target, fault)


def syntax_fault(text: str) -> str | None:
    """What `bash -n` says; None where it is content, or where there is no bash."""
    bash = shutil.which("bash")
    if bash is None:
        return None
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-n"],
        input=text.encode(),
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode == 0 and not done.stderr:
        return None
    return done.stderr.decode("utf-8", "replace").strip() or f"bash -n: {done.returncode}"


def _sbatch_faults(text: str, target: TargetSpec) -> Iterator[str]:
    if not text.startswith("#!"):
        yield "the first line is no `#!`"
    if "\r\n" in text:
        yield "a DOS line break, which sbatch refuses anywhere in a script"
    if len(text.encode()) > _LIMIT:
        yield "more than 4 MiB, which slurmctld refuses by default"
    seen: dict[str, int] = {}
    version = parse_version(target.version)
    try:
        directives = list(header(text))
    except Unreadable as error:
        yield f"a directive cannot be read: {error}"
        return
    for number, words in directives:
        if len(words) != 1 or not words[0].startswith("--"):
            yield f"line {number}: {len(words)} words where one option is meant"
            continue
        name, has_value, _ = words[0].removeprefix("--").partition("=")
        option = table().get(name)
        if option is None or not option.exists_in(version):
            yield f"line {number}: no option `--{name}`"
        elif option.argument != "optional" and bool(has_value) != (option.argument == "required"):
            yield f"line {number}: `--{name}` with the wrong kind of value"
        if name in seen:
            yield f"line {number}: `--{name}` again, after line {seen[name]}"
        seen.setdefault(name, number)
    if not directives:
        yield "no directives"


def _finding(artifact: Artifact, target: TargetSpec, fault: str) -> Diagnostic:
    return SLURM_SCRIPT.at(None, f"{artifact.path}: {fault}", target=target.key)
