"""Records of runs on a cluster: reading them, finding lost ones again, closing them."""

from __future__ import annotations

import dataclasses
import io
import re
import shlex
import tarfile
from collections.abc import Iterable, Mapping

from compiler.diagnostics import WorkFailed
from compiler.model import names
from compiler.planning.records import Record, Stage
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.slurm.deployer.states import Verdict

SCRIPT = "job.sbatch"
# The folders of a pipeline's tasks in its run folder, in order, one a line.
PARTS = "parts"
# Stands for the job's id in a record that is sent together with the script.
JOB_ID = "@JOB_ID@"

_DIGEST = re.compile(r"[0-9a-f]{1,8}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclasses.dataclass(frozen=True, slots=True)
class JobName:
    """`<set>.<work>.<run>.<digest8>` taken apart; only the work may have dots in it."""

    work: str
    run: int
    digest: str

    @property
    def run_key(self) -> str:
        return f"{self.work}.{self.run}"


def parse_job_name(set_name: str, name: str) -> JobName | None:
    """None for a name that is not one of this set's."""
    if not name.startswith(f"{set_name}."):
        return None
    parts = name.removeprefix(f"{set_name}.").rsplit(".", 2)
    if len(parts) != 3 or not parts[0]:
        return None
    work, run, digest = parts
    if not run.isdigit() or run.startswith("0") or not _DIGEST.fullmatch(digest):
        return None
    return JobName(work, int(run), digest)


def parse_run_key(key: str) -> tuple[str, int] | None:
    work, _, run = key.rpartition(".")
    return (work, int(run)) if work and run.isdigit() else None


def read(text: str, target: str, key: str) -> Record:
    """Raise WorkFailed for what is no record: it may be the only trace of a job."""
    try:
        return Record.from_json(text)
    except ValueError as error:
        raise WorkFailed(f"{target}: the record {key}.json cannot be read: {error}") from None


def restored(
    set_name: str, target: str, key: str, copy: str | None, job_name: str | None
) -> Record | None:
    """The record of a run whose own is lost: its copy, else what the job's name says.

    The name holds the first digits of the spec digest; the files digest is then empty.
    """
    if copy is not None:
        try:
            return dataclasses.replace(Record.from_json(copy), stage=Stage.CREATED)
        except ValueError:
            copy = None
    named = parse_job_name(set_name, job_name or "")
    work_and_run = (named.work, named.run) if named else parse_run_key(key)
    if work_and_run is None:
        return None
    return Record(
        set=set_name,
        work=work_and_run[0],
        run=work_and_run[1],
        target=target,
        kind="slurm",
        name=job_name if named and job_name else "",
        spec_digest=named.digest if named else "",
        files_digest="",
        stage=Stage.CREATED,
    )


def closed(record: Record, verdict: Verdict) -> Record:
    """The record of a run that has ended as the verdict says."""
    return dataclasses.replace(
        record, stage=Stage.ENDED, outcome=str(verdict.state), exit_code=verdict.exit_code
    )


def reopened(record: Record) -> Record:
    """The record of a run that is (again) in the queue."""
    return dataclasses.replace(record, stage=Stage.CREATED, outcome=None, exit_code=None)


def file_name(artifact: Artifact) -> str:
    """Where the artifact lies in the run folder: a pipeline's script in that of its task."""
    place = artifact.path.split("/", 3)[-1]
    if artifact.kind is ArtifactKind.SBATCH:
        return "/".join((*place.split("/")[:-1], SCRIPT))
    return place


def live_texts(record: Record, texts: Mapping[str, str]) -> dict[str, str]:
    """The run folder's texts by the artifacts' paths."""
    if not record.files:
        label = names.run_label(record.set, record.work, record.run)
        path = f"slurm/{record.target}/{label}/{SCRIPT}"
        return {path: texts[SCRIPT]} if SCRIPT in texts else {}
    found = {}
    for path in record.files:
        place = path.split("/", 3)[-1]
        if place not in texts and place.endswith(".sbatch"):
            place = SCRIPT
        if place in texts:
            found[path] = texts[place]
    return found


def archive(
    record: Record, artifacts: Iterable[Artifact], secrets: Mapping[str, str] | None = None
) -> bytes:
    """The gzipped tar that submit.sh and update.sh take: record.json, run/, secrets.env."""
    artifacts = tuple(artifacts)
    parts = [name.removesuffix(f"/{SCRIPT}") for name in map(file_name, artifacts) if "/" in name]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        add(tar, "record.json", record.to_json(), 0o644)
        for artifact in artifacts:
            mode = 0o755 if artifact.executable else 0o644
            add(tar, f"run/{file_name(artifact)}", artifact.text, mode)
        if parts:
            add(tar, f"run/{PARTS}", "".join(f"{part}\n" for part in parts), 0o644)
        if secrets:
            add(tar, "secrets.env", secret_lines(secrets), 0o600)
    return buffer.getvalue()


def secret_lines(secrets: Mapping[str, str]) -> str:
    """`export NAME='value'` lines for bash. Raise WorkFailed for a name that cannot be one."""
    for name in secrets:
        if not _VARIABLE.fullmatch(name):
            raise WorkFailed(f"secret {name!r} cannot be the name of a variable")
    return "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in sorted(secrets.items())
    )


def add(tar: tarfile.TarFile, name: str, text: str, mode: int) -> None:
    """Put a text into an archive, without a time or an owner."""
    content = text.encode()
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mode = mode
    tar.addfile(member, io.BytesIO(content))
