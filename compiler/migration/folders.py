"""Many scripts: which files of a folder are scripts, where each result goes, and all at once.

Work is spread over processes in small parts; only so many are under way that memory stays
bounded. A file that breaks a process is tried again alone, and counts as unreadable then.
"""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path, PurePosixPath

from compiler.diagnostics.codes.migration import EXISTS, UNREADABLE
from compiler.migration.migrating import KEPT, kept_name, migrate
from compiler.migration.result import Migration, Note, Status
from compiler.migration.settings import AT_SCRIPT, Settings

LARGEST = 4 << 20
_PART = 16
_AHEAD = 4
_FEW = 40
_MAGIC = (b"#SBATCH", b"#SLURM")
_CHAIN = re.compile(rb"^[^#\n]*\bsbatch\b[^\n]*\s(?:--dep|-d)", re.MULTILINE)
"""What a driver has that submits scripts which wait for one another."""
_TALK = frozenset(
    {".md", ".markdown", ".rst", ".adoc", ".tex", ".html", ".htm", ".ipynb", ".yaml", ".yml"}
    | {".json", ".csv", ".pdf", ".log", ".out", ".patch", ".diff"}
)
"""Files that show scripts and are none; they are read where they are named."""

_HEAD = 1 << 16
_OVERLONG = re.compile(rb"[0-9]{4000}")
"""Python refuses to make a number of much more, and no directive means one."""


@dataclass(frozen=True, slots=True)
class Job:
    """A script to migrate: `path` as shown, `yaml` the file to write (None: none) below `out`."""

    path: str
    yaml: str | None = None
    out: str = ""


def discover(paths: Iterable[str]) -> Iterator[str]:
    """Every script at the paths: files that are named, and in folders whatever has directives,
    documentation and data apart."""
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                found = Path(folder, name)
                if name.startswith(".") or found.suffix.lower() in _TALK:
                    continue
                if _has_directives(found):
                    yield str(found)


def _has_directives(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        with path.open("rb") as file:
            data = file.read(_HEAD)
    except OSError:
        return True  # it will be reported
    if b"\0" in data[:1024]:
        return False
    if any(magic in data for magic in _MAGIC):
        return True
    return b"sbatch" in data and _CHAIN.search(data) is not None


def place(scripts: Sequence[str], roots: Sequence[str], out: str | None) -> list[Job]:
    """Where each result goes: below `out` as the script below its root, one file a script."""
    if out is None:
        return [Job(path) for path in scripts]
    folders = [root.rstrip("/") for root in roots if Path(root).is_dir()]
    relative = {path: _below(path, folders) for path in scripts}
    stems = Counter(_yaml(name) for name in relative.values())
    jobs = []
    for path, name in relative.items():
        yaml = _yaml(name)
        jobs.append(Job(path, f"{out}/{yaml if stems[yaml] == 1 else f'{name}.yaml'}", out))
    return jobs


def _below(path: str, folders: Sequence[str]) -> str:
    for folder in folders:
        if path.startswith(f"{folder}/"):
            return path[len(folder) + 1 :]
    return PurePosixPath(path).name


def _yaml(name: str) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(f"{path.stem or path.name}.yaml"))


def one(job: Job, settings: Settings) -> Migration:
    """Read, migrate, and write what is to be written; whatever happens, there is a result."""
    try:
        return _one(job, settings)
    except OSError as error:
        return unreadable(job.path, settings, error.strerror or str(error))
    except Exception as error:  # noqa: BLE001 (one bad file never stops the rest, and is reported)
        return unreadable(job.path, settings, f"internal error: {type(error).__name__}: {error}")


def _one(job: Job, settings: Settings) -> Migration:
    path = Path(job.path)
    if not path.is_file():
        return unreadable(
            job.path, settings, "it is no file" if path.exists() else "it is not there"
        )
    if path.stat().st_size > LARGEST:
        return unreadable(job.path, settings, "it is larger than the 4 MiB that slurmctld takes")
    if settings.submit_folder == AT_SCRIPT:
        settings = replace(settings, submit_folder=str(path.absolute().parent))
    data = path.read_bytes()
    if _OVERLONG.search(data):
        return unreadable(job.path, settings, "a number in it has thousands of digits")
    migration = migrate(data, job.path, settings, look=_look)
    if job.yaml is not None and migration.yaml is not None:
        migration = write(migration, Path(job.yaml), job.out, settings.existing)
    return migration


