"""Volumes on AWS: what they become, what is refused, and what a node does with them."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import GitWorkdir, Infra, VolumeMount
from compiler.targets.aws import TARGET
from tests.aws.builders import ORIGIN, job, resources, target, volume, volume_job
from tests.aws.nodes import Cluster, Node
from tests.aws.projects import run
from tests.unit.test_aws_nodes import outcome

ZONE = "aws/us-east-1/us-east-1a"
DISK = volume("aws-ebs", "disk", size=100, infra=ZONE)
SHARED = volume("aws-efs", "shared")
CORPUS = volume("aws-fsx-lustre", "corpus", size=2400, access_mode="ReadOnlyMany")


def mounting(*mounts: VolumeMount, volumes=(DISK, SHARED, CORPUS), **fields: object):
    """A job that mounts these."""
    made = job(volumes=mounts, **fields)
    return dataclasses.replace(made, mounted={item.name: item for item in volumes})


def mount(path: str, name: str | None = None, **fields: object) -> VolumeMount:
    return VolumeMount(path, name, origin=ORIGIN, **fields)


def codes_of(item) -> list[str]:
    diagnostics = Diagnostics()
    TARGET.render(item, diagnostics)
    return sorted({found.code for found in diagnostics})


def test_a_disk_is_encrypted_protected_and_attached_to_the_node_that_mounts_it(tmp_path):
    project = run(
        tmp_path,
        volume_job("aws-ebs", "disk", size=100, infra=ZONE, iops=4000, labels={"team": "nlp"}),
        mounting(mount("/data", "disk")),
    )
    made = project.one("Volume")
    assert made.is_protected
    assert made.inputs == {
        "availabilityZone": "us-east-1a",
        "size": 100,
        "type": "gp3",
        "iops": 4000,
        "throughput": 125,
        "encrypted": True,
        "tags": made.inputs["tags"],
    }
    assert made.inputs["tags"]["team"] == "nlp"
    assert project.one("VolumeAttachment").inputs == {
        "deviceName": "/dev/sdf",
        "instanceId": "llama-pretrain-1-0-id",
        "volumeId": "llama-disk-id",
    }
    node = project.one("Instance").inputs
    assert node["tags"]["triplane:volume:disk"] == "llama-disk-id"
    filters = next(dict(call)["filters"] for token, call in project.calls if "Subnets" in token)
    assert {"name": "availability-zone", "values": ["us-east-1a"]} in filters
    assert project.outputs["llama-disk"] == {"volume": "disk:llama-disk-id"}


def test_what_is_released_is_no_longer_protected(tmp_path):
    disk = volume_job("aws-ebs", "disk", size=100, infra=ZONE)
    project = run(tmp_path, disk, job(), config={"triplane:released": '["llama-disk"]'})
    assert not project.one("Volume").is_protected


def test_only_nodes_that_mount_a_file_system_are_let_in(tmp_path):
    project = run(
        tmp_path, volume_job("aws-efs", "shared"), mounting(mount("/data", "shared"), num_nodes=2)
    )
    server, clients = "llama-shared-server-id", "llama-shared-clients-id"
    template = project.one("LaunchTemplate").inputs
    assert template["vpcSecurityGroupIds"] == ["llama-pretrain-1-id", clients]
    assert project.one("MountTarget").inputs["securityGroups"] == [server]
    sources = {
        (item.inputs["referencedSecurityGroupId"], item.inputs["fromPort"])
        for item in project.of("SecurityGroupIngressRule")
        if item.inputs["securityGroupId"] == server
    }
    assert sources == {(clients, 2049), (server, 2049)}
    for node in project.of("Instance"):
        assert node.inputs["tags"]["triplane:volume:shared"] == "10.0.0.9"


def test_what_is_there_already_is_found_and_not_made(tmp_path):
    project = run(
        tmp_path,
        volume_job("aws-ebs", "disk", infra=ZONE, use_existing=True),
        volume_job("aws-efs", "fs-0123456789abcdef0", use_existing=True),
        volume_job("aws-fsx-lustre", "fs-0fedcba9876543210", use_existing=True),
    )
    assert project.resources == []
    calls = dict(project.calls)
    assert calls["aws:ebs/getVolume:getVolume"]["filters"] == [
        {"name": "tag:Name", "values": ["disk"]},
        {"name": "availability-zone", "values": ["us-east-1a"]},
    ]
    assert calls["aws:efs/getFileSystem:getFileSystem"] == {"fileSystemId": "fs-0123456789abcdef0"}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (volume("aws-ebs", size=10), "aws-volume-zone"),
        (volume("aws-ebs", size=10, infra="aws/us-east-1/us-west-2a"), "aws-zone"),
        (volume("aws-ebs", size=10, infra=ZONE, access_mode="ReadWriteMany"), "aws-volume-value"),
        (volume("aws-ebs", size=10, infra=ZONE, iops=10**6), "aws-volume-value"),
        (volume("aws-ebs", size=10, infra=ZONE, throughput=1000), "aws-volume-value"),
        (volume("aws-ebs", size=10**6, infra=ZONE), "aws-volume-value"),
        (
            volume("aws-ebs", size=9, infra=ZONE, volume_type="io2", throughput=125),
            "aws-volume-value",
        ),
        (volume("aws-ebs", "data-1", size=10, infra=ZONE), "aws-volume-value"),
        (volume("aws-fsx-lustre", size=500), "aws-volume-value"),
        (volume("aws-fsx-lustre", size=1200, throughput=300), "aws-volume-value"),
        (volume("aws-fsx-lustre", use_existing=True), "aws-volume-value"),
        (volume("aws-efs", labels={"a/b": "c"}), "aws-label"),
    ],
)
def test_a_volume_that_no_service_makes_is_refused(item, expected):
    assert [found.code for found in TARGET.refusals_of_whole(item, target())] == [expected]


@pytest.mark.parametrize("size", [1200, 2400, 4800])
def test_sizes_of_lustre(size):
    assert TARGET.refusals_of_whole(volume("aws-fsx-lustre", size=size), target()) == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (mounting(mount("/d", "disk"), num_nodes=2), ["aws-volume-nodes"]),
        (
            mounting(mount("/d", "disk"), asked=resources(infra=Infra("aws", None, "us-east-1b"))),
            ["aws-volume-zone"],
        ),
        (
            mounting(
                *(mount(f"/d{number}", f"d{number}") for number in range(12)),
                volumes=[volume("aws-ebs", f"d{n}", size=1, infra=ZONE) for n in range(12)],
            ),
            ["aws-volume-nodes"],
        ),
        (mounting(mount("/d", size_gib=10)), ["field-refused"]),
        (
            mounting(
                *(mount(f"/{n}", f"v{n}") for n in range(4)),
                volumes=[volume("aws-efs", f"v{n}") for n in range(4)],
                asked=resources(labels={f"l{n}": "" for n in range(40)}),
            ),
            ["aws-too-large"],
        ),
        (mounting(mount("/a", "shared"), mount("/b", "corpus"), num_nodes=2), []),
    ],
)
def test_what_nodes_cannot_mount_is_said(item, expected):
    assert codes_of(item) == expected


def test_what_of_a_volume_is_lost_is_said():
    assert codes_of(volume_job("aws-efs", storage_class_name="fast")) == ["field-ignored"]


def test_what_can_be_changed_in_place():
    assert "size" in TARGET.volume_updates(DISK, target())
    assert "config.volume_type" not in TARGET.volume_updates(CORPUS, target())
    there = dataclasses.replace(DISK, use_existing=True)
    assert TARGET.volume_updates(there, target()) == frozenset()


def prepare(node: Node, device: str | None = "xvdf", **tags: str) -> None:
    """Tags of the instance, and its own devices and folders in place of the machine's."""
    (node.folder / "tags").mkdir()
    for name, text in tags.items():
        (node.folder / "tags" / name).write_text(text)
    (node.folder / "dev").mkdir()
    if device:
        (node.folder / "dev" / device).parent.mkdir(parents=True, exist_ok=True)
        (node.folder / "dev" / device).touch()
    for path in (node.folder / "triplane/scripts").iterdir():
        text = path.read_text()
        for old in ("'/data'", "'/part'"):
            text = text.replace(old, f"'{node.folder}/mounted{old[1:]}")
        text = text.replace("/dev/disk", f"{node.folder}/dev/disk")
        path.write_text(text.replace("/dev/xvd", f"{node.folder}/dev/xvd"))


