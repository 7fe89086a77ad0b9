"""Rendered scripts submitted to the real site as the deployer does it, for tests of scripts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from compiler.rendering.filetree import FileTree
from tests.slurm_site import SlurmSite
from tests.unit.slurm_jobs import make_job, render

USER = "alice"
STACK = """\
set: {name: demo, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
config:
  slurm:
    gpu_partition_map: {H100: gpu}
    cpu_partition: cpu
"""


@dataclass
class Submitted:
    """A job on the site. `folder` is its run folder, `work` the one of its scripts and home."""

    site: SlurmSite
    number: str
    base: Path
    key: str

    @property
    def folder(self) -> Path:
        return self.base / ".triplane/demo/runs" / self.key

    @property
    def work(self) -> Path:
        return self.base / ".triplane/demo/work" / self.key

    def wait(self, *states: str, timeout: float = 60) -> str:
        return self.site.wait_job("alpha", self.number, *states, timeout=timeout)

    @property
    def output(self) -> str:
        return (self.folder / f"slurm-{self.number}.out").read_text()

    def log(self, rank: int = 0) -> str:
        return (self.folder / f"logs/{rank}.log").read_text()

    @property
    def ended(self) -> tuple[int, str]:
        """(exit code, job id); waits a moment for it, as the shell may outlive the state."""
        path = self.folder / "ended"
        self.site.wait_for(path.exists, 10, str(path))
        code, number = path.read_text().split()
        return int(code), number

    def exit_code(self) -> str:
        """`code:signal` as the controller has it."""
        shown = self.site.run("alpha", "root", ["scontrol", "show", "job", "-o", self.number])
        words = dict(word.partition("=")[::2] for word in shown.stdout.split())
        return words["ExitCode"]

    def cancel(self) -> None:
        self.site.run("alpha", USER, ["scancel", self.number])


class Submitter:
    """Renders a task and submits it as the deployer does: run folder first, from the base."""

    def __init__(self, site: SlurmSite) -> None:
        self.site = site
        self._runs: list[Submitted] = []
        self._number = 0

    def __call__(
        self,
        task: str,
        stack: str = STACK,
        *,
        trees: tuple[FileTree, ...] = (),
        secrets: str | None = None,
        base: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> Submitted:
        self._number += 1
        run = time.time_ns() // 1_000_000 % 1_000_000_000 + self._number
        text, found = render(make_job(task, stack, run=run, trees=trees))
        assert not found.has_errors, [item.message for item in found]
        home = self.site.home(USER)
        base = base or home
        key = f"{make_job(task, stack).work}.{run}"
        folder = f".triplane/demo/runs/{key}"
        self._shell(base, f"mkdir -p {folder} .triplane/demo/secrets")
        self._shell(base, f"cat > {folder}/job.sbatch", text)
        if secrets is not None:
            name = f".triplane/demo/secrets/{key}.env"
            self._shell(base, f"umask 077; cat > {name}", secrets)
        done = self.site.run(
            "alpha", USER, ["sbatch", "--parsable", f"{folder}/job.sbatch"], cwd=base, env=env
        )
        assert done.returncode == 0, done.stderr
        submitted = Submitted(self.site, done.stdout.strip(), base, key)
        self._runs.append(submitted)
        return submitted

    def _shell(self, base: Path, command: str, data: str | None = None) -> None:
        done = self.site.run("alpha", USER, ["bash", "-c", command], input=data, cwd=base)
        assert done.returncode == 0, done.stderr

    def store(self, digest: str, files: dict[str, str]) -> None:
        """Puts a tree where the deployer puts it."""
        for name, text in files.items():
            self.site.write(USER, f".triplane/files/{digest}/{name}", text)

    def cancel_all(self) -> None:
        for submitted in self._runs:
            submitted.cancel()
