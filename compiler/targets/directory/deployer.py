"""Observing and changing a folder of rendered files.

State lies in `<out>/.triplane/<set>/<target>/`: one record a run, whose `files` are what the
set owns below `<out>`. Records hold no clock and no host name, so they can be committed.
Order of writing, so that a kill at any point is completed by the next apply: the intent (its
files are the union of old and new), the files, the removal of what is no longer there, the
final record.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable
from pathlib import Path

from compiler.diagnostics import LockHeld, TargetUnreachable, WorkFailed
from compiler.model import Stack, TargetSpec
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.rendering.artifact import Artifact
from compiler.rendering.filetree import FileTree, read_tree, walk
from compiler.rendering.tree import (
    create_only,
    digest_on_disk,
    remove_file,
    write_atomically,
)
from compiler.targets.interface import Capacity, Progress, Step


class DirectoryDeployer:
    """Deploys one target of a stack to the stack's `out` folder."""

    def __init__(self, stack: Stack, target: TargetSpec) -> None:
        self.out = Path(str(target.options.get("out") or stack.out))
        self.target = target.key
        self.state = self.out / ".triplane" / stack.set_name / target.key
        self.keeps_runs = stack.gitops is not None

    def close(self) -> None:
        """Nothing is held between calls."""

    def check(self) -> str:
        """Say where the tree is; raise TargetUnreachable if it could not be written."""
        folder = self.out
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir():
            raise TargetUnreachable(self.target, f"{folder} is not a folder")
        return f"directory {self.out}"

    def capacity(self) -> Capacity | None:
        return None

    def observe(self, with_artifacts: bool = True) -> Observation:
        runs = []
        for path in sorted(self.state.glob("*.json")):
            record = self._read_record(path)
            artifacts = {}
            if with_artifacts:
                artifacts = {
                    relative: (self.out / relative).read_text(encoding="utf-8")
                    for relative in sorted(record.files)
                    if (self.out / relative).is_file()
                }
            runs.append(ObservedRun(record, RunState.WRITTEN, artifacts=artifacts))
        runs.sort(key=lambda run: (run.record.work, run.record.run))
        return Observation(self.target, tuple(runs))

    def lock(self, holder: str) -> None:
        while not create_only(self._lock_file, holder):
            try:
                held_by = self._lock_file.read_text(encoding="utf-8").strip()
            except FileNotFoundError:  # released between the two calls
                continue
            raise LockHeld(
                f"{self.out} is locked by {held_by}; if that apply is gone: triplane unlock"
            )

    def unlock(self) -> None:
        self._lock_file.unlink(missing_ok=True)

    def break_lock(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        try:
            held_by = self._lock_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None
        self.unlock()
        return held_by

    def execute(self, step: Step, progress: Progress) -> Record:
        old = self._record(step.record)
        if step.action == "delete":
            return self._delete(step.record)
        wanted = {artifact.path: artifact for artifact in step.artifacts}
        kept = dict(old.files) if old else {}
        new_files = {path: artifact.digest for path, artifact in wanted.items()}
        self._refuse_foreign(wanted.values(), kept, step.record)
        intent = dataclasses.replace(step.record, stage=Stage.INTENT, files={**kept, **new_files})
        self._write_record(intent)
        for tree in step.uploads:
            self._keep_files(tree, progress)
        for artifact in step.artifacts:
            target = self.out / artifact.path
            if digest_on_disk(target) != artifact.digest:
                write_atomically(target, artifact.text, executable=artifact.executable)
        for path in sorted(set(kept) - set(wanted)):
            remove_file(self.out, path)
        record = dataclasses.replace(step.record, stage=Stage.CREATED, files=new_files)
        self._write_record(record)
        return record

    def cancel(self, run: ObservedRun) -> None:
        raise WorkFailed(f"{self.target}: files are written here, nothing runs to be cancelled")

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterable[str]:
        raise WorkFailed(f"{self.target}: files are written here, nothing runs that has logs")

    @property
    def _lock_file(self) -> Path:
        return self.state.with_name(f"{self.state.name}.lock")

    def _record_path(self, record: Record) -> Path:
        return self.state / f"{record.run_key}.json"

    def _record(self, record: Record) -> Record | None:
        path = self._record_path(record)
        return self._read_record(path) if path.is_file() else None

    def _read_record(self, path: Path) -> Record:
        try:
            return Record.from_json(path.read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            raise WorkFailed(f"{path} cannot be read as a record: {error}") from None

    def _write_record(self, record: Record) -> None:
        write_atomically(self._record_path(record), record.to_json())

    def _delete(self, record: Record) -> Record:
        for path in sorted(record.files):
            remove_file(self.out, path)
        closed = dataclasses.replace(record, stage=Stage.ENDED, outcome=REMOVED, files={})
        if self.keeps_runs:  # its number is never given out again
            self._write_record(closed)
        else:
            self._record_path(record).unlink(missing_ok=True)
        return closed

    def _refuse_foreign(
        self, artifacts: Iterable[Artifact], owned: dict[str, str], record: Record
    ) -> None:
        """A file that no record of this set lists is somebody else's: never overwritten."""
        ours = {
            path for run in self.observe(with_artifacts=False).runs for path in run.record.files
        } | set(owned)
        for artifact in artifacts:
            target = self.out / artifact.path
            found = digest_on_disk(target)
            if artifact.path not in ours and found not in (None, artifact.digest):
                raise WorkFailed(
                    f"{target} exists and does not belong to set {record.set!r}; "
                    "move it away or choose another `out`"
                )

    def _keep_files(self, tree: FileTree, progress: Progress) -> None:
        """Copy a local tree to `.triplane/files/<sha256>/`, once, whole or not at all."""
        if tree.local is None:
            return
        target = self.out / ".triplane" / "files" / tree.digest
        if target.exists():
            return
        source = Path(tree.local)
        if read_tree(source, tree.destination).digest != tree.digest:
            raise WorkFailed(f"{source} changed while it was being applied; plan again")
        progress(f"copy {source}")
        temporary = target.with_name(f"{tree.digest}.tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        if source.is_file():
            shutil.copy2(source, temporary / source.name)
        else:
            for relative in walk(source):
                entry = source / relative
                (temporary / relative).parent.mkdir(parents=True, exist_ok=True)
                if entry.is_dir() and not entry.is_symlink():
                    (temporary / relative).mkdir(exist_ok=True)
                else:
                    shutil.copy2(entry, temporary / relative, follow_symlinks=False)
        temporary.rename(target)
