"""Every golden sbatch script is one that the real sbatch takes."""

from __future__ import annotations

import re

import pytest

from compiler.targets.slurm.options import parse_version
from tests import golden_harness as harness
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

# Scripts for what the cluster alpha does not have, and what sbatch says about them.
NOT_ON_ALPHA = {
    # It has no L4.
    "dialect-19-same-card-other-counts": "Requested node configuration is not available",
}
STACKS = {case.name: case / "stack.yaml" for case in harness.cases()}


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
    refusal = NOT_ON_ALPHA.get(name.partition("/")[0])
    if refusal is None:
        assert done.returncode == 0, done.stderr
        assert re.search(r"Job \d+ to start at", done.stderr), done.stderr
    else:
        assert refusal in done.stderr


def test_the_stacks_are_for_this_version_or_an_older_one(slurm_site: SlurmSite) -> None:
    shown = slurm_site.run("alpha", "alice", ["sbatch", "--version"]).stdout
    running = parse_version(shown.partition(" ")[2])
    assert running is not None
    for name in scripts():
        stack = STACKS[name.partition("/")[0]]
        text = (stack if stack.exists() else harness.DEMO_STACK).read_text(encoding="utf-8")
        for version in re.findall(r'kind: slurm, version: "([\d.]+)"', text):
            assert parse_version(version) <= running
