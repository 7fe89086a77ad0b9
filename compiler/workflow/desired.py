"""What the input wants of one work, in planning's terms: the intent and the rendered objects."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Deployer, Stack, TargetSpec, Task
from compiler.model.overrides import COMMAND_LINE
from compiler.placement import Placement, Row
from compiler.planning import digests
from compiler.planning.changes import Desired
from compiler.planning.plan import PlacementRow, WorkChange
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.rendering import filetree
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Job
from compiler.workflow import places
from compiler.workflow.joining import run_key
from compiler.workflow.prepare import Prepared
from compiler.workflow.works import Work

# The name under which a target's own files are recorded; no task can be called that.
PROJECT = "_project"


def desired_of(
    job: Job,
    prepared: Prepared,
    placement: Placement,
    artifacts: tuple[Artifact, ...],
    diagnostics: Diagnostics,
    *,
    ad_hoc: bool = False,
    extra: bool = False,
    without_values: bool = False,
) -> Desired:
    """The intent of this run, with everything an apply needs to carry it out.

    `without_values` asks for no value of a secret and keeps the digest of none.
    """
    handed_over, required = _secrets(job, diagnostics, without_values)
    record = Record(
        set=job.stack.set_name,
        work=job.work,
        run=job.run,
        target=job.target.key,
        kind=str(job.target.kind),
        name=job.object_name,
        spec_digest=job.spec_digest,
        files_digest=job.files_digest,
        stage=Stage.INTENT,
        ad_hoc=ad_hoc,
        extra=extra,
        spec=prepared.spec,
        files={artifact.path: artifact.digest for artifact in artifacts},
        lifecycle=lifecycle_of(prepared),
        members=tuple((item.name, item.task.num_nodes) for item in prepared.members)
        if prepared.work.whole is not None
        else (),
        joins="" if job.joins is None else run_key(job.joins),
        secrets={
            name: digests.secret_digest(value, f"{job.stack.set_name}/{name}")
            for name, value in handed_over.items()
        },
    )
    return Desired(
        record=record,
        artifacts=artifacts,
        uploads=tuple(places.portable(tree, job.stack) for tree in job.trees),
        required=tuple(required),
        placement=tuple(placement_row(row, placement) for row in placement.rows),
        locate=lambda key: _location(job, key),
    )


def lifecycle_of(prepared: Prepared) -> Lifecycle:
    """Whether the work ends. In a group of several a service cannot be."""
    if prepared.work.volume is not None:
        return Lifecycle.VOLUME
    serves = prepared.work.task is not None and prepared.task.service is not None
    return Lifecycle.SERVICE if serves else Lifecycle.RUN


def project_of(stack: Stack, target: TargetSpec, artifacts: tuple[Artifact, ...]) -> Desired:
    """The target's own files as work of their own; their digest is that of their content."""
    digest = filetree.combine((artifact.path, artifact.digest) for artifact in artifacts)
    record = Record(
        set=stack.set_name,
        work=PROJECT,
        run=1,
        target=target.key,
        kind=str(target.kind),
        name=stack.set_name,
        spec_digest=digest,
        files_digest=digests.files_digest(()),
        stage=Stage.INTENT,
        files={artifact.path: artifact.digest for artifact in artifacts},
    )
    return Desired(record=record, artifacts=artifacts)


def secret_values(tasks: Iterable[Task], stack: Stack, target_key: str) -> dict[str, str]:
    """The values that an apply hands over: those that no place of the stack provides."""
    return {
        name: secret.value
        for task in tasks
        for name, secret in task.secrets.items()
        if secret.value is not None and target_key not in stack.secrets.get(name, {})
    }


def values_to_hand_over(
    changes: Iterable[WorkChange], works: Iterable[Work], stack: Stack
) -> dict[str, dict[str, str]]:
    """By work and name, the values that an apply of these changes hands over."""
    by_name = {work.name: work for work in works}
    values: dict[str, dict[str, str]] = {}
    candidates = (item for change in changes for item in (change, *change.alternatives))
    for change in candidates:
        if change.secrets and change.work in by_name:
            found = secret_values(by_name[change.work].tasks, stack, change.target)
            values.setdefault(change.work, {}).update(found)
    return values


def placement_row(row: Row, placement: Placement) -> PlacementRow:
    chosen = row is placement.chosen
    rows = row.members or (row,)
    if row.refusals:
        reason = "; ".join(item.message for item in row.refusals)
    else:
        reason = placement.reason if chosen else ""
    asked = (item.resources.accelerator or item.resources.instance_type for item in rows)
    wanted = ", ".join(dict.fromkeys(str(item) for item in asked if item))
    return PlacementRow(row.target.key, chosen, wanted, row.price, row.free, reason)


def _secrets(
    job: Job, diagnostics: Diagnostics, without_values: bool
) -> tuple[dict[str, str], list[str]]:
    """(values handed over at apply, names and places that must exist on the target)."""
    stack, target = job.stack, job.target
    tasks = [member.task for member in job.members or (job,)]
    values = secret_values(tasks, stack, target.key)
    required = []
    for name in sorted({name for task in tasks for name in task.secrets}):
        origin = next(task.origin for task in tasks if name in task.secrets)
        place = stack.secrets.get(name, {}).get(target.key)
        if place is not None:
            required.append(f"{name} ({place.kind} {place.reference})")
        elif target.deployer is Deployer.DIRECTORY:
            required.append(f"{name} (referred to by name; nothing is applied here)")
            if name in values and origin.span("secrets", name).source.path == COMMAND_LINE:
                diagnostics.add(
                    codes.SECRET_NOT_KEPT.at(
                        origin.span("secrets", name),
                        f"the value of secret `{name}` goes nowhere: `{target.key}` only writes "
                        "files, which refer to it by name",
                        hint="put it on the platform, in the secret that the files name",
                        target=target.key,
                    )
                )
        elif without_values:
            required.append(f"{name} (its value is handed over when this is applied)")
        elif name not in values:
            diagnostics.add(
                codes.SECRET_MISSING.at(
                    origin.span("secrets", name),
                    f"secret `{name}` has no value, and the stack names no place on "
                    f"`{target.key}` to take it from",
                    hint=f"--secret {name}, or `secrets: {{{name}: {{{target.key}: ...}}}}` "
                    "in the stack",
                    target=target.key,
                )
            )
    if without_values or target.deployer is Deployer.DIRECTORY:
        values = {}
    return values, required


def _location(job: Job, key: str) -> str | None:
    """`file:line:column` of the field behind a spec key such as `resources.cpus`."""
    location = _in_work(job, key)
    return None if location is None else places.located(location, job.stack)


def _in_work(job: Job, key: str) -> str | None:
    if job.volume is not None:
        return job.volume.origin.key_span(*key.split(".", 1)).location
    if not job.members:
        return _written_at(job.task, key)
    for member in job.members:
        name = member.member_name
        if key.startswith(f"{name}."):
            return _written_at(member.task, key.removeprefix(f"{name}."))
    whole = job.group or job.pipeline
    assert whole is not None
    return whole.origin.key_span(*([] if key in ("tasks", "order") else [key])).location


def _written_at(task: Task, key: str) -> str | None:
    head, _, rest = key.partition(".")
    if head == "resources":
        candidate = task.resources.candidates[0]
        dialect = {"accelerator": "accelerators", "image": "image_id"}.get(rest, rest)
        origin = candidate.origin_of(dialect)
        return origin.key_span().location if dialect in candidate.given else None
    names = [head, rest] if rest else [{"storage": "file_mounts"}.get(head, head)]
    return task.origin.key_span(*names).location