def _look(path: str) -> bytes | None:
    """Another script, which a chain of submissions names."""
    found = Path(path)
    try:
        return found.read_bytes() if found.is_file() and found.stat().st_size <= LARGEST else None
    except OSError:
        return None


def smoke_place(yaml: Path, out: str) -> Path:
    """Where the variant of a task lies: in a folder of its own, which no set takes by mistake."""
    root = Path(out)
    named = root.name not in ("", "..")
    folder = root.with_name(f"{root.name}-smoke") if named else root / "smoke"
    return folder / yaml.relative_to(root)


def write(migration: Migration, yaml: Path, out: str, existing: str = "keep") -> Migration:
    """Write the YAML below `out`, beside it the script where it was changed, and the variant to
    try first.

    `existing` says what becomes of a file that is there and says something else: it is left
    (`keep`), brought up to date (`update`), or replaced (`overwrite`).
    """
    assert migration.yaml is not None
    yaml.parent.mkdir(parents=True, exist_ok=True)
    script = yaml.with_suffix(KEPT)
    text = migration.yaml
    small = migration.smoke
    if migration.script is not None:
        text = _with_script(text, kept_name(migration.path), str(script))
        small = small and _with_script(small, kept_name(migration.path), str(script))
        migration = replace(migration, yaml=text, smoke=small)
    there = yaml.read_text(encoding="utf-8") if yaml.is_file() else None
    if there is not None and there != text and existing != "overwrite":
        text, notes = _beside(there, migration, yaml, existing)
        migration = replace(migration, notes=(*migration.notes, *notes))
        if text == there:
            return migration
    if migration.script is not None:
        script.write_bytes(migration.script)
    yaml.write_text(text, encoding="utf-8")
    if small is not None:
        first = smoke_place(yaml, out)
        first.parent.mkdir(parents=True, exist_ok=True)
        first.write_text(small, encoding="utf-8")
    return replace(migration, yaml=text)


def _beside(
    there: str, migration: Migration, yaml: Path, existing: str
) -> tuple[str, tuple[Note, ...]]:
    """(the text that the file is to have, what is to be said)."""
    if existing == "update":
        from compiler.migration.existing import updated

        return updated(there, migration, str(yaml))
    text = f"{yaml} exists and says something else: it is left as it is"
    return there, (Note(None, EXISTS.name, text, EXISTS.fix),)


def _with_script(text: str, before: str, after: str) -> str:
    """The YAML with the path of the script that was written."""
    from compiler.migration.composing import scalar

    return text.replace(f"native_script: {scalar(before)}", f"native_script: {scalar(after)}", 1)


def unreadable(path: str, settings: Settings, why: str) -> Migration:
    note = Note(None, UNREADABLE.name, why, UNREADABLE.fix)
    return Migration(path, Status.UNREADABLE, settings.target, notes=(note,))


def run(jobs: Sequence[Job], settings: Settings, workers: int) -> Iterator[Migration]:
    """The results in the order of the jobs. With one worker, or few scripts, in this process."""
    if workers <= 1 or len(jobs) < _FEW:
        yield from (one(job, settings) for job in jobs)
        return
    parts = [jobs[at : at + _PART] for at in range(0, len(jobs), _PART)]
    waiting = deque(parts)
    while waiting:
        broken = yield from _pool(waiting, settings, workers)
        for job in broken:
            yield _alone(job, settings)


def _pool(
    waiting: deque[Sequence[Job]], settings: Settings, workers: int
) -> Generator[Migration, None, Sequence[Job]]:
    """Work through the parts; returns the part at which a process died."""
    flying: deque[tuple[Sequence[Job], Future[list[Migration]]]] = deque()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        while waiting or flying:
            while waiting and len(flying) < workers * _AHEAD:
                part = waiting.popleft()
                flying.append((part, pool.submit(_part, part, settings)))
            part, future = flying.popleft()
            try:
                yield from future.result()
            except BrokenProcessPool:
                waiting.extendleft(later for later, _ in reversed(flying))
                return part
    return ()


def _part(jobs: Sequence[Job], settings: Settings) -> list[Migration]:
    return [one(job, settings) for job in jobs]


def _alone(job: Job, settings: Settings) -> Migration:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(one, job, settings).result()
        except BrokenProcessPool:
            return unreadable(job.path, settings, "reading it ended the process")
