"""The records below `<out>/.triplane/`: read, written, and asked whose a file is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compiler.diagnostics import WorkFailed
from compiler.model import names
from compiler.planning.records import Record
from compiler.rendering.tree import write_atomically

STATE = ".triplane"
_CONTENT_FOLDER = re.compile("[0-9a-f]{64}")
_LONGEST_NAME = 200  # file systems take 255 bytes, with the number and what stands behind it


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a file is: a work of a set on a target."""

    set: str
    target: str
    work: str

    def __str__(self) -> str:
        return f"work {self.work!r} of set {self.set!r} on {self.target}"


class RecordStore:
    """The records of one set on one target: `<out>/.triplane/<set>/<target>/<run key>.json`.

    Raise WorkFailed for a record that cannot be understood, OSError for what the disk says.
    """

    def __init__(self, out: Path, set_name: str, target: str) -> None:
        self.out = out
        self.folder = out / STATE / set_name / target
        self.scratch = out / STATE / set_name / f"{target}.tmp"

    def all(self) -> list[Record]:
        """In the order (work, run); none where nothing was ever written."""
        found = [self._read(path) for path in _records_in(self.folder)]
        return sorted(found, key=lambda record: (record.work, record.run))

    def like(self, record: Record) -> Record | None:
        """What is written of the same run."""
        path = self._path(record)
        return self._read(path) if path.is_file() else None

    def write(self, record: Record) -> None:
        write_atomically(self._path(record), record.to_json(), scratch=self.scratch)

    def remove(self, record: Record) -> None:
        self._path(record).unlink(missing_ok=True)

    def owners(self) -> dict[str, set[Owner]]:
        """Everybody whose record lists a path below `out`, over all sets and targets.

        What a record of another set says that cannot be read is not known here; a file that
        differs from what is to be written is not overwritten in any case.
        """
        owned: dict[str, set[Owner]] = {}
        for folder in _folders(self.out / STATE):
            for place in _target_folders(folder):
                for path in _records_in(place):
                    try:
                        record = _parsed(path)
                    except (ValueError, OSError):
                        continue
                    owner = Owner(folder.name, place.name, record.work)
                    for name in record.files:
                        owned.setdefault(name, set()).add(owner)
        return owned

    def _path(self, record: Record) -> Path:
        return self.folder / f"{names.cut(record.work, _LONGEST_NAME)}.{record.run}.json"

    def _read(self, path: Path) -> Record:
        try:
            return _parsed(path)
        except (ValueError, OSError) as error:
            raise WorkFailed(
                f"{path} cannot be read as a record: {error}; restore it, or move it away: what "
                "its run wrote then belongs to nobody"
            ) from None


def recorded_targets(out: Path, set_name: str) -> list[str]:
    """Targets of which a folder holds records of the set, or may hold what cannot be read."""
    folders = _target_folders(out / STATE / set_name)
    return [folder.name for folder in folders if _may_hold_records(folder)]


def _may_hold_records(folder: Path) -> bool:
    try:
        return any(_records_in(folder))
    except OSError:
        return True


def require_inside(paths: Mapping[str, object]) -> None:
    """Raise ValueError for a path that would leave the output folder."""
    for path in paths:
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts or pure.parts[0] == STATE:
            raise ValueError(f"{path!r} is no path of a rendered file")


def _parsed(path: Path) -> Record:
    record = Record.from_json(path.read_text(encoding="utf-8"))
    require_inside(record.files)
    return record


def _records_in(folder: Path) -> Iterator[Path]:
    """Sorted; raise OSError where the folder is there and cannot be read."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return
    for name in names:
        yield folder / name


def _target_folders(folder: Path) -> list[Path]:
    """Without what tasks brought along, which lies in a folder that may be a set's too."""
    return [path for path in _folders(folder) if not _CONTENT_FOLDER.fullmatch(path.name)]


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
