"""A set whose runs show the runtime contract; applied once, read when its ranks have ended."""

from __future__ import annotations

from tests.kubernetes.project import Project

_CONTRACT = """\
echo "ips $(echo $SKYPILOT_NODE_IPS) nodes $SKYPILOT_NUM_NODES rank $SKYPILOT_NODE_RANK"
echo "id $SKYPILOT_TASK_ID"
echo "token $TOKEN"
echo "at $(pwd) has $(cat data.txt)"
echo "ran at $(date +%s)"
"""
_SETUP = 'sleep $((SKYPILOT_SETUP_NODE_RANK * 3)); echo "set up at $(date +%s)"'
_FAILING = 'if [ "$SKYPILOT_NODE_RANK" = 1 ]; then sleep 4; exit 33; fi\nsleep 1000'


def apply_runs(project: Project) -> None:
    """Apply all runs at once; `stays` is there for whoever wants to look into a pod."""
    (project.folder / "work").mkdir()
    (project.folder / "work" / "data.txt").write_text("42\n")
    secrets = {"TOKEN": 'it\'s a "s3cr3t" 🚀'}
    project.task("contract", _CONTRACT, num_nodes=3, setup=_SETUP, secrets=secrets, workdir="work")
    project.task("failing", _FAILING, num_nodes=3)
    project.task("setup-fails", "echo never", num_nodes=2, setup='exit "$SKYPILOT_SETUP_NODE_RANK"')
    project.task("talks", 'for i in $(seq 1 8); do echo "line $i"; sleep 0.5; done')
    project.task("gone", "kill -9 $$")
    project.task("stays", "sleep 1000", num_nodes=2, envs={"GREETING": "it's"}, workdir="work")
    project.apply()