def mounts_of(node: Node) -> list[str]:
    text = (node.folder / "mounts").read_text()
    return text.replace(f"{node.folder}/", "").replace("triplane/", "").splitlines()


def test_a_new_disk_is_formatted_once_mounted_and_shown_in_all_its_places(tmp_path):
    disk = mounting(
        mount("/data", "disk"),
        mount("~/sky_workdir/cache", "disk", sub_path="cache"),
        script="echo kept >/data/file || true\necho part >cache/file\n",
    )
    cluster = Cluster(tmp_path, disk)
    (node,) = cluster.nodes
    device = "disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0abc"
    prepare(node, device, disk="vol-0abc")
    assert cluster.run() == [0], node.log()
    assert mounts_of(node) == [
        f"mkfs.ext4 -q dev/{device}",
        f"mount -o rw dev/{device} volumes/disk",
        f"resize2fs dev/{device}",
        "mount --bind volumes/disk mounted/data",
        "mount --bind volumes/disk/cache home/sky_workdir/cache",
    ]
    assert (node.folder / "triplane/volumes/disk/cache/file").read_text() == "part\n"


def test_a_disk_with_data_is_never_formatted(tmp_path):
    cluster = Cluster(tmp_path, mounting(mount("/data", "disk")))
    (node,) = cluster.nodes
    prepare(node, disk="vol-0abc")
    (node.folder / "formatted").touch()
    assert cluster.run() == [0], node.log()
    assert mounts_of(node)[0] == "mount -o rw dev/xvdf volumes/disk"


