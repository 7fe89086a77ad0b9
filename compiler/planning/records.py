"""The record of a run: one JSON document that outlives the platform's object."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

FORMAT_VERSION = "1.0"
_SELDOM = ("lifecycle", "members", "joins")


class Stage(enum.StrEnum):
    """INTENT before the object is created, CREATED once its identity is known, ENDED after."""

    INTENT = "intent"
    CREATED = "created"
    ENDED = "ended"


class Lifecycle(enum.StrEnum):
    """RUN ends; a SERVICE and a VOLUME are there until they are removed, and keep the number of
    their first run."""

    RUN = "run"
    SERVICE = "service"
    VOLUME = "volume"


@dataclass(frozen=True, slots=True)
class Record:
    """One run of one work on one target.

    `name` is the platform object's name; `identity` what the platform calls it (job id, UID);
    `extra` marks a run added by `triplane run`; `ad_hoc` work applied from outside the set's
    inputs; `spec` are the digests of the task's parts by field, for naming what
    changed; `files` maps the paths of rendered artifacts to their digests; `secrets` maps the
    names of secrets to keyed digests of their values, never the values; `outcome` is a
    RunState's value and `exit_code` the work's own, once ended. `members` are the tasks of a
    group or a pipeline, in order, each with its number of nodes; `joins` is the `run_key` of the
    group that the task joined. No clock and no host name.
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
    lifecycle: Lifecycle = Lifecycle.RUN
    members: tuple[tuple[str, int], ...] = ()
    joins: str = ""

    def to_json(self) -> str:
        body = {"format_version": FORMAT_VERSION, **dataclasses.asdict(self)}
        for name in _SELDOM:  # left out where it says nothing
            if not body[name] or body[name] == Lifecycle.RUN:
                del body[name]
        return json.dumps(body, sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Raise ValueError for anything that is not a record of this major version."""
        try:
            body = json.loads(text)
        except RecursionError:
            raise ValueError("not a record: nested too deep") from None
        if not isinstance(body, dict) or not str(body.get("format_version", "")).startswith("1."):
            raise ValueError("not a record of format 1.x")
        known = {item.name for item in dataclasses.fields(cls)}
        try:
            record = cls(**{key: value for key, value in body.items() if key in known})
        except TypeError as error:
            raise ValueError(f"incomplete record: {error}") from None
        _check_types(record)
        return record.typed()

    def typed(self) -> Record:
        """The same with members of enumerations where there are their values. Raise ValueError."""
        return dataclasses.replace(
            self,
            stage=Stage(self.stage),
            lifecycle=Lifecycle(self.lifecycle),
            members=tuple((name, nodes) for name, nodes in self.members),
        )

    @property
    def run_key(self) -> str:
        """`<work>.<run>`: the file name of the record, unique within set and target."""
        return f"{self.work}.{self.run}"


_MAY_BE_NONE = ("identity", "outcome", "exit_code")
_MAPS = ("spec", "files", "secrets")
_NUMBERS = ("run", "exit_code")
_FLAGS = ("extra", "ad_hoc")


def _check_types(record: Record) -> None:
    """Raise ValueError for a value of another type than the record's field has.

    A record may come from a cluster, where others can write: nothing behind this looks again.
    """
    for item in dataclasses.fields(record):
        name, value = item.name, getattr(record, item.name)
        if value is None and name in _MAY_BE_NONE:
            continue
        if name in _FLAGS:
            right = isinstance(value, bool)
        elif name in _NUMBERS:
            right = _is_whole(value)
        elif name in _MAPS:
            right = isinstance(value, dict) and all(
                _is_text(text) for pair in value.items() for text in pair
            )
        elif name == "members":
            right = isinstance(value, list | tuple) and all(map(_is_member, value))
        else:
            right = _is_text(value)
        if not right:
            raise ValueError(f"the record's {name!r} is of the wrong type")


def _is_member(value: object) -> bool:
    """Whether it is a name with a number of nodes."""
    return isinstance(value, list) and [*map(type, value)] == [str, int] and _is_text(value[0])


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    """Whether it is text that can be written again: JSON can spell half of a surrogate pair."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)
