"""Work folders that are too large for a manifest and go through a bucket."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes_jobs import STACK, findings, make_job, pod_of, rendered

from compiler.diagnostics import Diagnostics, TargetUnreachable, WorkFailed
from compiler.rendering.filetree import FileTree, read_tree
from compiler.targets.kubernetes import TARGET
from compiler.targets.kubernetes.deployer.uploads import upload

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto")

_TASK = "run: x\nworkdir: .\nsecrets: {AWS_SECRET_ACCESS_KEY: null}\n"
_WRITTEN = STACK.replace("labels:", "files: {bucket: 's3://lab/code'}, labels:")
_BUCKET_STACK = _WRITTEN.replace("files:", "deployer: server-side-apply, files:")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """More than a ConfigMap holds."""
    made = tmp_path / "work"
    (made / "sub").mkdir(parents=True)
    (made / "data.bin").write_bytes(random.Random(1).randbytes(700_000))
    (made / "sub" / "run me.sh").write_text("echo run\n")
    (made / "sub" / "run me.sh").chmod(0o755)
    return made


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with moto.mock_aws():
        client = boto3.client("s3")
        client.create_bucket(Bucket="lab")
        yield client


def _trees(folder: Path) -> tuple[FileTree, ...]:
    return (read_tree(folder, "~/sky_workdir"), read_tree(folder / "data.bin", "~/other name.bin"))


def test_pods_fetch_what_lies_in_the_bucket_by_its_digest(folder):
    tree = _trees(folder)[0]
    objects = rendered(_TASK, _BUCKET_STACK, trees=(tree,))
    assert "files.yaml" not in objects
    url = f":s3,provider=AWS,env_auth:lab/code/.triplane/files/{tree.digest}.tar.gz"
    texts = objects["scripts.yaml"]["data"]
    line = f"rclone copyto --stats-one-line '{url}' '/triplane/fetched/{tree.digest}.tar.gz'"
    assert line in texts["fetch.sh"]
    (fetch,) = pod_of(objects)["initContainers"]
    assert [item["name"] for item in fetch["env"]] == ["AWS_SECRET_ACCESS_KEY"]
    mounts = pod_of(objects)["containers"][0]["volumeMounts"]
    assert "/triplane/fetched" in [item["mountPath"] for item in mounts]


def test_what_is_small_still_travels_in_the_manifest(folder, tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "a.txt").write_text("a\n")
    small = read_tree(tmp_path / "small", "/settings")
    objects = rendered(_TASK, _BUCKET_STACK, trees=(*_trees(folder)[:1], small))
    assert list(objects["files.yaml"]["binaryData"]) == ["0.tar.gz"]


def test_an_upload_is_what_a_pod_unpacks(folder, tmp_path, bucket):
    trees = _trees(folder)
    job = make_job(_TASK, _BUCKET_STACK, trees=trees)
    artifacts = TARGET.render(job, Diagnostics())
    said: list[str] = []
    upload(None, job.target, trees, artifacts, said.append)
    upload(None, job.target, trees, artifacts, said.append)
    assert [line.split()[:2] for line in said] == [
        ["upload", str(folder)],
        ["upload", str(folder / "data.bin")],
    ]
    fetched, home, state = (tmp_path / name for name in ("fetched", "home", "state"))
    for place in (fetched, home, state):
        place.mkdir()
    for tree in trees:
        key = f"code/.triplane/files/{tree.digest}.tar.gz"
        bucket.download_file("lab", key, str(fetched / f"{tree.digest}.tar.gz"))
    text = rendered(_TASK, _BUCKET_STACK, trees=trees)["scripts.yaml"]["data"]["platform.sh"]
    text = text.replace("/triplane/fetched", str(fetched)).replace("/triplane/state", str(state))
    script = f'say() {{ echo "$*"; }}\n{text}\nk8s_place_files\n'
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-c", script], env=environment, check=True)
    placed = home / "sky_workdir"
    assert (placed / "data.bin").read_bytes() == (folder / "data.bin").read_bytes()
    assert os.access(placed / "sub" / "run me.sh", os.X_OK)
    assert (home / "other name.bin").stat().st_size == 700_000


def test_what_a_manifest_holds_is_not_uploaded(tmp_path, bucket):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "a.txt").write_text("a\n")
    tree = read_tree(tmp_path / "small", "~/sky_workdir")
    job = make_job(_TASK, _BUCKET_STACK, trees=(tree,))
    said: list[str] = []
    upload(None, job.target, (tree,), TARGET.render(job, Diagnostics()), said.append)
    assert said == []


def test_a_folder_that_changed_meanwhile_is_not_uploaded(folder, bucket):
    trees = _trees(folder)[:1]
    job = make_job(_TASK, _BUCKET_STACK, trees=trees)
    artifacts = TARGET.render(job, Diagnostics())
    (folder / "data.bin").write_bytes(b"other")
    with pytest.raises(WorkFailed, match="changed while"):
        upload(None, job.target, trees, artifacts, lambda _: None)


def test_what_s3_says_is_told(folder, bucket, monkeypatch):
    trees = _trees(folder)[:1]
    job = make_job(_TASK, _BUCKET_STACK.replace("s3://lab/", "s3://none-such/"), trees=trees)
    artifacts = TARGET.render(job, Diagnostics())
    with pytest.raises(WorkFailed, match="prod: S3 refuses the files"):
        upload(None, job.target, trees, artifacts, lambda _: None)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(TargetUnreachable, match="S3 cannot be asked"):
        upload(None, job.target, trees, artifacts, lambda _: None)


def test_pods_have_what_lies_in_a_volume_mounted(folder):
    trees = _trees(folder)
    stack = _BUCKET_STACK.replace("bucket: 's3://lab/code'", "volume: shared")
    objects = rendered(_TASK, stack, trees=trees)
    pod = pod_of(objects)
    assert "initContainers" not in pod
    (volume,) = [item for item in pod["volumes"] if "persistentVolumeClaim" in item]
    assert volume["persistentVolumeClaim"] == {"claimName": "shared", "readOnly": True}
    (mount,) = [
        item for item in pod["containers"][0]["volumeMounts"] if item["name"] == volume["name"]
    ]
    assert (mount["mountPath"], mount["subPath"]) == ("/triplane/kept", ".triplane/files")
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    folder_of = f"k8s_unpack '/triplane/kept/{trees[0].digest}.tar.gz' \"$HOME\"/'sky_workdir'"
    file_of = (
        f"k8s_unpack_file '/triplane/kept/{trees[1].digest}.tar.gz' \"$HOME\"/'other name.bin'"
    )
    assert folder_of in platform
    assert file_of in platform


def test_a_claim_of_several_uses_is_one_volume_of_the_pod(folder):
    stack = _BUCKET_STACK.replace("bucket: 's3://lab/code'", "volume: shared")
    task = (
        f"{_TASK}volumes: {{/shared: shared}}\n"
        "config: {kubernetes: {enable_docker: {mode: ALL, cache_volume: shared}}}\n"
    )
    pod = pod_of(rendered(task, stack, trees=_trees(folder)))
    (volume,) = [item for item in pod["volumes"] if "persistentVolumeClaim" in item]
    assert volume["persistentVolumeClaim"] == {"claimName": "shared"}
    mounts = [
        (container["name"], mount["mountPath"])
        for container in (*pod["initContainers"], *pod["containers"])
        for mount in container["volumeMounts"]
        if mount["name"] == volume["name"]
    ]
    assert sorted(mounts) == [
        ("dind", "/var/lib/docker"),
        ("task", "/shared"),
        ("task", "/triplane/kept"),
    ]


def test_where_files_are_written_nothing_is_uploaded(folder):
    (said,) = findings(_TASK, _WRITTEN, trees=_trees(folder)[:1])
    assert said[0] == "kubernetes-files-too-large"
