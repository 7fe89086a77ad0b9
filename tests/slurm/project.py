"""A user's project on the real site: a stack, tasks, and the command line over SSH.

What the tests of whole commands share. Everything goes through `compiler.cli` or the public
`compiler.workflow`; what came of it is read from the cluster itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import yaml

from compiler.cli.main import main
from compiler.diagnostics import Diagnostics
from compiler.planning.plan import WorkChange
from compiler.planning.states import RunState
from compiler.workflow import PlanOptions, RunStatus, load_stack, plan, status
from tests.command_line import PROGRAM, TOP, Output
from tests.slurm_site import SlurmSite


@dataclass(eq=False)
class Project:
    """A folder with `stack.yaml` and `tasks/`, whose set has a name that nobody used before."""

    site: SlurmSite
    folder: Path
    name: str
    clusters: tuple[str, ...] = ("alpha",)
    user: str = "alice"
    target: Mapping[str, object] = field(default_factory=dict)
    stack: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Accounting remembers every job, also of earlier sessions with this site.
        self.name = f"{self.name}-{uuid.uuid4().hex[:6]}"
        (self.folder / "tasks").mkdir(parents=True)
        self.write_stack()

    def write_stack(self, **more: object) -> None:
        """`more` are keys of the stack file."""
        targets = {
            key: {"kind": "slurm", "deployer": "ssh", **self.target} for key in self.clusters
        }
        body = {
            "set": {"name": self.name, "inputs": ["tasks/"]},
            "root": ".",
            "targets": targets,
            **self.stack,
            **more,
        }
        (self.folder / "stack.yaml").write_text(yaml.safe_dump(body, sort_keys=False))

    def task(self, name: str, run: str | None = "true", **fields: object) -> Path:
        """Write `tasks/<name>.yaml`: by default one small node of alpha's partition cpu."""
        resources = {"infra": "slurm/alpha/cpu", "cpus": 1, "memory": 1}
        body: dict[str, object] = {"name": name, "resources": resources, **fields}
        if run is not None:
            body["run"] = run
        path = self.folder / "tasks" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(body, sort_keys=False))
        return path

    # --- commands

    @property
    def environment(self) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if key != "SSH_AUTH_SOCK"}
        config = self.site.state / f"ssh/config-{self.user}"
        return {**inherited, "TRIPLANE_SSH_CONFIG": str(config), "PYTHONPATH": str(TOP)}

    def triplane(self, command: str, *arguments: str | Path, stack: bool = True) -> Output:
        """One command line, called from the project's folder."""
        words = [command, *map(str, arguments), *(["--stack", "stack.yaml"] if stack else [])]
        out, err = io.StringIO(), io.StringIO()
        with (
            self._as_user(),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(words)
        return Output(code, out.getvalue(), err.getvalue())

    def apply(self, *arguments: str | Path, code: int = 0) -> Output:
        """`apply --auto-approve`; it must end with `code`."""
        done = self.triplane("apply", "--auto-approve", *arguments)
        assert done.code == code, done.text
        return done

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A command line as a process of its own, with its progress to be read from stderr."""
        return subprocess.Popen(
            [*PROGRAM, *arguments, "--stack", "stack.yaml"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def plan(self, *paths: str, **options: object) -> dict[str, WorkChange]:
        """The planned change of every work; `options` are PlanOptions."""
        with self._as_user():
            planned = plan(paths, self._load(), options=PlanOptions(**options))  # type: ignore[arg-type]
        return {change.work: change for change in planned.plan.works}

    def runs(self) -> dict[tuple[str, int], RunStatus]:
        with self._as_user():
            return {(run.work, run.run): run for run in status(self._load()).runs}

    def until(self, work: str, *states: RunState, run: int = 1, seconds: float = 40) -> RunStatus:
        """Look until the run is in one of the states (default: any that is no longer live)."""

        def holds(found: RunStatus) -> bool:
            return found.state in states if states else not found.state.is_live

        return self.until_all({work: holds}, run=run, seconds=seconds)[work]

    def until_all(
        self,
        wanted: Mapping[str, Callable[[RunStatus], bool]],
        *,
        run: int = 1,
        seconds: float = 40,
    ) -> dict[str, RunStatus]:
        """Look until it holds for that run of each work."""
        deadline = time.monotonic() + seconds
        while True:
            found = {
                work: status for (work, number), status in self.runs().items() if number == run
            }
            late = [
                work
                for work, holds in wanted.items()
                if work not in found or not holds(found[work])
            ]
            if not late:
                return found
            shown = {work: found.get(work) for work in late}
            assert time.monotonic() < deadline, f"still waiting for {shown}"
            time.sleep(0.2)

    # --- the cluster

    @property
    def state(self) -> Path:
        """The set's folder on the cluster."""
        return self.site.home(self.user) / ".triplane" / self.name

    def record(self, work: str, run: int = 1) -> dict[str, Any]:
        return json.loads((self.state / f"records/{work}.{run}.json").read_text())

    def run_folder(self, work: str, run: int = 1) -> Path:
        return self.state / f"runs/{work}.{run}"

    def log(self, work: str, rank: int = 0, run: int = 1) -> str:
        return (self.run_folder(work, run) / f"logs/{rank}.log").read_text()

    def sh(self, *command: str, cluster: str = "", user: str = "", input: str = "") -> str:
        """A command on the login node, as the project's user unless another is named."""
        done = self.site.run(cluster or self.clusters[0], user or self.user, command, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self, cluster: str = "") -> dict[str, str]:
        """Ids and names of all jobs that this set ever had, from the queue and accounting."""
        rows = self.sh("squeue", "-h", "-t", "all", "-o", "%A|%j", cluster=cluster).splitlines()
        if self.site.accounting:
            ever = ("sacct", "-X", "-n", "-P", "-S", "now-1days", "--format=JobIDRaw,JobName")
            rows += self.sh(*ever, cluster=cluster).splitlines()
        pairs = dict(row.split("|", 1) for row in rows)
        return {job: name for job, name in pairs.items() if name.startswith(f"{self.name}.")}

    def runs_submitted(self, cluster: str = "") -> list[str]:
        """`<work>.<run>` of every job, sorted; one that was submitted twice is there twice."""
        names = self.jobs(cluster).values()
        return sorted(name.removeprefix(f"{self.name}.").rpartition(".")[0] for name in names)

    def batch(self, *options: str, command: str = "sleep 1000", cluster: str = "") -> str:
        """A job that is none of the set's, to be in the way; returns its id when it runs."""
        cluster = cluster or self.clusters[0]
        words = ("sbatch", "--parsable", f"--job-name=other-{self.name}", "--output=/dev/null")
        job = self.sh(*words, *options, "--wrap", command, cluster=cluster).strip()
        self.site.wait_job(cluster, job, "RUNNING")
        return job

    def clean(self) -> None:
        """Leave no job behind and no file."""
        for cluster in self.clusters:
            rows = self.sh("squeue", "-h", "-o", "%i|%j", cluster=cluster, user="root").splitlines()
            # Of an array or a heterogeneous job the whole.
            ours = {re.split(r"[|_+]", row)[0] for row in rows if self.name in row}
            if ours:
                self.sh("scancel", *sorted(ours), cluster=cluster, user="root")
        # A job that is just ending may still write: what is left goes with the site.
        self.site.run(self.clusters[0], self.user, ["rm", "-rf", str(self.state)])

    def _load(self):
        diagnostics = Diagnostics()
        stack = load_stack("stack.yaml", diagnostics)
        diagnostics.raise_if_errors()
        assert stack is not None
        return stack

    @contextlib.contextmanager
    def _as_user(self) -> Iterator[None]:
        with (
            mock.patch.dict(os.environ, self.environment, clear=True),
            contextlib.chdir(self.folder),
        ):
            yield


def name_of(node: str) -> str:
    """A set's name from a test's: `test_two_applies[x]` -> `two-applies-x`."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", node.removeprefix("test_").lower()).strip("-")
    return cleaned[:24].strip("-")


def columns(text: str) -> Sequence[Sequence[str]]:
    """The rows of a printed table as words, without its header."""
    return [line.split() for line in text.splitlines()[1:]]
