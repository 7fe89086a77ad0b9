"""A group or a pipeline as one JobSet; without JobSet on the cluster a group is single Jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes as k8s_codes
from compiler.diagnostics.codes import kubernetes_groups as codes
from compiler.model import Deployer, Group, Pipeline, TargetSpec, names
from compiler.targets.interface import Job
from compiler.targets.kubernetes import kueue, metadata
from compiler.targets.kubernetes.additions import NOTHING, combined
from compiler.targets.kubernetes.gang import (
    Gang,
    gang_of,
    gang_of_member,
    gang_of_whole,
    uses_jobset,
)
from compiler.targets.kubernetes.group_ending import (
    ending_faults,
    failure_policy,
    linger,
    member_recovery,
    success_policy,
)
from compiler.targets.kubernetes.group_hosts import (
    GROUP_LABEL,
    hosts,
    lines_of_group,
    lines_of_joined,
)
from compiler.targets.kubernetes.group_names import (
    member_names,
    members_of,
    replicated_name,
    whole_name,
)
from compiler.targets.kubernetes.jobset import Member, jobset_body, longest_pod_name
from compiler.targets.kubernetes.lower import Parts, external_secret_manifests, parts_of
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.pod import SCRIPT_FOLDER
from compiler.targets.kubernetes.settings import Settings, settings_of
from compiler.targets.kubernetes.workload import job_spec, workload


@dataclass(frozen=True, slots=True)
class _Lowered:
    """One task of a whole, ready to be put into its object."""

    job: Job
    settings: Settings
    gang: Gang
    parts: Parts


def has_jobset(target: TargetSpec) -> bool:
    return target.options.get("jobset") is not None


def whole_faults(whole: Group | Pipeline, target: TargetSpec) -> Iterator[Diagnostic]:
    """What this target cannot do for a group or a pipeline without JobSet."""
    if has_jobset(target):
        return
    if isinstance(whole, Pipeline):
        words = "a pipeline needs JobSet, which starts a task once the one before it is done"
    elif len(whole.primary_tasks) < len(whole.tasks):
        words = "auxiliary tasks need JobSet, which ends them with the primary ones"
    elif target.deployer is not Deployer.DIRECTORY:
        words = "a group is followed by its JobSet; single Jobs are written for others to apply"
    else:
        return
    yield codes.NEEDS_JOBSET.at(
        whole.origin.span(),
        words,
        hint=f'set `jobset: "0.12"` at `{target.key}`',
        target=target.key,
    )


def lower_whole(whole: Job, settings: Settings, diagnostics: Diagnostics) -> list[Manifest]:
    """All objects of a group or a pipeline, the ones that others need first."""
    in_jobset = has_jobset(whole.target)
    diagnostics.extend(_faults(whole, in_jobset))
    service = member_names(whole, whole.members[0], in_jobset=in_jobset).service
    gang = gang_of_whole(whole, settings)
    manifests = list(external_secret_manifests(_with_all_secrets(whole), settings))
    manifests.append(_service(whole, settings, service))
    manifests += gang.pods.manifests
    lowered: list[_Lowered] = []
    for member in whole.members:
        found = _lower_member(whole, member, gang, diagnostics, in_jobset=in_jobset)
        if found is not None:
            lowered.append(found)
            manifests += _in_member_files(member, found.parts.manifests)
    if diagnostics.has_errors:
        return []
    if in_jobset:
        manifests.append(_jobset(whole, settings, lowered, gang, diagnostics))
    else:
        for item in lowered:
            made = [workload(item.parts.pod, item.gang, diagnostics)]
            manifests += _in_member_files(item.job, made)
    return manifests


def lower_joined(job: Job, settings: Settings, diagnostics: Diagnostics) -> list[Manifest]:
    """The Job of a task that joins a running group, or the JobSet where it recovers by one: in
    the domain of the group's Service."""
    assert job.joins is not None
    group = job.joins
    service = whole_name(job.stack.set_name, group.name, group.run, group.members)
    own = replace(metadata.names_of(job, uses_jobset(job)), service=service)
    diagnostics.extend(metadata.too_long(job, own))
    lines = lines_of_joined(job, own.job, service)
    more = hosts(job, settings, service, lines)
    gang = gang_of(job, settings)
    parts = parts_of(job, settings, own, combined((more, gang.pods)), diagnostics)
    if parts is None:
        return []
    return [*parts.manifests, workload(parts.pod, gang, diagnostics)]


