"""Observing and changing a folder of rendered files.

State lies in `<out>/.triplane/<set>/<target>/`: one record a run, whose `files` are what the
set owns below `<out>`. Records hold no clock and no host name, so they can be committed.
Order of writing, so that a kill at any point is completed by the next apply: the intent (its
files are the union of old and new), the files, the removal of what is no longer there, the
final record. Half-written files lie in `<out>/.triplane/<set>/<target>.tmp/` until they are
whole, so that manifest folders only ever hold manifests.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from compiler.diagnostics import TargetUnreachable, WorkFailed
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Stack, TargetKind, TargetSpec
from compiler.planning.changes import Preview
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.rendering.artifact import Artifact
from compiler.rendering.tree import (
    digest_on_disk,
    remove_file,
    text_on_disk,
    why_no_folder,
    write_atomically,
)
from compiler.targets.directory.locking import LockFile
from compiler.targets.directory.store import Owner, RecordStore, require_inside
from compiler.targets.directory.uploads import keep_files
from compiler.targets.interface import Capacity, PreviewRefused, Progress, Step

_UNFINISHED = "the apply that wrote it did not finish"
_MOVE_IT = "move it away or choose another `out`"


class DirectoryDeployer:
    """Deploys one target of a stack to the stack's `out` folder."""

    def __init__(self, stack: Stack, target: TargetSpec) -> None:
        self.out = Path(str(target.options.get("out") or stack.out))
        self.target = target.key
        self.set_name = stack.set_name
        self.keeps_runs = stack.gitops is not None
        self.store = RecordStore(self.out, stack.set_name, target.key)
        # On Kubernetes what a task brings along is in its manifests.
        self._brings_files = target.kind is not TargetKind.KUBERNETES
        self._lock = LockFile(self.store.folder.with_name(f"{target.key}.lock"))
        self._owners: dict[str, set[Owner]] | None = None

    def close(self) -> None:
        """Nothing is held between calls."""

    def check(self) -> str:
        """Say where the tree is; raise TargetUnreachable if it could not be written."""
        why = why_no_folder(self.out)
        if why is not None:
            raise TargetUnreachable(self.target, why)
        return f"directory {self.out}"

    def capacity(self) -> Capacity | None:
        return None

    def observe(self, with_artifacts: bool = True) -> Observation:
        runs = []
        self._owners = None
        try:
            for record in self.store.all():
                texts = self._texts(record) if with_artifacts else {}
                said = _UNFINISHED if record.stage is Stage.INTENT else ""
                runs.append(ObservedRun(record, RunState.WRITTEN, said, artifacts=texts))
        except OSError as error:
            raise TargetUnreachable(self.target, _words(error)) from None
        return Observation(self.target, tuple(runs))

    def preview(self, artifacts: tuple[Artifact, ...]) -> Preview:
        """Nothing defaults a file; raise PreviewRefused where one could not be written.

        Whose the files are was read at the last look, once for all works of a plan.
        """
        why = why_no_folder(self.out)
        if why is not None:
            said = [codes.OUTPUT_FOLDER.at(None, why, target=self.target)]
            places = [(artifact.path, "") for artifact in artifacts[:1]]
            raise PreviewRefused(f"{self.target}: {why}", said, places)
        owners = self._all_owners()
        taken = []
        for artifact in artifacts:
            here = owners.get(artifact.path, set())
            foreign = [item for item in here if (item.set, item.target) != self._place]
            if foreign:
                taken.append((artifact.path, f"belongs to {_first(foreign)}"))
            elif (why := self._why_taken(artifact, is_ours=bool(here))) is not None:
                taken.append((artifact.path, why))
        if taken:
            said = [
                codes.PATH_TAKEN.at(
                    None, f"{self.out / path} {why}", hint=_MOVE_IT, target=self.target
                )
                for path, why in taken
            ]
            places = [(path, "") for path, _ in taken]
            raise PreviewRefused(f"{self.target}: files are somebody else's", said, places)
        return Preview()

    def lock(self, holder: str) -> None:
        why = why_no_folder(self.out)
        if why is not None:
            raise WorkFailed(f"{self.target}: {why}")
        with self._failing():
            self._lock.take(holder, f"{self.target}: set {self.set_name!r} in {self.out}")
            # Whatever lies there is from an apply that was killed.
            shutil.rmtree(self.store.scratch, ignore_errors=True)
        self._owners = None

    def unlock(self) -> None:
        if self._lock.is_held:
            shutil.rmtree(self.store.scratch, ignore_errors=True)
        self._owners = None
        with self._failing():
            self._lock.release()

    def break_lock(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        with self._failing():
            return self._lock.break_it()

    def execute(self, step: Step, progress: Progress) -> Record:
        with self._failing():
            if step.action == "delete":
                return self._delete(step.record)
            return self._write(step, progress)

    def cancel(self, run: ObservedRun) -> None:
        raise WorkFailed(f"{self.target}: files are written here, nothing runs to be cancelled")

    def logs(self, run: ObservedRun, *, follow: bool, tail: int | None) -> Iterable[str]:
        raise WorkFailed(f"{self.target}: files are written here, nothing runs that has logs")

    def _texts(self, record: Record) -> dict[str, str]:
        found = ((path, text_on_disk(self.out / path)) for path in sorted(record.files))
        return {path: text for path, text in found if text is not None}

    def _write(self, step: Step, progress: Progress) -> Record:
        old = self.store.like(step.record)
        wanted = {artifact.path: artifact for artifact in step.artifacts}
        kept = dict(old.files) if old else {}
        new_files = {path: artifact.digest for path, artifact in wanted.items()}
        require_inside(new_files)
        owner = Owner(self.set_name, self.target, step.record.work)
        self._refuse_foreign(wanted, owner)
        intent = dataclasses.replace(step.record, stage=Stage.INTENT, files={**kept, **new_files})
        self._record(intent, owner)
        if self._brings_files:
            for tree in step.uploads:
                keep_files(self.out, tree, self.store.scratch, progress)
        for artifact in step.artifacts:
            place = self.out / artifact.path
            if digest_on_disk(place) != artifact.digest:
                write_atomically(
                    place,
                    artifact.text,
                    executable=artifact.executable,
                    scratch=self.store.scratch,
                )
        self._remove(set(kept) - set(wanted), owner)
        record = dataclasses.replace(step.record, stage=Stage.CREATED, files=new_files)
        self._record(record, owner)
        return record

    def _delete(self, record: Record) -> Record:
        """The record turns into an intent first, so that the same plan knows what it began."""
        old = self.store.like(record) or record
        begun = dataclasses.replace(old, stage=Stage.INTENT, plan=record.plan)
        owner = Owner(self.set_name, self.target, record.work)
        self._record(begun, owner)
        self._remove(old.files, owner)
        closed = dataclasses.replace(begun, stage=Stage.ENDED, outcome=REMOVED, files={})
        if self.keeps_runs and not record.work.startswith("_"):
            self.store.write(closed)  # its number is never given out again
        else:
            self.store.remove(record)
        return closed

    def _record(self, record: Record, owner: Owner) -> None:
        self.store.write(record)
        owners = self._all_owners()
        for path in record.files:
            owners.setdefault(path, set()).add(owner)

    def _remove(self, paths: Iterable[str], owner: Owner) -> None:
        """Remove files that are this work's alone, and none that a link leads to elsewhere."""
        owners = self._all_owners()
        for path in sorted(paths):
            others = owners.get(path, set()) - {owner}
            if not others and self._is_inside(path):
                remove_file(self.out, path)
            owners[path] = others

    def _refuse_foreign(self, wanted: Mapping[str, Artifact], owner: Owner) -> None:
        """A file that is somebody else's is never overwritten, nor taken over."""
        owners = self._all_owners()
        for path, artifact in wanted.items():
            here = owners.get(path, set())
            if here - {owner}:
                raise WorkFailed(f"{self.out / path} belongs to {_first(here - {owner})}")
            why = self._why_taken(artifact, is_ours=bool(here))
            if why is not None:
                raise WorkFailed(f"{self.out / path} {why}; {_MOVE_IT}")

    def _why_taken(self, artifact: Artifact, *, is_ours: bool) -> str | None:
        place = self.out / artifact.path
        if not self._is_inside(artifact.path):
            return "lies behind a link that leads out of the folder"
        if place.is_dir():
            return "is a folder"
        if not is_ours and digest_on_disk(place) not in (None, artifact.digest):
            return f"exists and does not belong to set {self.set_name!r}"
        return None

    @property
    def _place(self) -> tuple[str, str]:
        return self.set_name, self.target

    def _is_inside(self, path: str) -> bool:
        """Whether the folder of a path is below `out` once links are followed."""
        folder = Path(os.path.realpath((self.out / path).parent))
        return folder.is_relative_to(os.path.realpath(self.out))

    def _all_owners(self) -> dict[str, set[Owner]]:
        if self._owners is None:
            self._owners = self.store.owners()
        return self._owners

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What the disk refuses is a failure of the work, with a message for people."""
        try:
            yield
        except OSError as error:
            raise WorkFailed(f"{self.target}: {_words(error)}") from None
        except ValueError as error:
            raise WorkFailed(f"{self.target}: {error}") from None


def _first(owners: Iterable[Owner]) -> Owner:
    return min(owners, key=str)


def _words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"
