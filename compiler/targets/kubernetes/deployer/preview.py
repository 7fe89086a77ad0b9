"""What objects would be on the server: a server-side dry run, nothing is changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from compiler.diagnostics import Diagnostic, WorkFailed
from compiler.planning.changes import Preview
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import PreviewRefused
from compiler.targets.kubernetes.deployer import owned, pending
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.objects import Body, bodies, require_ours, send
from compiler.targets.kubernetes.deployer.refusals import ApiRefused, Conflict


def preview(cluster: Cluster, artifacts: Iterable[Artifact]) -> Preview:
    """The canonical text that each object would have; no texts for whoever may only read.

    Raise WorkFailed with a diagnostic for everything that the server would refuse.
    """
    texts: dict[str, str] = {}
    taken: list[str] = []
    refused: list[tuple[Ref, WorkFailed]] = []

    def ask(item: tuple[Ref, Body]) -> tuple[Body, tuple[Conflict, ...]] | WorkFailed:
        try:
            require_ours(cluster, item[0])
            return _asked(cluster, *item)
        except WorkFailed as error:
            return error

    objects = bodies(cluster, artifacts)
    answers = cluster.together(ask, objects)
    for (ref, _), answer in zip(objects, answers, strict=True):
        if isinstance(answer, ApiRefused) and answer.is_forbidden:
            return Preview(notes=(f"not compared by the server: {answer.action} is forbidden",))
        if isinstance(answer, WorkFailed):
            refused.append((ref, answer))
            continue
        body, conflicts = answer
        texts[ref.path] = owned.canonical(body)
        taken += [f"{ref.address} {item.field} was set by {item.manager}" for item in conflicts]
    if refused:
        raise _all_of(refused)
    return Preview(texts, tuple(taken))


def _all_of(refused: list[tuple[Ref, WorkFailed]]) -> WorkFailed:
    """One failure for all objects. One that has no diagnostic (a network, say) comes first."""
    said: list[Diagnostic] = []
    places: list[tuple[str, str]] = []
    for ref, error in refused:
        if not error.diagnostics:
            return error
        field = error.field if isinstance(error, ApiRefused) else ""
        said += error.diagnostics
        places += [(ref.path, field)] * len(error.diagnostics)
    return PreviewRefused("; ".join(str(error) for _, error in refused), said, places)


def _as_new(cluster: Cluster, ref: Ref, body: Body) -> Body:
    """What cannot be changed is asked for under another name: it will be replaced."""
    name = f"{ref.name}-preview"
    renamed = {**body, "metadata": {**body["metadata"], "name": name}}
    answer = send(cluster, dataclasses.replace(ref, name=name), renamed, dry=True)
    return {**answer, "metadata": {**answer["metadata"], "name": ref.name}}


def _asked(cluster: Cluster, ref: Ref, body: Body) -> tuple[Body, tuple[Conflict, ...]]:
    """(the object as it would be, the fields that would be taken back from others)."""
    if pending.is_immutable(body):
        return _as_new(cluster, ref, body), ()
    try:
        return send(cluster, ref, body, dry=True), ()
    except ApiRefused as error:
        if not error.conflicts:
            raise
        return send(cluster, ref, body, dry=True, force=True), error.conflicts
