"""A work folder that is too large for a manifest, through a bucket to the real node."""

from __future__ import annotations

import hashlib
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import Maker, Project, claimed

pytestmark = pytest.mark.kubernetes

# What the pods of the site have instead of rclone: it gets an object by plain HTTP.
RCLONE = """\
#!/bin/bash
[ "$1" = copyto ] || exit 9
exec 3<>"/dev/tcp/$NODE/$PORT" || exit 1
printf 'GET /%s HTTP/1.0\\r\\nHost: s3\\r\\nAuthorization: AWS test:x\\r\\n\\r\\n' "${3##*:}" >&3
read -r _ status _ <&3
[ "$status" = 200 ] || exit 1
while read -r line <&3 && [ "$line" != $'\\r' ]; do :; done
cat <&3 >"$4"
"""
TARGET = {"files": {"bucket": "s3://lab/code"}, "helper_image": "localhost/shell:1"}
RUN = """\
sha256sum <data.bin
cat "sub/it's.txt"
[ -x tool.sh ] && ./tool.sh
sha256sum <~/settings.bin
"""


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of an S3 that has the bucket `lab` and that everybody may read."""
    with socket.socket() as found:
        found.bind(("", 0))
        port = found.getsockname()[1]
    server = Path(sys.executable).with_name("moto_server")
    process = subprocess.Popen(
        [server, "-H", "0.0.0.0", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    try:
        _until_answers(port)
        boto3.client("s3").create_bucket(Bucket="lab")
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _until_answers(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.2)


def _fetching(folder: Path, port: int) -> dict:
    """The pod_config that gives the fetching container its stand-in."""
    stub = folder / "stub"
    stub.mkdir()
    (stub / "rclone").write_text(RCLONE)
    (stub / "rclone").chmod(0o755)
    env = [
        {"name": "PATH", "value": "/stub:/usr/bin:/bin"},
        {"name": "PORT", "value": str(port)},
        {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "status.hostIP"}}},
    ]
    fetch = {"name": "fetch", "env": env, "volumeMounts": [{"name": "stub", "mountPath": "/stub"}]}
    volume = {"name": "stub", "hostPath": {"path": str(stub)}}
    return {"spec": {"initContainers": [fetch], "volumes": [volume]}}


def _write_large(project: Project, **fields: object) -> list[str]:
    """The task `large` with a folder and a file above the limit; the lines that its run says."""
    work = project.folder / "work"
    (work / "sub").mkdir(parents=True)
    (work / "data.bin").write_bytes(random.Random(1).randbytes(700_000))
    (work / "sub" / "it's.txt").write_text("as it is\n")
    (work / "tool.sh").write_text("#!/bin/bash\necho runs\n")
    (work / "tool.sh").chmod(0o755)
    (project.folder / "own.bin").write_bytes(random.Random(2).randbytes(600_000))
    files = {"~/settings.bin": "own.bin"}
    project.task("large", RUN, workdir="work", file_mounts=files, **fields)
    sums = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  -"
        for path in (work / "data.bin", project.folder / "own.bin")
    ]
    return [sums[0], "as it is", "runs", sums[1]]


def _said_by(project: Project, run: int) -> list[str]:
    found = project.until("large", run=run, seconds=180)
    assert found.state is RunState.SUCCEEDED, found.detail
    words = ("logs", "large", "--run", str(run), "--no-follow")
    return project.triplane(*words).out.splitlines()


def test_a_bucket_brings_a_large_folder_to_the_node_as_it_is_here(new_project: Maker, s3: int):
    project = new_project(real=True, target=TARGET)
    config = {"kubernetes": {"pod_config": _fetching(project.folder, s3)}}
    expected = _write_large(project, config=config)
    assert project.apply().text.count("upload ") == 2
    assert _said_by(project, 1) == expected
    # what is there is not uploaded again
    again = project.triplane("run", "tasks/large.yaml")
    assert again.code == 0, again.text
    assert "upload " not in again.text
    keys = [item["Key"] for item in boto3.client("s3").list_objects_v2(Bucket="lab")["Contents"]]
    assert len(keys) == 2


def test_a_volume_brings_a_large_folder_to_the_node_as_it_is_here(
    new_project: Maker, tmp_path: Path
):
    target = {"files": {"volume": "shared"}, "helper_image": "localhost/shell:1"}
    project = new_project(real=True, target=target, roles=("plan", "apply", "exec"))
    disk = tmp_path / "disk"
    disk.mkdir()
    project.api.apply(*claimed(project, "shared", disk))
    expected = _write_large(project)
    assert project.apply().text.count("upload ") == 2
    assert _said_by(project, 1) == expected
    there = sorted((disk / ".triplane" / "files").iterdir())
    assert [path.name.count(".tar.gz") for path in there] == [1, 1]
    again = project.triplane("run", "tasks/large.yaml")
    assert again.code == 0, again.text
    assert "upload " not in again.text
    # the pod that wrote is no work of the set, and goes
    assert project.triplane("plan", "--detailed-exitcode").code == 0
    project.api.until("no loader", lambda: project.jobs() == {"large-1", "large-2"}, seconds=120)