def test_a_disk_whose_content_is_not_known_is_left_alone(tmp_path):
    cluster = Cluster(tmp_path, mounting(mount("/data", "disk")))
    (node,) = cluster.nodes
    prepare(node, disk="vol-0abc")
    (node.folder / "broken").touch()
    assert cluster.run() == [1]
    assert "what is on disk vol-0abc is not known" in node.log()
    assert outcome(cluster)["phase"] == "prepare"
    assert not (node.folder / "mounts").exists()


def test_a_disk_that_does_not_come_fails_the_run(tmp_path):
    cluster = Cluster(tmp_path, mounting(mount("/data", "disk")))
    (node,) = cluster.nodes
    prepare(node, None, disk="vol-0abc")
    script = node.folder / "triplane/scripts/volumes.sh"
    script.write_text(script.read_text().replace("ATTACH_SECONDS=600", "ATTACH_SECONDS=1"))
    assert cluster.run() == [1]
    assert "disk vol-0abc was not attached within 1 seconds" in node.log()


def test_file_systems_are_mounted_on_every_node(tmp_path):
    item = mounting(mount("/data", "shared"), mount("/part", "corpus"), num_nodes=2)
    cluster = Cluster(tmp_path, item)
    for node in cluster.nodes:
        prepare(node, shared="10.0.0.9", corpus="fs-0.fsx.us-east-1.amazonaws.com/abcdef")
    assert cluster.run() == [0, 0], cluster.nodes[0].log()
    for node in cluster.nodes:
        nfs, lustre = mounts_of(node)[:2]
        assert nfs.startswith("mount -t nfs4 -o rw,nfsvers=4.1,")
        assert nfs.endswith(" 10.0.0.9:/ volumes/shared")
        where = "fs-0.fsx.us-east-1.amazonaws.com@tcp:/abcdef"
        assert lustre == f"mount -t lustre -o ro,relatime,flock {where} volumes/corpus"


def test_a_volume_within_a_cloned_workdir_keeps_what_it_holds(tmp_path):
    source = tmp_path / "repository"
    source.mkdir()
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (source / "cloned").write_text("cloned")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "one"], check=True)
    item = mounting(
        mount("~/sky_workdir/data", "shared"),
        workdir=GitWorkdir(f"file://{source}", None, ORIGIN),
        script="cat cloned data/kept >~/seen\n",
    )
    cluster = Cluster(tmp_path, item)
    (node,) = cluster.nodes
    prepare(node, shared="10.0.0.9")
    held = Path(node.folder / "triplane/volumes/shared")
    held.mkdir(parents=True)
    (held / "kept").write_text(" kept")
    assert cluster.run() == [0], node.log()
    assert (node.home / "seen").read_text() == "cloned kept"
