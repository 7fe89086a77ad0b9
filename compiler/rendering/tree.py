"""Writing a tree of artifacts: each file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from compiler.rendering.artifact import Artifact


def write_atomically(path: Path, text: str, *, executable: bool = False) -> None:
    """Replace the file at `path` in one step; a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".triplane-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o755 if executable else 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def create_only(path: Path, text: str) -> bool:
    """Write `text` to a file that must not exist yet; False if it does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".triplane-", suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
        stream.write(text)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        Path(temporary).unlink()
    return True


def write_tree(out: Path, artifacts: Iterable[Artifact]) -> list[str]:
    """Write all artifacts below `out`; returns the paths whose content changed."""
    changed = []
    for artifact in artifacts:
        target = out / artifact.path
        if target.is_file() and digest_on_disk(target) == artifact.digest:
            continue
        write_atomically(target, artifact.text, executable=artifact.executable)
        changed.append(artifact.path)
    return changed


def digest_on_disk(path: Path) -> str | None:
    """The `Artifact.digest` of what lies at `path`, None if nothing does."""
    import hashlib

    try:
        content = path.read_bytes()
        executable = path.stat().st_mode & 0o100
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    return hashlib.sha256((b"x" if executable else b"-") + content).hexdigest()


def remove_file(out: Path, relative: str) -> None:
    """Remove one file below `out` and the folders that it leaves empty."""
    path = out / relative
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == out or not folder.is_relative_to(out):
            break
        try:
            folder.rmdir()
        except OSError:
            break
