"""Files, buckets and volumes of a task, and volume documents."""

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import GitWorkdir, LocalWorkdir, Volume, check_named_volumes
from tests.unit.model_documents import (
    built_file,
    built_task,
    findings,
    messages,
    task_findings,
    task_of,
)


def test_a_local_workdir_is_kept_as_written():
    task = task_of("workdir: ~/src")
    assert task.workdir == LocalWorkdir("~/src", task.origin)


def test_a_workdir_from_git():
    task = task_of("workdir: {url: 'git@github.com:org/repo.git', ref: v1}")
    assert task.workdir == GitWorkdir("git@github.com:org/repo.git", "v1", task.origin)


@pytest.mark.parametrize(
    ("workdir", "expected"),
    [
        ("{ref: v1}", ["1:1 git-url"]),
        ("{url: github.com/org/repo}", ["1:16 git-url"]),
        ("{url: 'file:///repo'}", ["1:16 git-url"]),
        ("[a]", ["1:10 wrong-type"]),
    ],
)
def test_workdirs_refused(workdir, expected):
    assert task_findings(f"workdir: {workdir}") == expected


def test_local_paths_are_looked_at_only_when_asked(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "file").write_text("x")
    options = {"root": str(tmp_path), "check_files": True, "environ": {"HOME": str(tmp_path)}}
    text = "workdir: {}\nfile_mounts: {{/a: {}, /b: s3://b}}"
    for good in ("src", "link", "~/src", str(tmp_path / "src")):
        assert task_findings(text.format(good, "file"), **options) == []
    assert task_findings(text.format("file", "src"), **options) == ["1:10 workdir-missing"]
    bad = text.format("nowhere", "~/nothing")
    assert task_findings(bad, **options) == ["1:10 workdir-missing", "2:19 mount-source-missing"]
    assert task_findings(bad) == []


def test_file_mounts_and_storage_keep_their_order():
    task = task_of(
        "file_mounts:\n  /a: ./x\n  rel: s3://b\n  /c: {name: bucket, mode: copy, source: ./d}\n"
    )
    assert [(m.destination, m.source) for m in task.file_mounts] == [
        ("/a", "./x"),
        ("rel", "s3://b"),
    ]
    (storage,) = task.storage
    assert (storage.name, storage.mode, storage.source) == ("bucket", "COPY", "./d")
    assert (storage.store, storage.persistent, storage.type) == (None, True, None)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("file_mounts: {/a/: ./b}", "1:15 mount-slash"),
        ("file_mounts: {/a: ./b/}", "1:19 mount-slash"),
        ("file_mounts: {'s3://b': ./a}", "1:15 mount-to-url"),
        ("file_mounts: {//set: ./a}", "1:15 mount-to-url"),
        ("file_mounts: {//set: {source: ./a, name: abc}}", "1:15 mount-to-url"),
        ("file_mounts: {/a: 'ftp://h/x'}", "1:19 mount-scheme"),
        ("file_mounts: {/a: ./b, /x/../a: ./c}", "1:24 mount-twice"),
        ("workdir: .\nfile_mounts: {~/sky_workdir: ./b}", "2:15 mount-over-workdir"),
        ("workdir: .\nfile_mounts: {.: ./b}", "2:15 mount-over-workdir"),
        ("file_mounts: {/a: null}", "1:19 wrong-type"),
        ("file_mounts: {/a: [x]}", "1:19 wrong-type"),
        ("file_mounts: {/a: ./b}\nvolumes: {/a: v}", "2:11 mount-twice"),
    ],
)
def test_file_mounts_refused(fields, expected):
    assert task_findings(fields) == [expected]


def test_mounts_below_the_workdir_are_fine():
    assert task_findings("workdir: .\nfile_mounts: {~/sky_workdir/data: ./b, data2: ./b}") == []
    assert task_findings("file_mounts: {~/sky_workdir: ./b}") == []


