"""Submitting to a real cluster, beside plain sbatch in the same run.

500 jobs by `apply` over SSH, against a bare loop of `sbatch` with scripts of the same size on the
login node itself: at least 0.8 of its rate. A trivial task from `apply` to its end, against
`ssh login sbatch --wait`: at most 1.5 times as long. Both in turn, so that a busy machine hits
both. The jobs of the first are held, so that nothing but submitting is measured.

Needs the site of the tests (tests/slurm_site), or names one in TRIPLANE_SLURM_SITE.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import yaml

from bench.timing import ratio, row
from tests.slurm_site import SlurmSite, missing

ROOT = Path(__file__).parent.parent
JOBS, ROUNDS, TRIVIAL_ROUNDS = 500, 2, 5
RATE_AIM, TRIVIAL_AIM = 0.8, 1.5
_USER = "alice"
_PROGRAM = (sys.executable, "-c", "from compiler.cli.main import entry; entry()")
_RESOURCES = {"infra": "slurm/alpha/cpu", "cpus": 1, "memory": 1}


def main() -> int:
    if lacking := missing():
        print(f"left out: {', '.join(lacking)} is not installed")
        return 0
    with _site() as site, tempfile.TemporaryDirectory() as folder:
        os.environ["TRIPLANE_SSH_CONFIG"] = str(site.state / f"ssh/config-{_USER}")
        os.environ.pop("SSH_AUTH_SOCK", None)
        late = _submissions(site, Path(folder) / "many")
        late |= _trivial(site, Path(folder) / "one")
    return late


@contextlib.contextmanager
def _site() -> Iterator[SlurmSite]:
    """The site that is named, else one for this run."""
    if state := os.environ.get("TRIPLANE_SLURM_SITE"):
        yield SlurmSite.load(state)
        return
    site = SlurmSite.temporary(clusters=("alpha",))
    with site:
        yield site


def _submissions(site: SlurmSite, folder: Path) -> int:
    from compiler.diagnostics import Diagnostics
    from compiler.workflow import apply_plan, load_stack, plan, secrets_for

    ours, theirs = [], []
    for _ in range(ROUNDS):
        name = _project(folder, JOBS, held=True)
        stack = load_stack(str(folder / "stack.yaml"), Diagnostics())
        assert stack is not None
        planned = plan((), stack)
        planned.world.close()
        start = time.perf_counter()
        applied = apply_plan(planned.plan, stack, secrets_for(planned, stack))
        ours.append(time.perf_counter() - start)
        assert applied.exit_code == 0, [str(item.error) for item in applied.failed]
        script = f".triplane/{name}/runs/t0.1/job.sbatch"
        loop = f"for i in $(seq {JOBS}); do sbatch --parsable {script} >/dev/null || exit; done"
        start = time.perf_counter()
        done = site.run("alpha", _USER, ["bash", "-c", f"cd ~ && {loop}"])
        theirs.append(time.perf_counter() - start)
        assert done.returncode == 0, done.stderr
        site.run("alpha", "root", ["scancel", "-u", _USER])
        site.run("alpha", _USER, ["bash", "-c", f"rm -rf ~/.triplane/{name}"])
    print(row(f"apply of {JOBS} jobs over SSH, each", ours, per=JOBS))
    print(row("a bare loop of sbatch, each", theirs, per=JOBS))
    # Of times the inverse is the rate.
    rate = ratio("rate against the loop", theirs, ours)
    return int(rate < RATE_AIM)


def _trivial(site: SlurmSite, folder: Path) -> int:
    config = os.environ["TRIPLANE_SSH_CONFIG"]
    site.write(
        _USER, "trivial.sbatch", "#!/bin/bash\n#SBATCH -p cpu -c1 --mem=1G -o /dev/null\ntrue\n"
    )
    plain = ("ssh", "-F", config, "alpha", "sbatch --wait trivial.sbatch")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ours, theirs = [], []
    for _ in range(TRIVIAL_ROUNDS + 1):
        _project(folder, 1, held=False)
        words = (
            "apply",
            "--auto-approve",
            "--quiet",
            "--wait",
            "finished",
            "--stack",
            "stack.yaml",
        )
        ours.append(_seconds((*_PROGRAM, *words), folder, environment))
        theirs.append(_seconds(plain, folder, environment))
    print(row("a trivial task, apply to its end", ours[1:], unit="s"))
    print(row("ssh + sbatch --wait", theirs[1:], unit="s"))
    return int(ratio("time against ssh + sbatch", ours[1:], theirs[1:]) > TRIVIAL_AIM)


def _project(folder: Path, jobs: int, *, held: bool) -> str:
    """A stack and its tasks, under a name that nobody used before."""
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    name = f"bench-{uuid.uuid4().hex[:8]}"
    stack: dict[str, object] = {
        "set": {"name": name, "inputs": ["tasks/"]},
        "root": ".",
        "targets": {"alpha": {"kind": "slurm", "deployer": "ssh"}},
    }
    if held:
        stack["config"] = {"slurm": {"sbatch_options": {"hold": True}}}
    (folder / "stack.yaml").write_text(yaml.safe_dump(stack))
    for number in range(jobs):
        task = {"name": f"t{number}", "resources": _RESOURCES, "run": "true"}
        (folder / f"tasks/t{number}.yaml").write_text(yaml.safe_dump(task))
    return name


def _seconds(command: tuple[str, ...], folder: Path, environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
