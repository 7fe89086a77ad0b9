"""Storage objects: the map form of a file mount, which names a bucket.

SkyPilot checks these rules when it has already talked to clouds; here they hold at once.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_mounts as codes
from compiler.model.builder import Builder
from compiler.model.paths import check_local, check_no_slash, is_folder, url_scheme
from compiler.model.storage import Storage
from compiler.source.paths import Path
from compiler.source.wording import described, listed, quoted

STORES = (
    "S3",
    "GCS",
    "AZURE",
    "R2",
    "IBM",
    "OCI",
    "NEBIUS",
    "COREWEAVE",
    "VASTDATA",
    "HF",
    "VOLUME",
)
MODES = ("MOUNT", "COPY", "MOUNT_CACHED")
TYPES = ("MODEL_CHECKPOINT_RO", "MODEL_CHECKPOINT_RW", "DATASET_RO", "DATASET_RW")

_SUB_PATH_SCHEMES = frozenset({"https", "hf"})
_s3_name = re.compile(r"(?!.*\.\.)(?!(?:\d+\.){3}\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_gcs_name = re.compile(r"(?!.*\.\.)[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_azure_name = re.compile(r"(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_any_name = re.compile(r"\S+")
_NAME_RULES: Mapping[str | None, tuple[re.Pattern[str], str]] = {
    "GCS": (_gcs_name, "3 to 63 lower-case letters, digits, `-`, `_` and `.`"),
    "AZURE": (_azure_name, "3 to 63 lower-case letters, digits and single `-`"),
    "HF": (_any_name, "text without blanks"),
    # Without a store the bucket's place is open, so that only the widest rule can be held to.
    None: (_gcs_name, "3 to 63 lower-case letters, digits, `-`, `_` and `.`"),
}
_S3_RULE = (_s3_name, "3 to 63 lower-case letters, digits, `-` and `.`")


def build_storage(
    b: Builder, path: Path, destination: str, value: Mapping[str, object]
) -> Storage | None:
    """The storage object at `path`; None where it is none that triplane knows."""
    store = _upper(b, path, value, "store", STORES)
    if store == "VOLUME":
        b.report(
            codes.STORE_VOLUME,
            (*path, "store"),
            "`store: volume` is a disk of Google Cloud machines",
            hint="use the task's `volumes`",
        )
        return None
    mode = _upper(b, path, value, "mode", MODES) or MODES[0]
    name = b.text((*path, "name"), value.get("name")) or None
    source = _source(b, (*path, "source"), value.get("source"))
    kind = _upper(b, path, value, "type", TYPES)
    if name is not None:
        _check_name(b, (*path, "name"), name, store)
    if name is None and source is None:
        b.report(
            codes.STORAGE_EMPTY,
            path,
            f"the mount at {quoted(destination)} has neither `name` nor `source`",
            at_key=True,
            hint="name the bucket, or say what it holds",
        )
    elif source is None and mode == "COPY":
        b.report(
            codes.STORAGE_COPY_EXISTING,
            path,
            f"the bucket {quoted(name or '')} must exist, there is no `source` to fill it from",
            at_key=True,
        )
    _check_source(b, path, source, name, mode)
    if kind is not None and mode != "MOUNT_CACHED":
        b.report(
            codes.STORAGE_TYPE,
            (*path, "type"),
            f"`type` does nothing with mode {mode}",
            at_key=True,
            hint="set `mode: MOUNT_CACHED`, or leave `type` out",
        )
    return Storage(
        destination=destination,
        name=name,
        source=source,
        store=store,
        mode=mode,
        persistent=b.flag((*path, "persistent"), value.get("persistent"), default=True),
        type=kind,
        config=b.mapping((*path, "config"), value.get("config")),
        origin=b.origin(*path),
    )


def _upper(
    b: Builder, path: Path, value: Mapping[str, object], key: str, known: tuple[str, ...]
) -> str | None:
    text = b.text((*path, key), value.get(key))
    if text is None or text.upper() in known:
        return text and text.upper()
    b.unexpected((*path, key), text, listed(known))
    return None


def _source(b: Builder, path: Path, value: object) -> str | tuple[str, ...] | None:
    if isinstance(value, list):
        texts = [(at, item) for at, item in enumerate(value) if isinstance(item, str) and item]
        if len(texts) != len(value) or not texts:
            b.unexpected(path, value, "a path, a URL, or a list of paths")
        return tuple(text for _, text in texts) or None
    return b.text(path, value) or None


def _check_name(b: Builder, path: Path, name: str, store: str | None) -> None:
    pattern, rule = _NAME_RULES.get(store, _S3_RULE)
    if url_scheme(name):
        b.report(
            codes.BUCKET_NAME,
            path,
            f"{quoted(name)} is a URL, not a bucket's name",
            expected="a name without a scheme",
            hint="a bucket that exists is a `source`",
        )
    elif not pattern.fullmatch(name):
        b.report(
            codes.BUCKET_NAME,
            path,
            f"{quoted(name)} cannot be the name of a bucket",
            found=described(name),
            expected=rule + ", letter or digit first and last",
        )


def _check_source(
    b: Builder, path: Path, source: str | tuple[str, ...] | None, name: str | None, mode: str
) -> None:
    where = (*path, "source")
    if source is None:
        return
    if isinstance(source, tuple):
        _check_files(b, where, source)
    else:
        check_no_slash(b, where, source)
        scheme = url_scheme(source)
        if scheme is not None:
            _check_bucket_url(b, path, source, scheme, name, mode)
            return
        local = check_local(b, where, source)
        if local is not None and not is_folder(local):
            b.report(
                codes.STORAGE_SINGLE_FILE,
                where,
                f"{quoted(source)} is a file, a bucket holds a folder's contents",
                hint=f"write a list: [{source}]",
            )
    if name is None:
        b.report(
            codes.STORAGE_NEEDS_NAME,
            where,
            "local files go into a bucket, which needs a `name`",
            hint="add `name:`, or mount without a bucket: `destination: path`",
        )


def _check_files(b: Builder, where: Path, source: tuple[str, ...]) -> None:
    seen: dict[str, int] = {}
    for at, text in enumerate(source):
        item = (*where, at)
        check_no_slash(b, item, text)
        if url_scheme(text):
            b.report(
                codes.STORAGE_LIST_LOCAL,
                item,
                f"{quoted(text)} in a list of local files",
                expected="a local path",
            )
            continue
        check_local(b, item, text)
        base = posixpath.basename(text.rstrip("/"))
        first = seen.setdefault(base, at)
        if first != at:
            b.report(
                codes.STORAGE_LIST_NAMES,
                item,
                f"two files of the list are called {quoted(base)}",
                related=[Related("the first one", b.span((*where, first)))],
            )


def _check_bucket_url(
    b: Builder, path: Path, source: str, scheme: str, name: str | None, mode: str
) -> None:
    if name is not None:
        b.report(
            codes.STORAGE_NAME_AND_URL,
            (*path, "name"),
            "the URL in `source` already names the bucket",
            at_key=True,
            hint="leave `name` out",
        )
    below = source.split("://", 1)[1].partition("/")[2].strip("/")
    if below and mode != "COPY" and scheme not in _SUB_PATH_SCHEMES:
        b.report(
            codes.STORAGE_SUB_PATH,
            (*path, "source"),
            f"mode {mode} mounts whole buckets, not {quoted(below)} in one",
            hint="name the bucket alone, or set `mode: COPY`",
        )
