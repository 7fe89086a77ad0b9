"""Every golden sbatch script is one that the real sbatch takes."""

from __future__ import annotations

import re

import pytest

from tests import golden_harness as harness
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

# Scripts for what the cluster alpha does not have, by the beginning of their names, and what
# sbatch says about them.
_NO_SUCH_GPU = "Requested node configuration is not available"
NOT_ON_ALPHA = {
    "dialect-19-same-card-other-counts/": _NO_SUCH_GPU,
    "slurm-gres-forms/slurm/own-names/": _NO_SUCH_GPU,
    "slurm-heterogeneous-script/": _NO_SUCH_GPU,
    "slurm-time-limits/slurm/alpha/lab-default-1/": "invalid partition specified: ampere",
    "slurm-time-limits/slurm/alpha/lab-longest-1/": "invalid partition specified: hopper",
    "slurm-time-limits/slurm/alpha/lab-own-1/": "invalid partition specified: endless",
    "examples-every-target/slurm/alpha/demo-dev-node-1/": _NO_SUCH_GPU,
    "examples-every-target/slurm/alpha/demo-lora-finetune-1/": _NO_SUCH_GPU,
    "examples-every-target/slurm/alpha/demo-overnight-1/": "invalid partition specified: long",
    "examples-every-target/slurm/alpha/demo-ray-train-1/": _NO_SUCH_GPU,
    "examples-every-target/slurm/alpha/demo-parameter-study-1/": "Node count specification invalid",
}


def scripts() -> dict[str, str]:
    """`<case>/<path>` -> text of every expected sbatch script."""
    return {
        f"{case.name}/{path}": text
        for case in harness.cases()
        for path, text in harness.expected_of(case).files.items()
        if path.endswith("/job.sbatch")
    }


@pytest.mark.parametrize("name", scripts())
def test_sbatch_takes_it(slurm_site: SlurmSite, name: str) -> None:
    text = scripts()[name]
    user = "bob" if "#SBATCH --account=teaching\n" in text else "alice"  # who may use it
    done = slurm_site.run("alpha", user, ["sbatch", "--test-only"], input=text)
    refusal = next((why for start, why in NOT_ON_ALPHA.items() if name.startswith(start)), None)
    if refusal is None:
        assert done.returncode == 0, done.stderr
        assert re.search(r"Job \d+ to start at", done.stderr), done.stderr
    else:
        assert refusal in done.stderr
