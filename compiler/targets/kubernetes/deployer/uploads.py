"""What a task brings along and a manifest cannot hold, on its way to where the target keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from compiler.diagnostics import TargetUnreachable, WorkFailed
from compiler.model import TargetSpec
from compiler.rendering.artifact import Artifact
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Progress
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.loader import loader
from compiler.targets.kubernetes.deployer.objects import bodies
from compiler.targets.kubernetes.deployer.workloads import is_workload
from compiler.targets.kubernetes.stored import bucket_of, claim_of, url_of_tree
from compiler.targets.packing import packed

_MISSING = ("NoSuchKey", "404")


def upload(
    cluster: Cluster,
    target: TargetSpec,
    trees: Iterable[FileTree],
    artifacts: Iterable[Artifact],
    progress: Progress,
) -> None:
    """Bring those trees that the artifacts name to the target's bucket or volume, unless they
    are there.

    Raise TargetUnreachable where it cannot be asked, WorkFailed for what it refuses, or if a tree
    is no longer what its digest says.
    """
    bucket, claim = bucket_of(target), claim_of(target)
    if bucket is None and claim is None:
        return
    artifacts = tuple(artifacts)
    wanted = [
        tree
        for tree in trees
        if tree.local is not None and any(tree.digest in item.text for item in artifacts)
    ]
    if not wanted:
        return
    if bucket is not None:
        _to_bucket(target, bucket, wanted, progress)
    elif claim is not None:
        objects = [ref for ref, _ in bodies(cluster, artifacts)]
        namespace = next((ref.namespace for ref in objects if is_workload(ref)), cluster.home)
        with loader(cluster, target, namespace, claim, progress) as keep:
            for tree in wanted:
                keep(tree)


def _to_bucket(target: TargetSpec, bucket: str, trees: list[FileTree], progress: Progress) -> None:
    if find_spec("boto3") is None:
        raise TargetUnreachable(
            target.key, "`files: {bucket}` needs boto3: pip install 'triplane[aws]'"
        )
    with _failing(target.key):
        client = _client()
        try:
            for tree in trees:
                name, _, key = url_of_tree(bucket, tree).removeprefix("s3://").partition("/")
                if not _is_there(client, name, key):
                    with packed(tree, progress) as file:
                        client.upload_fileobj(file, name, key)
        finally:
            client.close()


def _client() -> Any:
    import boto3
    from botocore.config import Config

    retries = {"mode": "standard", "max_attempts": 4}
    return boto3.client("s3", config=Config(connect_timeout=10, read_timeout=60, retries=retries))


def _is_there(client: Any, bucket: str, key: str) -> bool:
    from botocore.exceptions import ClientError

    try:
        client.head_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in _MISSING:
            return False
        raise
    return True


@contextmanager
def _failing(target: str) -> Iterator[None]:
    from boto3.exceptions import Boto3Error
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except (ClientError, Boto3Error) as error:
        raise WorkFailed(f"{target}: S3 refuses the files: {error}") from None
    except BotoCoreError as error:
        raise TargetUnreachable(target, f"S3 cannot be asked: {error}") from None
