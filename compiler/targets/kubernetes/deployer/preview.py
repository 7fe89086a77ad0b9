"""What objects would be on the server: a server-side dry run, nothing is changed."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostics import Diagnostic, WorkFailed
from compiler.rendering.artifact import Artifact
from compiler.targets.kubernetes.deployer import owned
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.execute import bodies, require_ours, send
from compiler.targets.kubernetes.deployer.refusals import ApiRefused


def preview(cluster: Cluster, artifacts: Iterable[Artifact]) -> dict[str, str]:
    """By path, the canonical text that each object would have; empty for whoever may only read.

    Raise WorkFailed with a diagnostic for everything that the server would refuse.
    """
    texts: dict[str, str] = {}
    refused: list[ApiRefused | WorkFailed] = []
    for ref, body in bodies(cluster, artifacts):
        try:
            there = require_ours(cluster, ref)
            # Of a field that somebody else has taken the plan shows that it is put back.
            answer = send(cluster, ref, body, dry=True, force=there is not None)
        except ApiRefused as error:
            if error.is_forbidden:
                return {}
            refused.append(error)
            continue
        except WorkFailed as error:
            refused.append(error)
            continue
        texts[ref.path] = owned.canonical(answer)
    if refused:
        said: list[Diagnostic] = [item for error in refused for item in error.diagnostics]
        raise WorkFailed("; ".join(str(error) for error in refused), diagnostics=said)
    return texts
