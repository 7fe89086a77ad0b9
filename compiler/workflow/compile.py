"""From prepared works to rendered jobs: placed, lowered, emitted, verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from compiler.diagnostics import Diagnostic, Diagnostics, Related, Severity, Span
from compiler.diagnostics.codes import workflow as codes
from compiler.diagnostics.codes.stack import UNKNOWN_WORKSPACE
from compiler.model import Resources, Stack, TargetSpec
from compiler.placement import (
    Placement,
    Row,
    matching_targets,
    names_for,
    place,
    place_together,
)
from compiler.rendering.artifact import Artifact
from compiler.source import suggest
from compiler.targets.interface import Job, JoinedGroup
from compiler.targets.registry import target_of
from compiler.workflow.prepare import Member, Prepared
from compiler.workflow.prices import hourly_price
from compiler.workflow.refusals import MountedBy, VolumesAt, of_whole, refuse_of


def place_work(
    prepared: Prepared,
    stack: Stack,
    diagnostics: Diagnostics,
    *,
    free: Mapping[str, Mapping[str, int]] | None = None,
    recorded: str | None = None,
    only: Sequence[str] = (),
    volumes_at: VolumesAt | None = None,
    mounted_by: MountedBy = (),
) -> Placement:
    """Choose the target; an impossible placement is an error with every row's reason.

    `only` restricts the stack to some of its targets: work that may go to none of them but to
    others is left out with a note, and nothing is chosen. `volumes_at` says where the set's
    volumes are, as work goes where its volumes are; `mounted_by` what has to reach a volume.
    """
    some = _only(stack, tuple(only)) if only else stack
    refuse = refuse_of(prepared, stack, volumes_at or {}, mounted_by)

    def price(resources: Resources, spec: TargetSpec, nodes: int) -> float | None:
        return hourly_price(resources, spec, stack, nodes)

    if prepared.work.whole is None:
        placement = place(
            prepared.task, some, refuse=refuse, price=price, free=free or {}, recorded=recorded
        )
    else:
        placement = place_together(
            {member.name: member.task for member in prepared.members},
            some,
            refuse=refuse,
            refuse_whole=lambda spec: of_whole(prepared.work, spec),
            price=price,
            free=free or {},
            recorded=recorded,
            at_once=prepared.work.group is not None,
        )
    diagnostics.extend(_unmatched(prepared, stack))
    diagnostics.extend(_unknown_workspaces(prepared, stack))
    if placement.chosen is None:
        diagnostics.extend(_why_nowhere(prepared, placement, stack, only))
    return placement


@lru_cache(maxsize=8)
def _only(stack: Stack, keys: tuple[str, ...]) -> Stack:
    return replace(stack, targets={key: stack.targets[key] for key in stack.targets if key in keys})


def possible_rows(placement: Placement) -> Iterable[Row]:
    """The best row of each target that can take the work (for --every-target)."""
    seen: set[str] = set()
    for row in placement.rows:
        if row.is_possible and row.target.key not in seen:
            seen.add(row.target.key)
            yield row


def left_out(prepared: Prepared, placement: Placement) -> Iterable[Diagnostic]:
    """A note for each target that --every-target looked at and that cannot take the work."""
    possible = {row.target.key for row in possible_rows(placement)}
    refused: dict[str, dict[Diagnostic, None]] = {}
    for row in placement.rows:
        if row.target.key not in possible:
            refused.setdefault(row.target.key, {}).update(dict.fromkeys(row.refusals))
    for key, refusals in refused.items():
        yield codes.LEFT_OUT.at(
            _blamed(prepared),
            f"`{prepared.work.name}` cannot go to {key}: left out",
            related=_as_related(refusals),
        )


def _blamed(prepared: Prepared) -> Span:
    # Of several tasks none is more to blame than another.
    several = prepared.work.whole is not None
    return prepared.origin.span() if several else prepared.task.resources.origin.span()


def _as_related(refusals: Iterable[Diagnostic]) -> list[Related]:
    return [
        Related(f"{item.target or 'target'}: {item.message} [{item.code}]", item.span)
        for item in refusals
        if item.severity is Severity.ERROR
    ]


def make_job(
    prepared: Prepared, stack: Stack, row: Row, run: int, joins: JoinedGroup | None = None
) -> Job:
    """The job of a work on the target of `row`, with the jobs of its tasks where it has several."""
    work = prepared.work
    whole = work.whole
    if whole is None:
        alone = _job(prepared.members[0], stack, row, run)
        return replace(alone, volume=work.volume, joins=joins)
    members = tuple(
        replace(
            _job(member, stack, of_member, run),
            group=work.group,
            pipeline=work.pipeline,
            part_of=work.name,
        )
        for member, of_member in zip(prepared.members, row.members, strict=True)
    )
    return replace(
        members[0],
        work=work.name,
        part_of=None,
        spec_digest=prepared.spec_digest,
        files_digest=prepared.files_digest,
        trees=prepared.trees,
        members=members,
        mounted={name: item for member in members for name, item in member.mounted.items()},
    )


def _job(member: Member, stack: Stack, row: Row, run: int) -> Job:
    return Job(
        stack=stack,
        target=row.target,
        task=member.task,
        work=member.job,
        resources=row.resources,
        run=run,
        spec_digest=member.spec_digest,
        files_digest=member.files_digest,
        trees=member.trees,
        mounted=member.mounted,
    )


def render_job(job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
    """The job's artifacts, each checked for what it is."""
    target = target_of(job.target.kind)
    artifacts = target.render(job, diagnostics)
    for artifact in artifacts:
        diagnostics.extend(target.verify(artifact, job.target))
    return artifacts


