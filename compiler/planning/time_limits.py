"""After how long the platform ends work, as its rendered objects say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import yaml

from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.source.numbers import whole

_SBATCH_TIME = re.compile(r"#SBATCH --time=(\S+)")
_NEXT_COMPONENT = "#SBATCH hetjob"
_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def time_limit(artifacts: Iterable[Artifact], *, in_turn: bool = False) -> int | None:
    """Seconds after which everything has ended; None where something has no limit.

    The parts of a whole run side by side, those of a pipeline (`in_turn`) one after another.
    """
    limits = [limit for artifact in artifacts for limit in _limits(artifact)]
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(limits):
        return None
    return sum(known) if in_turn else max(known)


def sbatch_seconds(text: str) -> int | None:
    """Seconds of sbatch's `--time`: minutes, `m:s`, `h:m:s`, `d-h`, `d-h:m` or `d-h:m:s`.

    `0` and words such as `UNLIMITED` are no limit.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    days, *parts = match.groups()
    numbers = [whole(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, seconds = [*numbers, 0, 0][:3]
    elif len(numbers) == 3:
        hours, minutes, seconds = numbers
    else:
        hours, (minutes, seconds) = 0, [*numbers, 0][:2]
    return ((whole(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds or None


def _limits(artifact: Artifact) -> Iterator[int | None]:
    """One for each part that runs."""
    if artifact.kind is ArtifactKind.SBATCH:
        yield from _of_header(artifact.text)
    elif artifact.name.startswith(("Job/", "JobSet/")):
        if "activeDeadlineSeconds:" not in artifact.text:
            yield None
            return
        manifest = yaml.load(artifact.text, Loader=_LOADER)
        for job in _jobs(manifest):
            yield _of_job(job)


def _of_header(script: str) -> Iterator[int | None]:
    """One limit a component of a heterogeneous job. The header ends where the script begins."""
    limit: int | None = None
    for line in script.splitlines():
        if line and not line.startswith("#"):
            break
        if line == _NEXT_COMPONENT:
            yield limit
            limit = None
        elif (match := _SBATCH_TIME.fullmatch(line)) is not None:
            limit = sbatch_seconds(match[1])
    yield limit


def _jobs(manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The specs of its Jobs."""
    if manifest["kind"] == "Job":
        yield manifest["spec"]
        return
    for replicated in manifest["spec"]["replicatedJobs"]:
        yield replicated["template"]["spec"]


def _of_job(spec: dict[str, Any]) -> int | None:
    """The shorter of the Job's own limit and that of its pods."""
    limits = (
        spec.get("activeDeadlineSeconds"),
        spec["template"]["spec"].get("activeDeadlineSeconds"),
    )
    return min((limit for limit in limits if limit is not None), default=None)
