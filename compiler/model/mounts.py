"""`workdir` and `file_mounts`: local paths, git, URLs, storage objects."""

from __future__ import annotations

import re

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_mounts as codes
from compiler.diagnostics.codes.model import URL_HOLDS_SECRET
from compiler.model.buckets import build_storage
from compiler.model.builder import Builder
from compiler.model.paths import (
    WORKDIR,
    check_local,
    check_no_slash,
    is_folder,
    is_there,
    local_path,
    remote_path,
    url_scheme,
    where_relative_paths_start,
)
from compiler.model.storage import FileMount, GitWorkdir, LocalWorkdir, Storage
from compiler.source.hiding import holds_password
from compiler.source.paths import Path
from compiler.source.wording import described, quoted

SCHEMES = ("s3", "gs", "https", "r2", "cos", "oci", "nebius", "cw", "vastdata", "hf")
"""Schemes of the URLs that a file mount can come from."""

_git_url = re.compile(r"https?://\S+|ssh://\S+|[^\s@/]+@[^\s:/]+:\S+")


def build_workdir(b: Builder, value: object) -> LocalWorkdir | GitWorkdir | None:
    """Read `workdir`; a local folder must exist where files are checked."""
    path: Path = ("workdir",)
    if value is None or value == "":
        return None
    if isinstance(value, dict):
        return _git_workdir(b, path, value)
    text = b.text(path, value)
    if text is None:
        return None
    if b.check_files:
        local = local_path(b, text)
        if not is_folder(local):
            b.report(
                codes.WORKDIR_MISSING,
                path,
                f"{quoted(text)} " + ("is no folder" if is_there(local) else "does not exist"),
                expected="a folder",
                hint=where_relative_paths_start(b, text),
            )
    return LocalWorkdir(text, b.origin(*path))


def _git_workdir(b: Builder, path: Path, value: dict[str, object]) -> GitWorkdir | None:
    url = b.text((*path, "url"), value.get("url"))
    ref = b.text((*path, "ref"), value.get("ref"))
    if url and _git_url.fullmatch(url):
        if holds_password(url):
            b.report(
                URL_HOLDS_SECRET,
                (*path, "url"),
                "the URL of the repository has a password in it",
                at_key=True,
                hint="leave it out, and add `secrets: {GIT_TOKEN: null}`",
            )
        return GitWorkdir(url, ref or None, b.origin(*path))
    b.report(
        codes.GIT_URL,
        (*path, "url") if url else path,
        f"{quoted(url)} is no git repository" if url else "`workdir` has no `url`",
        at_key=not url,
        expected="a repository by https or ssh",
    )
    return None


def build_file_mounts(
    b: Builder, value: object, has_workdir: bool
) -> tuple[tuple[FileMount, ...], tuple[Storage, ...]]:
    """Read `file_mounts`: plain mounts and storage objects, each in the order written."""
    mounts: list[FileMount] = []
    storage: list[Storage] = []
    seen: dict[str, Path] = {}
    for destination, source in b.mapping(("file_mounts",), value).items():
        path: Path = ("file_mounts", destination)
        _check_destination(b, path, destination, has_workdir, seen)
        if isinstance(source, dict):
            built = build_storage(b, path, destination, source)
            if built is not None:
                storage.append(built)
        elif isinstance(source, str) and source:
            _check_source(b, path, source)
            mounts.append(FileMount(destination, source, b.origin(*path)))
        else:
            b.unexpected(path, source, "a local path, a URL, or a map")
    return tuple(mounts), tuple(storage)


def _check_destination(
    b: Builder, path: Path, destination: str, has_workdir: bool, seen: dict[str, Path]
) -> None:
    has_host = destination.startswith("//") and destination[2:3] not in ("", "/")
    if has_host or url_scheme(destination):
        b.report(
            codes.MOUNT_TO_URL,
            path,
            f"{quoted(destination)} is no path on the nodes",
            at_key=True,
            hint=f"write {quoted(destination[1:])}"
            if has_host
            else "the destination stands before the colon, the source behind it",
        )
        return
    check_no_slash(b, path, destination, at_key=True)
    place = remote_path(destination)
    if place == WORKDIR and has_workdir:
        b.report(
            codes.MOUNT_OVER_WORKDIR,
            path,
            f"{quoted(destination)} is where the workdir goes",
            at_key=True,
            hint=f"mount below it, such as `{WORKDIR}/data`, or leave out `workdir`",
        )
    first = seen.setdefault(place, path)
    if first is not path:
        b.report(
            codes.MOUNT_TWICE,
            path,
            f"two mounts at {quoted(place)}",
            at_key=True,
            related=[Related("the first one", b.key_span(first))],
        )


def _check_source(b: Builder, path: Path, source: str) -> None:
    check_no_slash(b, path, source)
    scheme = url_scheme(source)
    if scheme is None:
        check_local(b, path, source)
    elif scheme not in SCHEMES:
        b.report(
            codes.MOUNT_SCHEME,
            path,
            f"nothing can be fetched from `{scheme}://`",
            found=described(source),
            expected="a local path, or a URL with " + ", ".join(SCHEMES),
        )