@pytest.mark.parametrize(
    "storage",
    [
        "{name: my-bucket}",
        "{source: 's3://b'}",
        "{source: 's3://b/part', mode: COPY}",
        "{source: 'hf://org/model'}",
        "{source: 'https://a.blob.core.windows.net/c', store: AZURE}",
        "{name: my-bucket, source: ./d, store: s3, persistent: false}",
        "{name: my_bucket, source: ./d, store: gcs}",
        "{name: my-bucket, source: [a/x.txt, b/y.txt]}",
        "{name: my-bucket, mode: MOUNT_CACHED, type: dataset_ro}",
        "{name: null, source: 's3://b'}",
        "{name: my-bucket, mode: MOUNT_CACHED, config: {mount_cached: {transfers: 4}}}",
    ],
)
def test_storage(storage):
    assert task_findings(f"file_mounts: {{/a: {storage}}}") == []


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        ("{}", ["1:15 storage-empty"]),
        ("{mode: MOUNT}", ["1:15 storage-empty"]),
        ("{source: ./d}", ["1:28 storage-needs-name"]),
        ("{source: [./d]}", ["1:28 storage-needs-name"]),
        ("{name: abc, source: 's3://b'}", ["1:20 storage-name-and-url"]),
        ("{source: 's3://b/part'}", ["1:28 storage-sub-path"]),
        ("{source: 's3://b/part', mode: MOUNT_CACHED}", ["1:28 storage-sub-path"]),
        ("{name: abc, source: [x/a, y/a]}", ["1:45 storage-list-names"]),
        ("{name: abc, source: ['s3://b']}", ["1:40 storage-list-local"]),
        ("{name: abc, source: ./d/}", ["1:39 mount-slash"]),
        ("{name: abc, type: DATASET_RO}", ["1:31 storage-type"]),
        ("{name: abc, store: volume}", ["1:38 store-volume"]),
        ("{name: abc, store: VOLUME}", ["1:38 store-volume"]),
        ("{name: 's3://b'}", ["1:26 bucket-name"]),
        ("{name: My_Bucket, store: s3, source: ./d}", ["1:26 bucket-name"]),
        ("{name: my_bucket, store: s3, source: ./d}", ["1:26 bucket-name"]),
        ("{name: a--b, store: azure, source: ./d}", ["1:26 bucket-name"]),
        ("{name: 10.0.0.1, store: s3, source: ./d}", ["1:26 bucket-name"]),
        ("{name: ab, source: ./d}", ["1:26 bucket-name"]),
        ("{name: abc, store: floppy}", ["1:38 invalid-value"]),
        ("{name: abc, mode: LINK}", ["1:37 invalid-value"]),
    ],
)
def test_storage_refused(storage, expected):
    assert task_findings(f"file_mounts: {{/a: {storage}}}") == expected


def test_a_copy_of_a_bucket_that_must_exist_is_warned_of():
    task, diagnostics = built_task("file_mounts: {/a: {name: abc, mode: COPY}}")
    assert task is not None
    assert findings(diagnostics) == ["1:15 storage-copy-existing"]


def test_a_single_file_is_no_source_of_a_bucket(tmp_path):
    (tmp_path / "f").write_text("x")
    options = {"root": str(tmp_path), "check_files": True}
    text = "file_mounts: {/a: {name: abc, source: %s}}"
    assert task_findings(text % "f", **options) == ["1:39 storage-single-file"]
    assert task_findings(text % "[f]", **options) == []
    assert task_findings(text % "[f, g]", **options) == ["1:43 mount-source-missing"]


