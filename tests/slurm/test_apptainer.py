"""Tasks in images that Apptainer starts, with a stand-in that only notes how it was called."""

from __future__ import annotations

import pytest

from tests.slurm.submitting import STACK, Submitter

pytestmark = pytest.mark.slurm

_STAND_IN = """\
#!/bin/bash
printf '%s\\n' "$@" >"$HOME/apptainer.called"
while [ $# -gt 0 ] && [[ $1 != docker://* ]]; do shift; done
shift
exec "$@"
"""


def test_ranks_are_started_by_apptainer(submit: Submitter) -> None:
    tool = submit.site.write("alice", "apptainer-tools/apptainer", _STAND_IN)
    tool.chmod(0o755)
    job = submit(
        """\
name: boxed
resources: {infra: slurm/alpha/cpu, cpus: 1, memory: 1, image_id: docker:ml/trainer:2.1}
volumes: {/data: {host_path: /scratch/my data}}
setup: echo installed > ~/note
run: cat ~/note; echo "$SKYPILOT_NODE_RANK"
""",
        STACK.replace('version: "22.05"', 'version: "22.05", containers: apptainer'),
        env={"PATH": f"{tool.parent}:/usr/local/bin:/usr/bin:/bin"},
    )
    assert job.wait() == "COMPLETED", job.output
    assert job.log() == "installed\n0\n"
    called = (submit.site.home("alice") / "apptainer.called").read_text().splitlines()
    assert called[:4] == ["exec", "--writable-tmpfs", "--home", str(job.work / "home")]
    binds = f"{job.work}:{job.work},{job.folder}:{job.folder},/scratch/my data:/data:ro"
    assert called[4:7] == ["--bind", binds, "docker://ml/trainer:2.1"]
    assert called[7] == "bash"
