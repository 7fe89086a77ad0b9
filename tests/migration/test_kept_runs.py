"""Scripts that are kept: output, files and exit code are those of a submission by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler.migration.result import Status
from compiler.migration.settings import Settings
from compiler.rendering.filetree import NATIVE_SCRIPT, read_tree
from compiler.workflow import migrate_script
from tests.migration.kept_scripts import ARGUMENTS, SCRIPTS
from tests.slurm_site import SlurmSite
from tests.unit.slurm_jobs import make_job, render

pytestmark = pytest.mark.slurm

USER = "alice"
STACK = """\
set: {name: kept, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
"""


@dataclass
class Pair:
    """The two jobs of one script: by hand, and rendered."""

    by_hand: str
    rendered: str
    folders: tuple[Path, Path]
    run_folder: Path


@pytest.fixture(scope="module")
def pairs(slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict]:
    """All scripts are submitted at once; a test waits for its own."""
    site = slurm_site
    _shell(site, "rm -rf by-hand rendered .triplane/kept")
    made = {}
    for number, (name, script) in enumerate(SCRIPTS.items(), start=1):
        data = script if isinstance(script, bytes) else script.encode()
        folders = []
        for how in ("by-hand", "rendered"):
            folder = site.home(USER) / f"{how}/{name}"
            _shell(site, f"mkdir -p {folder}/sub && chmod 755 {folder}")
            (folder / "job.sh").write_bytes(data)
            folders.append(folder)
        done = site.run(
            "alpha", USER, ["sbatch", "--parsable", "job.sh", *ARGUMENTS], cwd=folders[0]
        )
        assert done.returncode == 0, (name, done.stderr)
        by_hand = done.stdout.strip()
        text, key = _rendered(data, folders[1], tmp_path_factory.mktemp(name), number)
        run_folder = site.home(USER) / f".triplane/kept/runs/{key}"
        _shell(site, f"mkdir -p {run_folder} && cat >{run_folder}/job.sbatch", text)
        done = site.run(
            "alpha", USER, ["sbatch", "--parsable", f"{run_folder}/job.sbatch"], cwd=site.home(USER)
        )
        assert done.returncode == 0, (name, done.stderr)
        made[name] = Pair(by_hand, done.stdout.strip(), (folders[0], folders[1]), run_folder)
    yield made
    site.reset()


def _rendered(data: bytes, folder: Path, scratch: Path, number: int) -> tuple[str, str]:
    """The script of the migrated task, and its run's key."""
    path = scratch / "job.sh"
    path.write_bytes(data)
    settings = Settings(cluster="alpha", keep=True, submit_folder=str(folder), arguments=ARGUMENTS)
    found = migrate_script(data, str(path), settings)
    assert found.status is Status.KEPT and found.yaml is not None
    job = make_job(found.yaml, STACK, run=number, trees=[read_tree(path, NATIVE_SCRIPT)])
    text, said = render(job)
    assert not said.has_errors, [item.message for item in said]
    return text, f"{job.work}.{job.run}"


def _shell(site: SlurmSite, command: str, data: str | None = None) -> None:
    done = site.run("alpha", USER, ["bash", "-c", command], input=data)
    assert done.returncode == 0, done.stderr


def _seen(site: SlurmSite, folder: Path, job: str) -> dict[str, str]:
    """Every file in the folder, without what differs between any two submissions."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = str(path.relative_to(folder)).replace(job, "JOB")
            seen[name] = _general(path.read_bytes().decode("utf-8", "replace"), folder, job)
    return seen


def _general(text: str, folder: Path, job: str) -> str:
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(rf"(?<=[=/]){job}\b|(?<=JOB ){job}\b|(?<=[Jj]ob ){job}\b", "JOB", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "THEN", text)
    # A step waits for the end of the one before it where the machine is slow.
    text = re.sub(
        r"(?m)^srun: (?:Job JOB step creation temporarily|Step created for job) .*\n", "", text
    )
    # What no two jobs have alike, and what says how it was submitted.
    return re.sub(
        r"(?m)^SLURM_(?:TASK_PID|TOPOLOGY_ADDR\w*|SUBMIT_HOST|PRIO_PROCESS|RLIMIT_\w+|UMASK)=.*\n",
        "",
        text,
    )


def _exit_code(site: SlurmSite, job: str) -> set[str]:
    shown = site.run("alpha", "root", ["scontrol", "show", "job", "-o", job]).stdout
    return set(re.findall(r"(?<!Derived)ExitCode=(\S+)", shown))


@pytest.mark.parametrize("name", SCRIPTS)
def test_both_ways_come_to_the_same(name: str, slurm_site: SlurmSite, pairs: dict) -> None:
    pair: Pair = pairs[name]
    states = [
        slurm_site.wait_job("alpha", job, timeout=180) for job in (pair.by_hand, pair.rendered)
    ]
    slurm_site.wait_for(lambda: not _queued(slurm_site, pair), 120, f"{name} has left the queue")
    assert states[0] == states[1]
    seen = [
        _seen(slurm_site, folder, job)
        for folder, job in zip(pair.folders, (pair.by_hand, pair.rendered), strict=True)
    ]
    assert seen[0] == seen[1]
    assert len(seen[0]) > 1  # besides the script
    assert _exit_code(slurm_site, pair.by_hand) == _exit_code(slurm_site, pair.rendered)


def _queued(site: SlurmSite, pair: Pair) -> str:
    words = ["squeue", "-h", "-j", f"{pair.by_hand},{pair.rendered}", "-o", "%T"]
    return site.run("alpha", USER, words).stdout.strip()


@pytest.mark.parametrize(
    ("name", "code"), [("exit-code", 7), ("array-that-fails", 2), ("array", 0), ("python", 0)]
)
def test_the_end_is_written_down(name: str, code: int, slurm_site: SlurmSite, pairs: dict) -> None:
    pair: Pair = pairs[name]
    slurm_site.wait_for(lambda: not _queued(slurm_site, pair), 120, f"{name} has left the queue")
    ended = pair.run_folder / "ended"
    slurm_site.wait_for(ended.exists, 20, str(ended))
    assert ended.read_text() == f"{code} {pair.rendered}\n"
    started = (pair.run_folder / "started").read_text().split()
    assert started[0] == pair.rendered


def test_the_log_is_found_in_the_run_folder(slurm_site: SlurmSite, pairs: dict) -> None:
    pair: Pair = pairs["exit-code"]
    slurm_site.wait_job("alpha", pair.rendered)
    link = pair.run_folder / f"slurm-{pair.rendered}.out"
    assert link.read_text() == "before\n"
