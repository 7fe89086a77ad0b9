"""Buckets and downloads of a task: what is fetched before it starts, what is mounted beside it.

All of it is rclone's work, in containers of their own, so that the task's image needs nothing:
an init container fetches copies, a sidecar a bucket mounts it. A sidecar that caches writes
says when all is uploaded; the launcher waits for that before the rank ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compiler.model import FileMount, Storage, Task
from compiler.model.paths import url_scheme
from compiler.rendering.environment import render
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.places import Place, place_of
from compiler.targets.kubernetes.secrets import SecretUse
from compiler.targets.kubernetes.stored import FETCHED, Stored

# rclone on Alpine, with a shell and fusermount; the target's `helper_image` replaces it.
HELPER_IMAGE = "docker.io/rclone/rclone:1.71.0"
FETCH, MOUNT = "fetch.sh", "mount.sh"
_BUCKETS = "/triplane/buckets"
_CACHE = "/triplane/cache"
_FETCHED_VOLUME = "triplane-fetched"
# How rclone reaches a store with what the pod's account or its variables give.
_REMOTES = {"s3": ":s3,provider=AWS,env_auth:", "gs": ":gcs,env_auth:"}
_SCHEME_OF_STORE = {"S3": "s3", "GCS": "gs"}
_CREDENTIALS = ("AWS_", "GOOGLE_", "RCLONE_")
_CACHE_LIMIT = "10G"
_STREAMS = ["--vfs-read-chunk-streams", "16", "--vfs-read-chunk-size", "32M"]
_CHUNKS = ["--vfs-read-chunk-streams", "0", "--vfs-read-chunk-size", "8M"]
_PRESETS: Mapping[str, list[str]] = {
    "MODEL_CHECKPOINT_RO": ["--read-only", *_STREAMS],
    "MODEL_CHECKPOINT_RW": ["--transfers", "8", *_STREAMS],
    "DATASET_RO": ["--read-only", *_CHUNKS],
    "DATASET_RW": ["--transfers", "16", *_CHUNKS],
}
_FLAGS = (
    *("transfers", "buffer_size", "vfs_cache_max_age", "vfs_read_ahead"),
    *("vfs_read_chunk_size", "vfs_read_chunk_streams", "vfs_write_back"),
)


@dataclass(frozen=True, slots=True)
class _Bucket:
    """A bucket to mount: rclone's own words for where it is, and for how."""

    index: int
    place: Place
    remote: str
    flags: tuple[str, ...]
    cached: bool


def url_of(storage: Storage) -> str | None:
    """The bucket as a URL; None where it is not one that a pod can reach as it is."""
    if isinstance(storage.source, str) and url_scheme(storage.source):
        return storage.source
    scheme = _SCHEME_OF_STORE.get(storage.store or "")
    if storage.source is None and storage.name and scheme:
        return f"{scheme}://{storage.name}"
    return None


def can_fetch(url: str) -> bool:
    return url_scheme(url) in (*_REMOTES, "https")


def can_mount(url: str) -> bool:
    return url_scheme(url) in _REMOTES


def buckets(
    job: Job,
    secrets: Sequence[SecretUse],
    stored: Sequence[Stored],
    script_folder: str,
    state_folder: str,
) -> Addition:
    """The containers, mounts and links for everything that comes from elsewhere, those of the
    task's own files that are `stored` in a bucket among them."""
    stored = [item for item in stored if item.url]
    copies, mounted = list(_copies(job.task)), list(_mounted(job.task))
    if not copies and not mounted and not stored:
        return NOTHING
    image = str(job.target.options.get("helper_image") or HELPER_IMAGE)
    env = [*_plain_credentials(job.task), *(item.reference for item in _credentials(secrets))]
    scripts: dict[str, object] = {
        "name": "triplane-scripts",
        "mountPath": script_folder,
        "readOnly": True,
    }
    state: dict[str, object] = {"name": "triplane-state", "mountPath": state_folder}
    containers: list[dict[str, object]] = []
    volumes: list[dict[str, object]] = []
    mounts: list[dict[str, object]] = []
    links: list[Place] = []
    if copies or stored:
        fetched: dict[str, object] = {"name": _FETCHED_VOLUME, "mountPath": FETCHED}
        volumes.append({"name": _FETCHED_VOLUME, "emptyDir": {}})
        containers.append(
            {
                "name": "fetch",
                "image": image,
                "command": ["/bin/sh", f"{script_folder}/{FETCH}"],
                **({"env": env} if env else {}),
                "volumeMounts": [scripts, fetched],
            }
        )
        if stored or any(place.in_home for place, _ in copies):
            mounts.append(fetched)
        for index, (place, _) in enumerate(copies):
            if place.in_home:
                links.append(Place(f"{FETCHED}/{index}", place.path, in_home=True))
            else:
                # resolved when the container starts, so it is a file where one was fetched
                mounts.append({**fetched, "mountPath": place.path, "subPath": str(index)})
    for bucket in mounted:
        volume, folder = f"triplane-bucket-{bucket.index}", f"{_BUCKETS}/{bucket.index}"
        volumes.append({"name": volume, "emptyDir": {}})
        own_mounts: list[dict[str, object]] = [
            scripts,
            state,
            {"name": volume, "mountPath": folder, "mountPropagation": "Bidirectional"},
        ]
        if bucket.cached:
            cache = f"triplane-cache-{bucket.index}"
            volumes.append({"name": cache, "emptyDir": {}})
            own_mounts.append({"name": cache, "mountPath": _CACHE})
        containers.append(_sidecar(bucket, image, script_folder, folder, env, own_mounts))
        path = folder if bucket.place.in_home else bucket.place.path
        mounts.append({"name": volume, "mountPath": path, "mountPropagation": "HostToContainer"})
        if bucket.place.in_home:
            links.append(Place(folder, bucket.place.path, in_home=True))
    return Addition(
        init_containers=tuple(containers),
        volumes=tuple(volumes),
        mounts=tuple(mounts),
        links=tuple(links),
        waits_for=tuple(f"flushed-{item.index}" for item in mounted if item.cached),
        scripts=_scripts(copies, stored, bool(mounted), state_folder),
    )


