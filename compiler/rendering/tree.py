"""Files on disk: written whole or not at all, read as the bytes that they are."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from compiler.rendering.artifact import Artifact
from compiler.source.reading import shown_path
from compiler.source.wording import quoted


def write_atomically(
    path: Path,
    text: str,
    *,
    executable: bool = False,
    scratch: Path | None = None,
    durable: bool = True,
) -> None:
    """Replace the file at `path` in one step; a reader sees the old text or the new one.

    The half-written file lies in `scratch` (on the same file system), by default beside `path`.
    With `durable` the new text is on the disk before the old one goes. Raise OSError, which
    names `path` whatever went wrong.
    """
    folder = scratch or path.parent
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".triplane-", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(text)
                if durable:
                    stream.flush()
                    os.fsync(stream.fileno())
            Path(temporary).chmod(0o755 if executable else 0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _named(error, path) from None


def why_no_folder(folder: Path, *, writable: bool = True) -> str | None:
    """Why nothing can be written below a folder that may yet have to be made; None if it can."""
    there = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay as they are written)
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    where = quoted(shown_path(there))
    if not there.is_dir():
        kind = "a file" if there.exists() else "a link that leads nowhere"
        return f"{where} is {kind}, and no folder"
    if writable and not os.access(there, os.W_OK | os.X_OK):
        return f"the folder {where} cannot be written to"
    return None


def write_tree(out: Path, artifacts: Iterable[Artifact]) -> list[str]:
    """Write all artifacts below `out`; returns the paths whose content changed."""
    changed = []
    for artifact in artifacts:
        target = out / artifact.path
        if digest_on_disk(target) == artifact.digest:
            continue
        write_atomically(target, artifact.text, executable=artifact.executable, durable=False)
        changed.append(artifact.path)
    return changed


def digest_on_disk(path: Path) -> str | None:
    """The `Artifact.digest` of what lies at `path`, None if no file does."""
    try:
        content = path.read_bytes()
        executable = path.stat().st_mode & 0o100
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return hashlib.sha256((b"x" if executable else b"-") + content).hexdigest()


def text_on_disk(path: Path) -> str | None:
    """What lies at `path` with its line ends as they are, None if no file does.

    Bytes that are not UTF-8 show as U+FFFD: such a text equals none that was rendered.
    """
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def remove_file(out: Path, relative: str) -> None:
    """Remove one file below `out` and the folders that it leaves empty."""
    path = out / relative
    try:
        path.unlink(missing_ok=True)
    except NotADirectoryError:  # one of its folders is a file now: it is gone already
        return
    for folder in path.parents:
        if folder == out or not folder.is_relative_to(out):
            break
        try:
            folder.rmdir()
        except OSError:
            break


def _named(error: OSError, path: Path) -> OSError:
    """The same error about `path`, not about a temporary file that nobody knows."""
    return type(error)(error.errno, error.strerror or str(error), str(path))
