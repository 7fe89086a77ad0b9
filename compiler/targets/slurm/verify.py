"""Checking a rendered sbatch script: directives as sbatch reads them, syntax as bash does."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.slurm import SLURM_SCRIPT
from compiler.model import TargetSpec
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.slurm.directives import MAGIC, Unreadable, header, is_separator
from compiler.targets.slurm.options import parse_version, table

_LIMIT = 4 << 20  # Slurm's default max_script_size
# Patterns start with plain text where they can: that is what makes a search fast.
_DIRECTIVE = re.compile(r"\n#SBATCH .*")
_HEREDOC = re.compile(r"<<'(TRIPLANE_[0-9a-f]+)'(?: \|\| :)?$", re.MULTILINE)
_QUOTED = re.compile(r"'[^']*'")
_FILES = re.compile(r"/files/[0-9a-f]{64}")


def verify(artifact: Artifact, target: TargetSpec) -> Iterator[Diagnostic]:
    """Findings about an SBATCH or SHELL artifact."""
    if artifact.kind is ArtifactKind.SBATCH:
        for fault in _sbatch_faults(artifact.text, target):
            yield _finding(artifact, target, fault)
    if artifact.kind in (ArtifactKind.SBATCH, ArtifactKind.SHELL):
        syntax = syntax_fault(artifact.text)
        if syntax:
            yield _finding(artifact, target, syntax)


def syntax_fault(text: str) -> str | None:
    """What `bash -n` says; None where it is content, or where there is no bash.

    Scripts of one kind differ in quoted words and here-documents, which are data to bash:
    of those that are alike otherwise only the first is parsed.
    """
    shape = _shape(text)
    if shape not in _sound:
        fault = _parse(text)
        if fault is not None:
            return fault
        _sound.add(shape)
    return None


_sound: set[str] = set()


def _shape(text: str) -> str:
    """The script without its data. What breaks out of its quotes is left in, and so is new."""
    script = _DIRECTIVE.sub("", f"\n{text}\n")
    parts = []
    at = 0
    while match := _HEREDOC.search(script, at):
        end = script.find(f"\n{match[1]}\n", match.end())
        if end < 0:
            return text
        parts.append(script[at : match.end()])
        at = end + 1 + len(match[1])
    parts.append(script[at:])
    return _FILES.sub("/files/", _QUOTED.sub("''", "".join(parts)))


def _parse(text: str) -> str | None:
    bash = shutil.which("bash")
    if bash is None:
        return None
    with tempfile.TemporaryFile() as script:  # from a pipe bash reads byte by byte
        script.write(text.encode())
        script.seek(0)
        done = subprocess.run(
            [bash, "--norc", "--noprofile", "-n"], stdin=script, capture_output=True, check=False
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
    lines = text.split("\n")
    try:
        directives = list(header(text))
    except Unreadable as error:
        yield f"a directive cannot be read: {error}"
        return
    for number, words in directives:
        if not words and is_separator(lines[number - 1].removeprefix(MAGIC).strip()):
            seen.clear()  # another component of a heterogeneous job
            continue
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
