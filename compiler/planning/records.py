"""The record of a run: one JSON document that outlives the platform's object."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

FORMAT_VERSION = "1.0"


class Stage(enum.StrEnum):
    """INTENT before the object is created, CREATED once its identity is known, ENDED after."""

    INTENT = "intent"
    CREATED = "created"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Record:
    """One run of one work on one target.

    `name` is the platform object's name; `identity` what the platform calls it (job id, UID);
    `extra` marks a run added by `triplane run`; `ad_hoc` work applied from outside the set's
    inputs; `spec` are the digests of the task's parts by field, for naming what
    changed; `files` maps the paths of rendered artifacts to their digests; `secrets` maps the
    names of secrets to keyed digests of their values, never the values; `outcome` is a
    RunState's value and `exit_code` the work's own, once ended. No clock and no host name.
    """

    set: str
    work: str
    run: int
    target: str
    kind: str
    name: str
    spec_digest: str
    files_digest: str
    stage: Stage
    plan: str = ""
    identity: str | None = None
    outcome: str | None = None
    exit_code: int | None = None
    extra: bool = False
    ad_hoc: bool = False
    spec: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        body = {"format_version": FORMAT_VERSION, **dataclasses.asdict(self)}
        return json.dumps(body, sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Raise ValueError for anything that is not a record of this major version."""
        body = json.loads(text)
        if not isinstance(body, dict) or not str(body.get("format_version", "")).startswith("1."):
            raise ValueError("not a record of format 1.x")
        known = {item.name for item in dataclasses.fields(cls)}
        try:
            record = cls(**{key: value for key, value in body.items() if key in known})
        except TypeError as error:
            raise ValueError(f"incomplete record: {error}") from None
        return dataclasses.replace(record, stage=Stage(record.stage))

    @property
    def run_key(self) -> str:
        """`<work>.<run>`: the file name of the record, unique within set and target."""
        return f"{self.work}.{self.run}"
