"""The target's bucket: small objects that are written only if nobody else did meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import IO

from compiler.targets.aws.deployer.account import Account, error_of

_PARALLEL = 8
_DELETED_AT_ONCE = 1000
_MOVED = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_MISSING = ("NoSuchKey", "404")


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read; `version` is its ETag, `age` in seconds by S3's own clock."""

    key: str
    text: str
    version: str
    age: float = 0.0


class Bucket:
    """Raise WorkFailed or TargetUnreachable for what S3 says."""

    def __init__(self, account: Account, name: str) -> None:
        self.name = name
        self._account = account

    def find(self, key: str) -> Stored | None:
        from botocore.exceptions import ClientError

        with self._account.failing():
            try:
                answer = self._s3.get_object(Bucket=self.name, Key=key)
            except ClientError as error:
                if error_of(error)[0] in _MISSING:
                    return None
                raise
            text = answer["Body"].read().decode("utf-8", "replace")
            now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
            age = (now - answer["LastModified"]).total_seconds()
            return Stored(key, text, answer["ETag"], max(0.0, age))

    def find_all(self, keys: Iterable[str]) -> list[Stored]:
        """Those that are there, in the order of the keys."""
        with ThreadPoolExecutor(_PARALLEL) as pool:
            return [item for item in pool.map(self.find, list(keys)) if item is not None]

    def since(self, key: str, start: int) -> bytes:
        """The bytes from `start` on; none where the object is missing or no longer."""
        from botocore.exceptions import ClientError

        with self._account.failing():
            try:
                span = f"bytes={start}-"
                answer = self._s3.get_object(Bucket=self.name, Key=key, Range=span)
                return answer["Body"].read()
            except ClientError as error:
                if error_of(error)[0] in (*_MISSING, "InvalidRange", "416"):
                    return b""
                raise

    def write(self, key: str, text: str, version: str | None = None) -> str | None:
        """Create the object, or replace the one of that `version`; its new version.

        None where it is there already, or is another by now.
        """
        from botocore.exceptions import ClientError

        condition = {"IfNoneMatch": "*"} if version is None else {"IfMatch": version}
        with self._account.failing():
            try:
                answer = self._s3.put_object(
                    Bucket=self.name, Key=key, Body=text.encode(), **condition
                )
            except ClientError as error:
                if error_of(error)[0] in _MOVED:
                    return None
                raise
            return answer["ETag"]

    def put(self, key: str, text: str) -> None:
        with self._account.failing():
            self._s3.put_object(Bucket=self.name, Key=key, Body=text.encode())

    def upload(self, key: str, file: IO[bytes]) -> None:
        """A large object, in parts."""
        with self._account.failing():
            self._s3.upload_fileobj(file, self.name, key)

    def has(self, key: str) -> bool:
        from botocore.exceptions import ClientError

        with self._account.failing():
            try:
                self._s3.head_object(Bucket=self.name, Key=key)
            except ClientError as error:
                if error_of(error)[0] in _MISSING:
                    return False
                raise
            return True

    def keys(self, prefix: str) -> Iterator[str]:
        """All keys that begin with `prefix`, sorted."""
        with self._account.failing():
            pages = self._s3.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self.name, Prefix=prefix):
                for item in page.get("Contents", ()):
                    yield item["Key"]

    def delete(self, keys: Iterable[str]) -> None:
        wanted = [{"Key": key} for key in keys]
        with self._account.failing():
            for start in range(0, len(wanted), _DELETED_AT_ONCE):
                batch = wanted[start : start + _DELETED_AT_ONCE]
                self._s3.delete_objects(Bucket=self.name, Delete={"Objects": batch})

    @property
    def _s3(self):
        return self._account.client("s3")