def _scripts(
    copies: list[tuple[Place, str]], stored: Sequence[Stored], mounts: bool, state_folder: str
) -> dict[str, str]:
    """The texts that the containers run."""
    texts = {}
    if copies or stored:
        wanted = [(url, f"{FETCHED}/{index}") for index, (_, url) in enumerate(copies)]
        wanted += [(item.url, item.path) for item in stored]
        items = [
            {"source": _remote(url), "path": path, "is_url": not can_mount(url)}
            for url, path in wanted
        ]
        texts[FETCH] = render("k8s/fetch.sh.j2", {"items": items, "folder": FETCHED})
    if mounts:
        texts[MOUNT] = render("k8s/mount.sh.j2", {"state_folder": state_folder})
    return texts


def _sidecar(
    bucket: _Bucket,
    image: str,
    script_folder: str,
    folder: str,
    env: list[dict[str, object]],
    mounts: list[dict[str, object]],
) -> dict[str, object]:
    mode = "cached" if bucket.cached else "plain"
    flushed = f"flushed-{bucket.index}"
    return {
        "name": f"bucket-{bucket.index}",
        "image": image,
        "restartPolicy": "Always",
        "command": ["/bin/sh", f"{script_folder}/{MOUNT}"],
        "args": [mode, flushed, bucket.remote, folder, *bucket.flags],
        **({"env": env} if env else {}),
        # FUSE, and a mount that the task's container sees
        "securityContext": {"privileged": True},
        # the task starts once its bucket is there
        "startupProbe": {
            "exec": {"command": ["/bin/sh", "-c", 'mountpoint -q "$0"', folder]},
            "periodSeconds": 1,
            "failureThreshold": 120,
        },
        "volumeMounts": mounts,
    }


def _copies(task: Task) -> Iterator[tuple[Place, str]]:
    for mount in task.file_mounts:
        if _is_remote(mount):
            yield place_of(mount.destination), mount.source
    for storage in task.storage:
        url = url_of(storage)
        if storage.mode == "COPY" and url is not None:
            yield place_of(storage.destination), url


def _is_remote(mount: FileMount) -> bool:
    return url_scheme(mount.source) is not None


def _mounted(task: Task) -> Iterator[_Bucket]:
    wanted = [item for item in task.storage if item.mode != "COPY" and url_of(item) is not None]
    for index, storage in enumerate(wanted):
        cached = storage.mode == "MOUNT_CACHED"
        yield _Bucket(
            index,
            place_of(storage.destination),
            _remote(str(url_of(storage))),
            tuple(_cached_flags(storage) if cached else _plain_flags(storage)),
            cached,
        )


def _remote(url: str) -> str:
    """rclone's words for a bucket and what is in it; other URLs stay as they are."""
    scheme = url_scheme(url) or ""
    prefix = _REMOTES.get(scheme)
    return prefix + url.partition("://")[2] if prefix else url


def _plain_flags(storage: Storage) -> list[str]:
    config = storage.config.get("mount")
    read_only = isinstance(config, Mapping) and config.get("read_only")
    return ["--vfs-cache-mode", "minimal", *(["--read-only"] if read_only else [])]


def _cached_flags(storage: Storage) -> list[str]:
    config = storage.config.get("mount_cached")
    given: Mapping[str, object] = config if isinstance(config, Mapping) else {}
    flags = ["--vfs-cache-mode", "full", "--cache-dir", _CACHE]
    flags += ["--vfs-cache-max-size", str(given.get("vfs_cache_max_size") or _CACHE_LIMIT)]
    flags += _PRESETS.get(storage.type or "", [])
    if given.get("read_only") and "--read-only" not in flags:
        flags.append("--read-only")
    for key in _FLAGS:
        if given.get(key) is not None:
            # the last one counts, so what is given wins over the preset
            flags += [f"--{key.replace('_', '-')}", str(given[key])]
    return flags


def _credentials(secrets: Sequence[SecretUse]) -> Iterator[SecretUse]:
    for secret in secrets:
        if secret.mount_path is None and secret.name.startswith(_CREDENTIALS):
            yield secret


def _plain_credentials(task: Task) -> list[dict[str, object]]:
    return [
        {"name": name, "value": value}
        for name, value in task.envs.items()
        if name.startswith(_CREDENTIALS) and name not in task.secrets
    ]
