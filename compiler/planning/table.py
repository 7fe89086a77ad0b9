"""The whole outcome table: the part for the kind of work that it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.planning.digests import changed_fields
from compiler.planning.lasting import (
    decide_lasting_removal,
    decide_service,
    decide_turned,
    decide_volume,
)
from compiler.planning.outcomes import Decision, Policy, decide, decide_removal
from compiler.planning.records import Lifecycle
from compiler.planning.states import ObservedRun


@dataclass(frozen=True, slots=True)
class Wanted:
    """Work as the input has it. `spec` are the digests of its parts by field, `updatable` the
    fields of a volume that the platform changes in place."""

    spec_digest: str
    files_digest: str
    spec: Mapping[str, str]
    lifecycle: Lifecycle = Lifecycle.RUN
    updatable: frozenset[str] = field(default_factory=frozenset)


def decide_work(
    last: ObservedRun | None, wanted: Wanted, highest_run: int, policy: Policy
) -> Decision:
    """What happens to work that is wanted."""
    if last is not None and last.record.lifecycle is not wanted.lifecycle:
        return decide_turned(last, wanted.lifecycle, highest_run, policy)
    if wanted.lifecycle is Lifecycle.VOLUME:
        fixed = [] if last is None else _fixed(last, wanted)
        return decide_volume(last, wanted.spec_digest, fixed, highest_run, policy)
    if wanted.lifecycle is Lifecycle.SERVICE:
        return decide_service(last, wanted.spec_digest, wanted.files_digest, highest_run, policy)
    return decide(last, wanted.spec_digest, wanted.files_digest, highest_run, policy)


def decide_unwanted(last: ObservedRun, policy: Policy) -> Decision:
    """What becomes of work that is no longer in the set."""
    if last.record.lifecycle is Lifecycle.RUN:
        return decide_removal(last, policy)
    return decide_lasting_removal(last, policy)


def _fixed(last: ObservedRun, wanted: Wanted) -> list[str]:
    """The changed fields that stay as they are while the volume is there; of a volume whose
    record is lost nobody knows which those are."""
    changed = changed_fields(last.record.spec, wanted.spec)
    return [name for name in changed if name not in wanted.updatable]
