"""Files that a task brings along: small, deterministic archives in an immutable ConfigMap."""

import base64
import gzip
import io
import os
import random
import tarfile

import pytest
from kubernetes_jobs import container_of, findings, pod_of, rendered

from compiler.rendering.filetree import FileTree, read_tree
from compiler.targets.kubernetes import deflate
from compiler.targets.kubernetes.archive import archive, root_of

TASK = "run: x\nworkdir: .\n"


def make_tree(folder, destination="~/sky_workdir"):
    (folder / "sub").mkdir(parents=True)
    (folder / "train.py").write_text("print('hi')\n" * 50)
    (folder / "sub" / "run.sh").write_text("#!/bin/bash\n")
    (folder / "sub" / "run.sh").chmod(0o755)
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("train.py")
    return read_tree(folder, destination)


@pytest.mark.parametrize("letters", [2, 20, 256])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 257, 258, 259, 1000, 40000])
def test_gzip_is_gzip(size, letters):
    choose = random.Random(size * letters)
    data = bytes(choose.randrange(letters) for _ in range(size))
    assert gzip.decompress(deflate.gzip(data)) == data


def test_gzip_copes_with_long_and_distant_repetition():
    data = b"\0" * 100_000 + random.Random(1).randbytes(40_000) * 2 + b"abcabcabc" * 1000
    packed = deflate.gzip(data)
    assert gzip.decompress(packed) == data
    assert len(packed) < len(data) * 0.6


def test_archive_holds_what_the_tree_is(tmp_path):
    content = archive(make_tree(tmp_path / "work"))
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        members = {item.name: item for item in tar}
        assert list(members) == ["empty", "link", "sub/run.sh", "train.py"]
        assert tar.extractfile("train.py").read() == b"print('hi')\n" * 50
    assert members["sub/run.sh"].mode == 0o755
    assert members["train.py"].mode == 0o644
    assert members["link"].linkname == "train.py"
    assert members["empty"].isdir()
    assert {item.mtime for item in members.values()} == {0}
    assert {(item.uid, item.uname) for item in members.values()} == {(0, "")}


def test_archive_knows_neither_time_nor_place(tmp_path):
    one = make_tree(tmp_path / "one")
    two = make_tree(tmp_path / "two")
    os.utime(tmp_path / "two" / "train.py", (1, 1))
    assert archive(one) == archive(two)


@pytest.mark.parametrize(
    ("destination", "root"),
    [
        ("~/sky_workdir", "~/sky_workdir"),
        ("/data/set", "/data/set"),
        ("sub/dir", "~/sky_workdir/sub/dir"),
        ("~/x", "~/x"),
    ],
)
def test_where_a_folder_goes(destination, root):
    assert root_of(FileTree(destination, "d", local="/x", files={"a": "b"})) == root


def test_a_single_file_goes_under_its_own_name(tmp_path):
    (tmp_path / "local.yaml").write_text("a: b\n")
    tree = read_tree(tmp_path / "local.yaml", "~/.conf/remote.yaml")
    assert root_of(tree) == "~/.conf"
    with tarfile.open(fileobj=io.BytesIO(archive(tree))) as tar:
        assert tar.getnames() == ["remote.yaml"]


def test_files_are_mounted_and_unpacked(tmp_path):
    trees = (make_tree(tmp_path / "work"), make_tree(tmp_path / "more", "/data"))
    objects = rendered(TASK, trees=trees, run=4)
    files = objects["files.yaml"]
    assert files["metadata"]["name"] == "demo-train-4-files"
    assert files["immutable"] is True
    assert base64.b64decode(files["binaryData"]["0.tar.gz"]) == archive(trees[0])
    assert set(files["binaryData"]) == {"0.tar.gz", "1.tar.gz"}
    volume = {"name": "triplane-files", "configMap": {"name": "demo-train-4-files"}}
    assert volume in pod_of(objects)["volumes"]
    mount = {"name": "triplane-files", "mountPath": "/triplane/files", "readOnly": True}
    assert mount in container_of(objects)["volumeMounts"]
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    assert "k8s_unpack '/triplane/files/0.tar.gz' \"$HOME\"/'sky_workdir' ||" in platform
    assert "k8s_unpack '/triplane/files/1.tar.gz' '/data' ||" in platform


def test_no_files_no_config_map():
    assert "files.yaml" not in rendered("run: x\n")


def test_files_above_the_limit_are_an_error_that_says_what_to_do(tmp_path):
    (tmp_path / "noise").write_bytes(random.Random(5).randbytes(600_000))
    tree = read_tree(tmp_path, "~/sky_workdir")
    (found,) = findings(TASK, trees=(tree,))
    assert found[:2] == ("kubernetes-files-too-large", "task.yaml:2:10")
    assert "KiB compressed, a ConfigMap holds 512 KiB" in found[2]


def test_huge_files_are_refused_unread():
    tree = FileTree("~/sky_workdir", "d", local="/nonexistent", files={"a": "b"}, size=1 << 40)
    assert [item[0] for item in findings(TASK, trees=(tree,))] == ["kubernetes-files-too-large"]


def test_files_that_are_gone_are_an_error():
    tree = FileTree("~/sky_workdir", "gone", local="/nonexistent", files={"a": "b"}, size=1)
    assert [item[0] for item in findings(TASK, trees=(tree,))] == ["kubernetes-files-unreadable"]


def test_a_repository_is_cloned_at_start():
    tree = FileTree("~/sky_workdir", "d", git_url="https://host/a.git", git_ref="v1")
    task = "run: x\nworkdir: {url: 'https://host/a.git', ref: v1}\n"
    objects = rendered(task, trees=(tree,))
    assert "files.yaml" not in objects
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    assert "k8s_clone 'https://host/a.git' 'v1' \"$HOME\"/'sky_workdir' ||" in platform