def _lower_member(
    whole: Job, member: Job, of_whole: Gang, diagnostics: Diagnostics, *, in_jobset: bool
) -> _Lowered | None:
    settings = settings_of(member)
    own = member_names(whole, member, in_jobset=in_jobset)
    gang = gang_of_member(of_whole, whole, member, settings)
    more = NOTHING
    if whole.group is not None:
        lines = lines_of_group(whole, in_jobset=in_jobset)
        more = hosts(member, settings, own.service, lines)
    ending = linger(whole, member, SCRIPT_FOLDER)
    added = combined((more, gang.pods, ending))
    parts = parts_of(member, settings, own, added, diagnostics)
    return None if parts is None else _Lowered(member, settings, gang, parts)


def _jobset(
    whole: Job,
    settings: Settings,
    lowered: Iterable[_Lowered],
    gang: Gang,
    diagnostics: Diagnostics,
) -> Manifest:
    lowered = list(lowered)
    members: list[Member] = []
    for item in lowered:
        recovery = member_recovery(item.job, in_jobset=True)
        spec = job_spec(item.parts.pod, recovery, item.gang, diagnostics)
        members.append(
            Member(
                replicated_name(item.job.member_name),
                spec,
                labels={
                    **metadata.custom(item.settings, "labels"),
                    **item.job.resources.labels,
                    **item.gang.job_labels,
                    **metadata.own_labels(item.job),
                },
                annotations=item.gang.job_annotations,
                after=members[-1].name if whole.pipeline is not None and members else None,
            )
        )
    meta = metadata.object_metadata(
        whole,
        settings,
        lowered[0].parts.pod.names.service,
        labels={**kueue.job_labels(whole, settings), **gang.job_labels},
        annotations={
            **kueue.job_annotations(settings),
            **gang.job_annotations,
            metadata.SPEC_DIGEST: whole.spec_digest,
            metadata.FILES_DIGEST: whole.files_digest,
        },
    )
    body = jobset_body(
        meta,
        members,
        failure_policy=failure_policy(whole),
        success_policy=success_policy(whole),
        ttl=settings.ttl,
    )
    return Manifest("jobset.yaml", "object.yaml.j2", body)


def _service(whole: Job, settings: Settings, name: str) -> Manifest:
    """The names of all ranks of all tasks, and of those that join later."""
    own = metadata.own_labels(whole)
    selector = {GROUP_LABEL: name} if whole.group is not None else own
    body: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata.object_metadata(whole, settings, name),
        "spec": {"clusterIP": "None", "selector": selector, "publishNotReadyAddresses": True},
    }
    return Manifest("service.yaml", "service.yaml.j2", body)


def _in_member_files(member: Job, manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """The same in files whose names begin with the task's."""
    prefix = names.dns_label(member.member_name)
    for manifest in manifests:
        yield replace(manifest, file=f"{prefix}.{manifest.file}")


def _with_all_secrets(whole: Job) -> Job:
    secrets = {name: item for member in whole.members for name, item in member.task.secrets.items()}
    return replace(whole, task=replace(whole.task, secrets=secrets))


def _faults(whole: Job, in_jobset: bool) -> Iterator[Diagnostic]:
    target = whole.target.key
    first = settings_of(whole.members[0])
    for member in whole.members[1:]:
        settings = settings_of(member)
        for what in ("namespace", "queue"):
            if getattr(settings, what) != getattr(first, what):
                yield codes.MEMBERS_DIFFER.at(
                    member.task.origin.key_span("config"),
                    f"the {what} of `{member.member_name}` is {getattr(settings, what)}, that of "
                    f"`{whole.members[0].member_name}` {getattr(first, what)}",
                    target=target,
                )
    if in_jobset:
        yield from ending_faults(whole)
        yield from _too_long(whole)
    elif whole.group is not None:
        yield codes.GROUP_NOT_GANG.at(
            whole.group.origin.span(),
            f"`{target}` has no JobSet: the tasks of `{whole.work}` start and end one by one",
            hint='set `jobset: "0.12"` (its version)',
            target=target,
        )


def _too_long(whole: Job) -> Iterator[Diagnostic]:
    """Names that JobSet would refuse, as far as they were not cut."""
    name = whole_name(whole.stack.set_name, whole.work, whole.run, members_of(whole))
    for member in whole.members:
        longest = longest_pod_name(name, replicated_name(member.member_name), member.task.num_nodes)
        if len(longest) > names.DNS_LABEL_LIMIT:
            yield k8s_codes.NAME_TOO_LONG.at(
                member.task.origin.span("name"),
                f"the pod name `{longest}` has {len(longest)} characters",
                expected=f"at most {names.DNS_LABEL_LIMIT}",
                target=whole.target.key,
            )
