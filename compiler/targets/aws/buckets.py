"""Buckets and downloads of a task: which function of buckets.sh a node calls for each.

Copies are there before `setup`; Mountpoint for Amazon S3 mounts a bucket, and rclone one whose
writes are cached on a local disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.model import Storage, Task
from compiler.model.paths import url_scheme

_CACHE_LIMIT = "100G"
_PRESETS: Mapping[str, tuple[str, ...]] = {
    "MODEL_CHECKPOINT_RO": ("--read-only", "--vfs-read-chunk-streams", "16"),
    "MODEL_CHECKPOINT_RW": ("--transfers", "8", "--vfs-read-chunk-streams", "16"),
    "DATASET_RO": ("--read-only", "--vfs-read-chunk-size", "8M"),
    "DATASET_RW": ("--transfers", "16", "--vfs-read-chunk-size", "8M"),
}
_FLAGS = (
    *("transfers", "buffer_size", "vfs_cache_max_age", "vfs_read_ahead"),
    *("vfs_read_chunk_size", "vfs_read_chunk_streams", "vfs_write_back"),
)


@dataclass(frozen=True, slots=True)
class BucketUse:
    """One call of buckets.sh; `bucket` is None for a download from elsewhere.

    `prefix` is empty or what the keys of the objects begin with.
    """

    function: str
    arguments: tuple[str, ...]
    bucket: str | None
    prefix: str
    writes: bool

    @property
    def words(self) -> tuple[str, ...]:
        return (self.function, *self.arguments)


def bucket_uses(task: Task) -> tuple[BucketUse, ...]:
    """In the order of the task: URLs first, then storage objects."""
    return (*_downloads(task), *_storages(task))


def url_of(storage: Storage) -> str | None:
    """The bucket as a URL; None where it is not one that a node can reach."""
    if isinstance(storage.source, str) and url_scheme(storage.source):
        return storage.source
    if storage.source is None and storage.name and storage.store in (None, "S3"):
        return f"s3://{storage.name}"
    return None


def can_fetch(url: str) -> bool:
    return url_scheme(url) in ("s3", "https")


def can_mount(url: str) -> bool:
    return url_scheme(url) == "s3"


def statements_of(uses: tuple[BucketUse, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Calls of the program's grants module, each once."""
    wanted: dict[tuple[str, tuple[str, ...]], None] = {}
    for use in uses:
        if use.bucket is not None:
            place = (use.bucket, use.prefix) if use.prefix else (use.bucket,)
            wanted["list_bucket", place] = None
            wanted["write_objects" if use.writes else "read_objects", place] = None
    yield from wanted


def _downloads(task: Task) -> Iterator[BucketUse]:
    for mount in task.file_mounts:
        if url_scheme(mount.source) is not None and can_fetch(mount.source):
            yield _copy(mount.source, mount.destination)


def _storages(task: Task) -> Iterator[BucketUse]:
    for storage in task.storage:
        url = url_of(storage)
        if url is None:
            continue
        if storage.mode == "COPY" and can_fetch(url):
            yield _copy(url, storage.destination)
        elif storage.mode != "COPY" and can_mount(url):
            yield _mount(storage, url)


def _copy(url: str, destination: str) -> BucketUse:
    bucket, prefix = _parts(url)
    return BucketUse("copy_url", (url, destination), bucket, prefix, writes=False)


def _mount(storage: Storage, url: str) -> BucketUse:
    bucket, prefix = _parts(url)
    assert bucket is not None
    if storage.mode == "MOUNT_CACHED":
        flags = _cached_flags(storage)
        remote = f"{bucket}/{prefix}" if prefix else bucket
        writes = "--read-only" not in flags
        call = (remote, storage.destination, *flags)
        return BucketUse("mount_cached", call, bucket, prefix, writes)
    given = storage.config.get("mount")
    read_only = bool(isinstance(given, Mapping) and given.get("read_only"))
    folder = f"{prefix.rstrip('/')}/" if prefix else ""
    flags = ("--read-only",) if read_only else ("--allow-delete", "--allow-overwrite")
    call = (bucket, folder, storage.destination, *flags)
    return BucketUse("mount_bucket", call, bucket, folder, not read_only)


def _cached_flags(storage: Storage) -> tuple[str, ...]:
    config = storage.config.get("mount_cached")
    given: Mapping[str, object] = config if isinstance(config, Mapping) else {}
    flags = ["--vfs-cache-max-size", str(given.get("vfs_cache_max_size") or _CACHE_LIMIT)]
    flags += _PRESETS.get(storage.type or "", ())
    if given.get("read_only") and "--read-only" not in flags:
        flags.append("--read-only")
    for key in _FLAGS:
        if given.get(key) is not None:
            # The last one counts, so that what is given wins over the preset.
            flags += [f"--{key.replace('_', '-')}", str(given[key])]
    return tuple(flags)


def _parts(url: str) -> tuple[str | None, str]:
    """(bucket, prefix) of an s3 URL, (None, "") of another."""
    if not can_mount(url):
        return None, ""
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    return bucket, prefix
