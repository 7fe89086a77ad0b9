"""A set whose runs fail on purpose under a JobSet; applied once, read when they have ended."""

from __future__ import annotations

from pathlib import Path

from tests.kubernetes.project import Project

# The folder /mark lies on the node and outlives pods: a line each time that something is done.
_SETUP = 'echo "$SKYPILOT_TASK_ID" >>"/mark/setup-$SKYPILOT_SETUP_NODE_RANK"'
_RUN = """\
echo "$SKYPILOT_TASK_ID $(echo $SKYPILOT_NODE_IPS)" >>"/mark/run-$SKYPILOT_NODE_RANK"
if [ "$(wc -l <"/mark/run-$SKYPILOT_NODE_RANK")" -le "$FAILURES" ]; then
    [ "$SKYPILOT_NODE_RANK" = 1 ] || sleep 600
    sleep "$WAIT"
    exit "$CODE"
fi
echo "rank $SKYPILOT_NODE_RANK is done"
"""
_RECOVERY = {"strategy": "FAILOVER", "max_restarts_on_errors": 0, "recover_on_exit_codes": [33]}


def _task(
    project: Project, name: str, *, failures: int, code: int, restarts: int = 0, wait: int = 1
) -> None:
    """A task of three ranks whose second fails the first times."""
    mark = mark_of(project, name)
    mark.mkdir()
    pod = {
        "containers": [{"name": "task", "volumeMounts": [{"name": "mark", "mountPath": "/mark"}]}],
        "volumes": [{"name": "mark", "hostPath": {"path": str(mark)}}],
    }
    recovery = {**_RECOVERY, "max_restarts_on_errors": restarts}
    project.task(
        name,
        _RUN,
        setup=_SETUP,
        num_nodes=3,
        envs={"FAILURES": str(failures), "CODE": str(code), "WAIT": str(wait)},
        resources={"cpus": 1, "memory": 1, "job_recovery": recovery},
        config={"kubernetes": {"pod_config": {"spec": pod}}},
    )


def mark_of(project: Project, name: str) -> Path:
    """What the ranks of a task have left on the node."""
    return project.folder / f"mark-{name}"


def apply_recovering(project: Project) -> None:
    """One that recovers once, one whose code is the end, one that is there to be cancelled."""
    _task(project, "again", failures=1, code=33, restarts=2)
    _task(project, "once", failures=9, code=7)
    _task(project, "long", failures=9, code=33, restarts=1, wait=1000)
    project.apply()