def render_project(
    stack: Stack, spec: TargetSpec, diagnostics: Diagnostics
) -> tuple[Artifact, ...]:
    """What belongs to a target as a whole (a Pulumi project), whatever works are placed on it."""
    target = target_of(spec.kind)
    artifacts = target.project(stack, spec)
    for artifact in artifacts:
        diagnostics.extend(target.verify(artifact, spec))
    return artifacts


def _unmatched(prepared: Prepared, stack: Stack) -> Iterable[Diagnostic]:
    """Candidates whose `infra` is nothing of the stack: an error where it is all of them."""
    for member in prepared.members:
        candidates = member.task.resources.candidates
        lost = [item for item in candidates if not matching_targets(item.infra, stack)]
        for candidate in lost:
            infra = candidate.infra
            close = suggest(infra.region or infra.cloud or "", names_for(infra, stack))
            yield codes.INFRA_NOT_IN_STACK.at(
                candidate.origin_of("infra").span(),
                f"`{infra}` is no target of stack `{stack.name}`",
                expected=", ".join(f"{spec.kind}/{key}" for key, spec in stack.targets.items()),
                hint=f"did you mean `{close}`?" if close else None,
                severity=Severity.ERROR if len(lost) == len(candidates) else Severity.WARNING,
            )


def _unknown_workspaces(prepared: Prepared, stack: Stack) -> Iterable[Diagnostic]:
    """Tasks that name a workspace of which the stack says nothing."""
    known = stack.known_workspaces()
    for member in prepared.members:
        name = member.task.config.get("active_workspace")
        if isinstance(name, str) and name not in known:
            close = suggest(name, known)
            yield UNKNOWN_WORKSPACE.at(
                member.task.origin.span("config", "active_workspace"),
                f"there is no workspace `{name}` in stack `{stack.name}`",
                expected=", ".join(sorted(known)),
                hint=f"did you mean `{close}`?" if close else None,
            )


def _why_nowhere(
    prepared: Prepared, placement: Placement, stack: Stack, only: Sequence[str]
) -> Iterable[Diagnostic]:
    span = _blamed(prepared)
    if not placement.rows:
        elsewhere = dict.fromkeys(
            spec.key
            for member in prepared.members
            for item in member.task.resources.candidates
            for spec in matching_targets(item.infra, stack)
        )
        if only and elsewhere:
            yield codes.LEFT_OUT.at(
                span,
                f"`{prepared.work.name}` may go to {', '.join(elsewhere)}, "
                f"and not to {', '.join(only)}: left out",
            )
        return
    refusals = list(dict.fromkeys(item for row in placement.rows for item in row.refusals))
    if len({row.target.key for row in placement.rows}) == 1:
        yield from refusals
        return
    everywhere = [item for item in refusals if all(item in row.refusals for row in placement.rows)]
    if everywhere:  # what no other target would change, such as a rule of the policy
        yield from everywhere
        return
    yield codes.NO_TARGET.at(
        span,
        f"no target of stack `{stack.name}` can take `{prepared.work.name}`",
        related=_as_related(refusals),
    )
