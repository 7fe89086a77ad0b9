"""What the tests of the Slurm deployer share: a set on a cluster of the site, and its steps.

The scripts are written by hand here; they follow the protocol of docs/architecture.md.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from compiler.model import Deployer as DeployerKind
from compiler.model import Origin, Stack, TargetKind, TargetSpec, names
from compiler.planning.records import Record, Stage
from compiler.planning.states import ObservedRun
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Step
from compiler.targets.slurm.deployer import SlurmDeployer
from compiler.targets.slurm.deployer.local import LocalTransport
from tests.slurm_site import SlurmSite

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --partition={partition}
#SBATCH --time={minutes}
#SBATCH --output=.triplane/{set}/runs/{key}/slurm-%j.out
{options}run=$SLURM_SUBMIT_DIR/.triplane/{set}/runs/{key}
echo "$SLURM_JOB_ID ${{SLURM_RESTART_COUNT:-0}}" >>"$run/started"
rm -f "$run/ended"
trap 'code=$?; echo "$code $SLURM_JOB_ID" >"$run/ended"' EXIT
trap 'exit 143' TERM
secrets=$SLURM_SUBMIT_DIR/.triplane/{set}/secrets/{key}.env
[ ! -e "$secrets" ] || . "$secrets"
{body}
"""


def script(
    set_name: str,
    work: str,
    run: int,
    spec_digest: str,
    body: str,
    *,
    partition: str = "cpu",
    minutes: int = 5,
    nodes: int = 1,
    options: str = "",
) -> str:
    return _SCRIPT.format(
        name=names.slurm_job_name(set_name, work, run, spec_digest),
        set=set_name,
        key=f"{work}.{run}",
        body=body,
        partition=partition,
        minutes=minutes,
        nodes=nodes,
        options="".join(f"#SBATCH {option}\n" for option in options.split()),
    )


def step(
    set_name: str,
    body: str,
    *,
    action: str = "create",
    work: str = "train",
    run: int = 1,
    target: str = "alpha",
    plan: str = "plan-1",
    previous: ObservedRun | None = None,
    uploads: tuple[FileTree, ...] = (),
    secrets: Mapping[str, str] | None = None,
    fields: Mapping[str, str] | None = None,
    **options: object,
) -> Step:
    digest = hashlib.sha256(repr((body, sorted(options.items()))).encode()).hexdigest()
    record = Record(
        set=set_name,
        work=work,
        run=run,
        target=target,
        kind="slurm",
        name=names.slurm_job_name(set_name, work, run, digest),
        spec_digest=digest,
        files_digest="none",
        stage=Stage.INTENT,
        plan=plan,
    )
    artifact = Artifact(
        f"slurm/{target}/{names.run_label(set_name, work, run)}/job.sbatch",
        script(set_name, work, run, digest, body, **options),  # type: ignore[arg-type]
        ArtifactKind.SBATCH,
        f"Job/{record.name}",
    )
    return Step(
        action=action,
        record=record,
        artifacts=(artifact,),
        previous=previous,
        uploads=uploads,
        secret_values=dict(secrets or {}),
        fields=dict(fields or {}),
    )


def stack(set_name: str) -> Stack:
    """As much of a stack as a deployer looks at."""
    return cast("Stack", SimpleNamespace(set_name=set_name, config={}, workspace=None))


def target(key: str, deployer: DeployerKind, **options: object) -> TargetSpec:
    return TargetSpec(key, TargetKind.SLURM, deployer, None, options, cast("Origin", None))


@dataclasses.dataclass
class World:
    """A set of its own on one cluster of the site, as alice."""

    site: SlurmSite
    set_name: str
    cluster: str = "alpha"
    user: str = "alice"
    accounting: bool = True

    def __post_init__(self) -> None:
        # The rest, known_hosts included, is in the site's ssh configuration.
        self.options = {"host": self.cluster, "accounting": self.accounting}
        spec = target(self.cluster, DeployerKind.SSH, **self.options)
        self.deployer = SlurmDeployer(stack(self.set_name), spec)

    def local(self) -> SlurmDeployer:
        """The same set seen from the login node itself."""
        spec = target(self.cluster, DeployerKind.LOCAL, accounting=self.accounting)
        shell = self.site.argv(self.cluster, self.user, ["bash", "-s"])
        return SlurmDeployer(stack(self.set_name), spec, LocalTransport(self.cluster, shell))

    @property
    def state(self) -> Path:
        return self.site.home(self.user) / ".triplane" / self.set_name

    def folder(self, run: int = 1, work: str = "train") -> Path:
        return self.state / "runs" / f"{work}.{run}"

    def record_file(self, run: int = 1, work: str = "train") -> Path:
        return self.state / "records" / f"{work}.{run}.json"

    def sh(self, *command: str) -> str:
        """A command of the cluster's, as the user."""
        done = self.site.run(self.cluster, self.user, command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self) -> list[str]:
        """Ids of every job of this set that the controller knows, ended ones included."""
        rows = self.sh("squeue", "-h", "-t", "all", "-u", self.user, "-o", "%A %j").splitlines()
        return [row.split()[0] for row in rows if row.split()[1].startswith(f"{self.set_name}.")]

    def clean(self) -> None:
        jobs = self.jobs()
        if jobs:
            self.sh("scancel", *jobs)
        self.deployer.close()

    def execute(self, wanted: Step) -> Record:
        return self.deployer.execute(wanted, lambda _: None)

    def only(self) -> ObservedRun:
        (run,) = self.deployer.observe().runs
        return run

    def until(
        self, holds: Callable[[ObservedRun], bool], run: int = 1, seconds: float = 20
    ) -> ObservedRun:
        """Look until it holds for that run."""
        deadline = time.monotonic() + seconds
        while True:
            found = [item for item in self.deployer.observe().runs if item.record.run == run]
            if found and holds(found[0]):
                return found[0]
            assert time.monotonic() < deadline, f"run {run} stays {found}"
            time.sleep(0.1)

    def ended(self, run: int = 1) -> ObservedRun:
        return self.until(lambda item: not item.state.is_live, run)


def worlds(
    site: SlurmSite, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """For a fixture: a set called like the test; its jobs end with the test."""
    monkeypatch.setenv("TRIPLANE_SSH_CONFIG", str(site.state / "ssh/config-alice"))
    world = World(site, set_name(request))
    yield world
    world.clean()


def set_name(request: pytest.FixtureRequest) -> str:
    """Another one in each session, as a site may be used by several."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_").lower())
    return f"{name.strip('-')}-{os.getpid()}"
