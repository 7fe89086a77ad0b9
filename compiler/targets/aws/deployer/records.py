"""Records and programs of runs, as objects below the set's own prefix of the bucket.

<set>/records/<target>/<work>.<run>.json    the record
<set>/programs/<target>/<work>.<run>.json   the texts that the engine runs for it
<set>/runs/<target>/<work>.<run>/           what its nodes use (templates/aws/peers.sh)
<set>/lock.<target>                         the lock; its text is the holder
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record
from compiler.targets.aws.deployer.bucket import Bucket, Stored

RUN, VOLUME = "triplane:aws:Run", "triplane:aws:Volume"
"""The types of components, as the templates have them."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record, and the version and age (seconds) of the object that holds it."""

    record: Record
    version: str
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class Program:
    """What the project has of one run: paths below `aws/<target>/` to their texts.

    `image` is the AMI that it started with, so that a newer one behind the same parameter
    changes nothing.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None

    @property
    def is_volume(self) -> bool:
        return any(path.startswith("volumes/") for path in self.files)

    def urn_in(self, name: str) -> tuple[str, str]:
        """(type, name) of the component that has everything the program makes."""
        return (VOLUME if self.is_volume else RUN), name

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Program:
        return cls(**json.loads(text))


class Store:
    """The records and programs of one set on one target."""

    def __init__(self, bucket: Bucket, prefix: str, set_name: str, target: str) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self.set_name = set_name
        self.target = target
        self._records = f"{prefix}/records/{target}/"
        self._programs = f"{prefix}/programs/{target}/"

    @property
    def lock_key(self) -> str:
        return f"{self.prefix}/lock.{self.target}"

    def run_prefix(self, record: Record) -> str:
        """Where the nodes of a run meet and leave their logs and the outcome."""
        return f"{self.prefix}/runs/{self.target}/{record.run_key}/"

    def all(self) -> list[StoredRecord]:
        """In the order (work, run)."""
        found = self.bucket.find_all(self.bucket.keys(self._records))
        records = [self._stored(item) for item in found]
        return sorted(records, key=lambda item: (item.record.work, item.record.run))

    def find(self, run_key: str) -> StoredRecord | None:
        item = self.bucket.find(f"{self._records}{run_key}.json")
        return None if item is None else self._stored(item)

    def create(self, record: Record) -> StoredRecord | None:
        """None where the run's number is taken."""
        version = self.bucket.write(self._key(record), record.to_json())
        return None if version is None else StoredRecord(record, version)

    def write(self, stored: StoredRecord, record: Record) -> StoredRecord:
        """Replace what was read. Raise PlanOutdated if it is another by now."""
        if record == stored.record:
            return stored
        version = self.bucket.write(self._key(record), record.to_json(), stored.version)
        if version is None:
            moved = f"{self.target}: the record of {record.run_key} was changed meanwhile"
            raise PlanOutdated([moved])
        return StoredRecord(record, version)

    def remove(self, record: Record) -> None:
        self.bucket.delete([self._key(record)])

    def programs(self) -> dict[str, Program]:
        """By run key, those that are stored."""
        found = self.bucket.find_all(self.bucket.keys(self._programs))
        return {_run_key(item.key): Program.from_json(item.text) for item in found}

    def program_keys(self) -> set[str]:
        return {_run_key(key) for key in self.bucket.keys(self._programs)}

    def keep_program(self, run_key: str, program: Program) -> None:
        self.bucket.put(f"{self._programs}{run_key}.json", program.to_json())

    def drop_program(self, run_key: str) -> None:
        self.bucket.delete([f"{self._programs}{run_key}.json"])

    def _key(self, record: Record) -> str:
        return f"{self._records}{record.run_key}.json"

    def _stored(self, item: Stored) -> StoredRecord:
        try:
            return StoredRecord(Record.from_json(item.text), item.version, item.age)
        except ValueError as error:
            where = f"s3://{self.bucket.name}/{item.key}"
            raise WorkFailed(f"{self.target}: {where} cannot be read: {error}") from None


def _run_key(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".json")
