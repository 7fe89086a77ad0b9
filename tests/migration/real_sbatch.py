"""The real sbatch as a judge of headers: what it understands of a script, or that it refuses it.

`sbatch -v --test-only` prints every option that is set, in its own form, before it asks a
controller. There is none here: the configuration points at a port that nobody listens on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compiler.migration.reading.header import Header

_CONF = """\
ClusterName=judge
SlurmctldHost=localhost
SlurmctldPort=1
AuthType=auth/none
CredType=cred/none
PlugStackConfig={folder}/plugstack.conf
MessageTimeout=1
SelectType=select/cons_tres
GresTypes=gpu,nvme
NodeName=n1
PartitionName=p Nodes=n1
"""
_OURS = ("verbose", "test-only", "(null)")  # given to sbatch here; umask has no name
_CLOCK = ("begin", "deadline")  # sbatch makes a date of them
# What is said about a later component, when the first has been printed.
_REFUSAL = re.compile(
    r"Try |fatal: |error: (?:Invalid (?:directive|numeric|--(?!bbf))|invalid |unrecognized"
    r"|Maximum node|\")"
)
_PREFIX = "sbatch: "
SECONDS = 10.0


def why_not() -> str | None:
    """Why there is no judge on this machine, None where there is one."""
    return None if shutil.which("sbatch") else "there is no sbatch on the PATH"


@dataclass(frozen=True)
class Verdict:
    """`components` are the options of each part as sbatch prints them, none where it refuses."""

    components: tuple[Mapping[str, str], ...]
    words: tuple[str, ...]


class Judge:
    """sbatch with a configuration of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "plugstack.conf").touch()
        (folder / "slurm.conf").write_text(_CONF.format(folder=folder))
        outer = {key: value for key, value in os.environ.items() if not key.startswith("SBATCH_")}
        self.environment = {**outer, "SLURM_CONF": str(folder / "slurm.conf"), "LC_ALL": "C"}

    def version(self) -> str:
        done = subprocess.run(
            ["sbatch", "--version"],
            capture_output=True,
            text=True,
            env=self.environment,
            check=True,
        )
        return done.stdout.split()[1]

    def judge(self, text: str, name: str = "job.sh") -> Verdict:
        path = self.folder / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return self.judge_file(path)

    def judge_file(self, path: Path) -> Verdict:
        """Raise TimeoutError where sbatch neither answers nor ends."""
        process = subprocess.Popen(
            ["sbatch", "-v", "--test-only", str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=self.environment,
            cwd=self.folder,
        )
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            several = re.search(rb"(?i)hetjob|packjob", path.read_bytes()) is not None
            return _read(process, several)
        finally:
            late.cancel()
            process.kill()
            process.communicate()

    def printed(self, header: Header) -> list[dict[str, str]]:
        """What sbatch should print by our reading: the same, with whole paths."""
        return [
            _with_paths(component.settings, str(self.folder)) for component in header.components
        ]


def _read(process: subprocess.Popen[bytes], several: bool) -> Verdict:
    components: list[dict[str, str]] = []
    words: list[str] = []
    current: dict[str, str] | None = None
    last = ""
    assert process.stderr is not None
    for raw in process.stderr:
        line = raw.decode("utf-8", "surrogateescape").rstrip("\n").removeprefix(_PREFIX)
        if line == "defined options":
            current = {}
        elif line == "end of defined options":
            components.append(dict(current or {}))
            current = None
            if not several:
                break
        elif current is None:
            words.append(line)
        elif ":" in line and not line.startswith("-----"):
            last, _, value = line.partition(":")
            last = last.strip()
            current[last] = value[1:]
    refused = several and any(map(_REFUSAL.match, words))
    return Verdict(() if refused else tuple(components), tuple(words))


def _with_paths(settings: Mapping[str, str], folder: str) -> dict[str, str]:
    shown = dict(settings)
    where = folder
    if "chdir" in shown:
        where = shown["chdir"] = _whole(shown["chdir"], folder)
    for name in ("output", "error", "input"):
        if name in shown:
            shown[name] = _whole(shown[name], where)
    return shown


def _whole(path: str, folder: str) -> str:
    return path if path.startswith("/") else f"{folder}/{path}"


def differences(header: Header, verdict: Verdict, judge: Judge) -> list[str]:
    """What our reading and sbatch's disagree about, a line each."""
    if not verdict.components:
        return [] if header.refusal else [f"sbatch refuses it: {verdict.words}"]
    if header.refusal:
        return [f"sbatch takes it, we do not: {header.refusal}"]
    ours = judge.printed(header)
    if len(ours) != len(verdict.components):
        return [f"{len(verdict.components)} components, we read {len(ours)}"]
    found = []
    for expected, read in zip(verdict.components, ours, strict=True):
        for name in sorted({*expected, *read} - {*_OURS}):
            theirs, mine = _comparable(name, expected.get(name)), _comparable(name, read.get(name))
            if theirs != mine:
                found.append(f"{name}: sbatch has {theirs!r}, we {mine!r}")
    return found


def _comparable(name: str, value: str | None) -> str | None:
    if value is None:
        return None
    if name in _CLOCK:
        return "some time"
    return re.sub(r"(^|,)(?:gres:)+", r"\1", value) if name == "gres" else value