def test_volume_mounts():
    text = (
        "resources: {infra: slurm}\nvolumes:\n  /a: v\n  ~/b: {name: v, sub_path: x/y}\n"
        "  /c: {size: 10, labels: {a: b}, config: {access_mode: ReadWriteMany}}\n"
        "  /d: {host_path: /scratch, mode: rw}\n"
    )
    named, part, made, host = task_of(text).volumes
    assert (named.path, named.name) == ("/a", "v")
    assert (part.path, part.sub_path) == ("~/b", "x/y")
    assert (made.size_gib, made.type, made.access_mode) == (10, "k8s-pvc", "ReadWriteMany")
    assert made.labels == {"a": "b"}
    assert (host.host_path, host.host_mode) == ("/scratch", "rw")
    assert made.origin.span().line == 5


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        ("/a/: v", ["1:11 volume-path"]),
        ("a: v", ["1:11 volume-path"]),
        ("/a: null", ["1:15 wrong-type"]),
        ("/a: 3", ["1:15 wrong-type"]),
        ("/a: {}", ["1:11 volume-form"]),
        ("/a: {name: v, size: 10}", ["1:16 volume-keys"]),
        ("/a: {size: 10, sub_path: x}", ["1:26 volume-keys"]),
        ("/a: {name: v, mode: rw}", ["1:25 volume-keys"]),
        ("/a: {name: v, sub_path: ../x}", ["1:35 volume-sub-path"]),
        ("/a: {name: v, sub_path: /x}", ["1:35 volume-sub-path"]),
        ("/a: {size: 0}", ["1:22 volume-size"]),
        ("/a: {size: 10G}", ["1:22 volume-size"]),
        ("/a: {size: 1, type: aws-ebs}", ["1:31 invalid-value"]),
        ("/a: {host_path: /x}", ["1:16 host-path-needs-slurm"]),
        ("/a: {host_path: x}", ["1:16 host-path-needs-slurm", "1:27 host-path"]),
        ("/a: v, /b/../a: w", ["1:18 mount-twice"]),
    ],
)
def test_volume_mounts_refused(volume, expected):
    assert task_findings(f"volumes: {{{volume}}}") == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", ["2:11 volume-access-mode"]),
        (", config: {access_mode: ReadWriteOnce}", ["2:48 volume-access-mode"]),
        (", config: {access_mode: ReadWriteOncePod}", ["2:48 volume-access-mode"]),
        (", config: {access_mode: ReadWriteMany}", []),
        (", config: {access_mode: RWX}", ["2:48 invalid-value"]),
    ],
)
def test_a_volume_for_one_node_on_several(config, expected):
    assert task_findings(f"num_nodes: 2\nvolumes: {{/a: {{size: 10{config}}}}}") == expected


def test_a_rounded_size_is_told():
    task, diagnostics = built_task("volumes: {/a: {size: 1500Mi}}")
    assert task.volumes[0].size_gib == 2
    assert findings(diagnostics) == ["1:22 volume-size-rounded"]


def volume_of(name: str, more: str = "") -> Volume:
    volume, found = built_file(f"name: {name}\ntype: k8s-pvc\nsize: 10\n{more}", f"{name}.yaml")
    assert found == []
    return volume


def checked(text: str, *volumes: Volume) -> list[str]:
    diagnostics = Diagnostics()
    check_named_volumes(task_of(text), {volume.name: volume for volume in volumes}, diagnostics)
    return findings(diagnostics)


@pytest.mark.parametrize(
    ("nodes", "more", "expected"),
    [
        (1, "", []),
        (2, "", ["2:15 volume-access-mode"]),
        (2, "config: {access_mode: ReadWriteOncePod}", ["2:15 volume-access-mode"]),
        (2, "config: {access_mode: ReadWriteMany}", []),
    ],
)
def test_a_named_volume_on_several_nodes(nodes, more, expected):
    text = f"num_nodes: {nodes}\nvolumes: {{/a: v, /b: elsewhere}}"
    assert checked(text, volume_of("v", more)) == expected


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ("{}", []),
        ("{infra: k8s}", []),
        ("{infra: k8s/prod}", []),
        ("{infra: k8s/dev}", ["1:20 volume-places"]),
        ("{infra: slurm}", ["1:20 volume-places"]),
        ("{any_of: [{infra: k8s}, {infra: aws}]}", ["1:44 volume-places"]),
    ],
)
def test_a_named_volume_is_in_one_place(resources, expected):
    text = f"resources: {resources}\nvolumes: {{/a: v}}"
    assert checked(text, volume_of("v", "infra: k8s/prod")) == expected


