"""Paths in a task: URLs, local files, and places on the nodes."""

from __future__ import annotations

import os
import posixpath
import re
from functools import lru_cache
from pathlib import Path as LocalPath

from compiler.diagnostics.codes import model_mounts as codes
from compiler.model.builder import Builder
from compiler.source.paths import Path
from compiler.source.wording import quoted

WORKDIR = "~/sky_workdir"
"""Where the working directory is on every node."""

_url = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")


def url_scheme(text: str) -> str | None:
    """The lower-case scheme of a URL; None for a local path."""
    match = _url.match(text)
    return match[1].lower() if match else None


@lru_cache(maxsize=1024)
def remote_path(text: str) -> str:
    """A path on the nodes in one spelling; relative ones lie below the working directory."""
    if not text.startswith(("/", "~")):
        text = f"{WORKDIR}/{text}"
    return posixpath.normpath(text)


def local_path(b: Builder, text: str) -> LocalPath:
    """The local file or folder that `text` means: `~` expanded, relative to the root."""
    if text == "~" or text.startswith("~/"):
        home = b.environ.get("HOME")
        return LocalPath(home) / text[2:] if home else LocalPath(text).expanduser()
    return LocalPath(b.root or "") / text


def is_there(path: LocalPath) -> bool:
    """Whether there is a file or folder; not where the name is longer than any can be."""
    return os.path.exists(path)  # noqa: PTH110 (pathlib raises for such a name)


def is_folder(path: LocalPath) -> bool:
    """Whether there is a folder; not where the name is longer than any can be."""
    return os.path.isdir(path)  # noqa: PTH112 (pathlib raises for such a name)


def is_file(path: LocalPath) -> bool:
    """Whether there is a regular file; not where the name is longer than any can be."""
    return os.path.isfile(path)  # noqa: PTH113 (pathlib raises for such a name)


def where_relative_paths_start(b: Builder, text: str) -> str | None:
    """A hint for a relative path that leads nowhere."""
    if text.startswith(("/", "~")):
        return None
    start = "in the stack's `root`" if b.root else "in the current folder"
    return f"relative paths start {start}"


def check_local(b: Builder, path: Path, text: str) -> LocalPath | None:
    """The local file or folder; reported and None where files are checked and it is missing."""
    if not b.check_files:
        return None
    local = local_path(b, text)
    if is_there(local):
        return local
    b.report(
        codes.MOUNT_SOURCE_MISSING,
        path,
        f"{quoted(text)} does not exist",
        hint=where_relative_paths_start(b, text),
    )
    return None


def check_no_slash(b: Builder, path: Path, text: str, *, at_key: bool = False) -> None:
    """A path that ends in a slash means nothing more than one without, and SkyPilot refuses it."""
    if text.endswith("/"):
        b.report(
            codes.MOUNT_SLASH,
            path,
            f"{quoted(text)} ends in a slash",
            at_key=at_key,
            hint=f"write {quoted(text.rstrip('/'))}" if text.strip("/") else None,
        )
