"""Putting the lines of several logs together as they come."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

import pytest

from compiler.planning.records import Record, Stage
from compiler.targets.slurm.deployer import logs
from compiler.targets.slurm.deployer.local import LocalTransport
from compiler.targets.slurm.deployer.remote import Answer, Remote, encoded

RECORD = Record(
    "demo", "train", 1, "alpha", "slurm", "demo.train.1.ab", "ab", "f", Stage.CREATED, identity="7"
)


class Scripted(Remote):
    """Answers in turn, then one without news after the end of the job."""

    def __init__(self, *answers: str) -> None:
        super().__init__("alpha", "demo", "", LocalTransport("alpha"))
        self.answers = [*answers, "state|COMPLETED"]
        self.asked: list[tuple[str, ...]] = []

    def call_in_set(self, name: str, *args: str, data: bytes | Iterable[bytes] = b"") -> Answer:
        self.asked.append(args)
        return Answer(self.answers.pop(0))


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(logs, "POLL_SECONDS", 0)


def poll(nodes: int, state: str, **files: str) -> str:
    lines = [f"nodes|{nodes}"]
    for name, text in files.items():
        path = "slurm-7.out" if name == "out" else f"logs/{name.removeprefix('r')}.log"
        lines.append(f"file|{path}|{len(text)}|{encoded(text.encode())}")
    return "\n".join([*lines, f"state|{state}"])


def follow(remote: Remote, tail: int | None = None) -> list[str]:
    return list(logs.lines(remote, RECORD, follow=True, tail=tail))


def test_lines_are_whole_and_have_their_rank():
    remote = Scripted(
        poll(12, "PENDING"),
        poll(12, "RUNNING", out="starting\n0: hel"),
        poll(12, "RUNNING", r10="ten\n", r2="two\nhal", r0="hel"),
        poll(12, "COMPLETING", r2="f\n", r0="lo\r\n", out="lo\ntriplane: done\n10: ten\n"),
        poll(12, "COMPLETED", r0="no end"),
    )
    assert follow(remote) == [
        "starting",
        "(rank 2) two",
        "(rank 10) ten",
        "triplane: done",
        "(rank 0) hello",
        "(rank 2) half",
        "(rank 0) no end",
    ]


def test_one_rank_has_no_prefix():
    remote = Scripted(
        poll(1, "RUNNING", r0="hello\n", out="hello\nslurmstepd: *** TIME LIMIT ***\n")
    )
    assert follow(remote) == ["slurmstepd: *** TIME LIMIT ***", "hello"]


def test_a_script_without_ranks_is_shown_as_it_is():
    remote = Scripted(poll(1, "RUNNING", out="0: a\nsrun: b\nc"))
    assert follow(remote) == ["0: a", "srun: b", "c"]


def test_offsets_are_handed_back_and_only_the_first_look_is_cut():
    remote = Scripted(
        poll(1, "PENDING"),
        poll(1, "RUNNING", r0="hello\n"),
        poll(1, "COMPLETED"),
    )
    assert follow(remote, tail=3) == ["hello"]
    assert [asked[2:] for asked in remote.asked] == [
        ("3",),
        ("-1",),
        ("-1", "logs/0.log", "6"),
    ]


def test_without_follow_a_long_log_is_read_to_its_end():
    remote = Scripted(
        poll(1, "RUNNING", r0="a\n"), poll(1, "RUNNING", r0="b\n"), poll(1, "RUNNING")
    )
    assert list(logs.lines(remote, RECORD, follow=False, tail=None)) == ["a", "b"]


def test_a_controller_that_is_away_does_not_end_it():
    remote = Scripted(poll(1, "?"), poll(1, "RUNNING", r0="a\n"))
    assert follow(remote) == ["a"]


def test_bytes_that_are_no_text():
    line = f"file|logs/0.log|4|{encoded(bytes((0xFF, 0xFE, 0x41, 0x0A)))}"
    assert follow(Scripted(f"nodes|1\n{line}\nstate|COMPLETED")) == ["\ufffd\ufffdA"]


def test_the_snippet_cuts_and_goes_on(tmp_path, monkeypatch):
    """Against files, with a squeue that always says the same."""
    monkeypatch.setenv("HOME", str(tmp_path))
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sbatch", "squeue"):
        (tools / name).write_text("#!/bin/bash\necho RUNNING\n")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    folder = tmp_path / ".triplane/demo/runs/train.1"
    (folder / "logs").mkdir(parents=True)
    (folder / "job.sbatch").write_text("#!/bin/bash\n#SBATCH --nodes=2\n")
    (folder / "logs/0.log").write_text("one\ntwo\nthree\n")
    (folder / "logs/1.log").write_text("")
    (folder / "slurm-7.out").write_text("x" * 100)
    remote = Remote("alpha", "demo", "", LocalTransport("alpha"))

    def ask(*args: str) -> tuple[Answer, list[tuple[str, int, bytes]]]:
        answer = remote.call_in_set("logs", "train.1", "7", *args)
        return answer, [logs._part(line) for line in answer.of("file")]

    answer, parts = ask("2")
    assert (answer.first("nodes"), answer.first("state")) == ("2", "RUNNING")
    assert sorted(parts) == [("logs/0.log", 14, b"two\nthree\n"), ("slurm-7.out", 100, b"x" * 100)]
    assert ask("0", "slurm-7.out", "100")[1] == []
    _, parts = ask("-1", "logs/0.log", "8", "slurm-7.out", "100")
    assert parts == [("logs/0.log", 14, b"three\n")]
    (folder / "logs/0.log").write_text("anew\n")
    assert ask("-1", "logs/0.log", "14", "slurm-7.out", "100")[1] == [("logs/0.log", 5, b"anew\n")]
    subprocess.run(["dd", "if=/dev/zero", f"of={folder}/logs/1.log", "bs=1M", "count=5"],
                   capture_output=True, check=True)  # fmt: skip
    (_, first, content), *_ = [part for part in ask("-1")[1] if part[0] == "logs/1.log"]
    assert first == len(content) == 4_000_000