def test_two_volumes_in_different_places():
    one, other = volume_of("v", "infra: k8s/prod"), volume_of("w", "infra: k8s/dev")
    assert checked("volumes: {/a: v, /b: w}", one, other) == ["1:22 volume-places"]
    assert checked("volumes: {/a: v, /b: w}", one, volume_of("w")) == []


def test_a_volume_document():
    volume, found = built_file(
        "name: data.v1\ntype: k8s-pvc\ninfra: k8s/prod\nsize: 1Ti\nlabels: {team: llm}\n"
        "config: {access_mode: ReadWriteMany, storage_class_name: '', namespace: ml, extra: 1}\n"
    )
    assert found == ["6:77 unknown-field"]
    assert isinstance(volume, Volume)
    assert (volume.name, volume.type, volume.infra) == ("data.v1", "k8s-pvc", "k8s/prod")
    assert (volume.size_gib, volume.access_mode) == (1024, "ReadWriteMany")
    assert (volume.storage_class_name, volume.namespace) == ("", "ml")
    assert volume.config["extra"] == 1


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("name: v\ntype: k8s-pvc", ["1:1 volume-needs-size"]),
        ("name: v\ntype: k8s-pvc\nuse_existing: true", []),
        ("name: v\ntype: aws-efs\ninfra: aws/us-east-1", []),
        ("name: V_1\ntype: k8s-pvc\nsize: 1", ["1:7 volume-name"]),
        (f"name: {'v' * 64}\ntype: k8s-pvc\nsize: 1", ["1:7 volume-name"]),
        ("name: v\ntype: K8S-PVC\nsize: 1", ["2:7 invalid-value"]),
        ("name: v\ntype: k8s-pvc\nsize: 10G", ["3:7 volume-size"]),
        ("name: v\ntype: k8s-pvc\nsize: 1500Mi", ["3:7 volume-size-rounded"]),
        ("name: v\ntype: k8s-pvc\nsize: 1\ninfra: aws", ["4:8 volume-infra"]),
        ("name: v\ntype: k8s-pvc\nsize: 1\ninfra: k8s/*", ["4:8 volume-infra"]),
        ("name: v\ntype: k8s-pvc\nsize: 1\nlabels: {a: 'b c'}", ["4:13 label-value"]),
        ("name: v\ntype: k8s-hostpath", ["1:1 host-path"]),
        ("name: v\ntype: k8s-hostpath\nconfig: {host_path: /a/..}", ["3:21 host-path"]),
        ("name: v\ntype: k8s-hostpath\nconfig: {host_path: /a}", []),
        ("name: v\ntype: k8s-pvc\nsize: 1\nconfig: {host_path: /a}", ["4:10 host-path"]),
        ("name: v\ntype: k8s-pvc\nsize: 1\nconfig: {access_mode: RWX}", ["4:23 invalid-value"]),
        (
            "name: v\ntype: runpod-network-volume\nsize: 5\ninfra: runpod/x",
            ["3:7 volume-size", "4:8 volume-infra"],
        ),
    ],
)
def test_volume_documents(document, expected):
    assert built_file(document)[1] == expected


def test_a_hint_says_where_relative_paths_start(tmp_path):
    _, diagnostics = built_task("workdir: nowhere", check_files=True)
    assert [item.hint for item in diagnostics] == ["relative paths start in the current folder"]
    _, diagnostics = built_task("workdir: nowhere", check_files=True, root=str(tmp_path))
    assert [item.hint for item in diagnostics] == ["relative paths start in the stack's `root`"]
    assert messages("workdir: nowhere", check_files=True) == ["`nowhere` does not exist"]
