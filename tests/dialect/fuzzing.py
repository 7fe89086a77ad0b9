"""Hostile input for every command that reads a file, and what must hold whatever it is.

An exit code of the table, no traceback and no internal error, an end within seconds and within
bounded memory, and nothing written where a command fails. Everything runs in this process; the
number of a piece of input is all that is needed to make it again.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.cli.main import main
from tests.dialect.bases import CASES
from tests.dialect.mutations import mutations

TOP = Path(__file__).parents[2]
EXIT_CODES = {0, 1, 2, 3, 4, 64}
SECONDS = 20
MEGABYTES = 1500

STACK = """\
set: {name: fuzz, inputs: [task.yaml]}
targets:
  alpha: {kind: slurm, version: "23.11", workdir: /shared}
  lab: {kind: kubernetes, version: "1.34", labels: karpenter}
  us-east-1: {kind: aws, files: {bucket: s3://demo}}
policy: {max_accelerators: 64}
secrets: {HF_TOKEN: {lab: {secret: hf/token}, alpha: {file: ~/.hf}}}
config: {kubernetes: {namespace: ml}, slurm: {sbatch_options: {time: "1:00:00"}}}
"""
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name=train
#SBATCH -N 2 --gres=gpu:h100:8
#SBATCH --time=1-00:00:00 --array=0-3%2
#SBATCH --output=logs/%x-%j.out
module load cuda/12.4
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun --ntasks-per-node=1 torchrun --nnodes $SLURM_NNODES train.py --lr 1e-4 <<'END'
data
END
"""


class TooSlow(BaseException):
    """Not an Exception, so that nothing in between can take it for one of its own."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What did not hold, and the input that shows it."""

    command: str
    number: int
    what: str
    content: bytes

    def __str__(self) -> str:
        return f"{self.command} #{self.number}: {self.what}\n{self.content[:2000]!r}"


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """The bytes with a few places changed, cut, repeated or filled with what YAML makes much of."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((1, 1, 4, 40)))
        kind = chance.randrange(6)
        if kind == 0:
            data[at:to] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5)))
        elif kind == 1:
            del data[at:to]
        elif kind == 2:
            data[at:at] = data[at:to] * chance.choice((1, 2, 50))
        elif kind == 3:
            data[at:at] = chance.choice(_TOKENS)
        elif kind == 4:
            del data[at:]
        else:
            other = chance.randrange(len(data) + 1)
            data[at:to], data[other:other] = b"", data[at:to]
    return bytes(data)


_TOKENS = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xed\xa0\x80", b"\x1b[31m", b"\t",
    b"\r", b"&a [*a]", b"*a", b"<<: *a\n", b"!!python/object:os.system x", b"!x ",
    b"? [a]\n: b\n", b"[" * 500, b"{a: " * 300, b"- " * 2000, b"---\n", b"...\n", b"%YAML 1.1\n",
    b"|\n", b">-\n", b"\n\n", b"'", b'"', b": ", b"1" * 5000, b".inf", b"0x", b"1e999", b"null",
    b"$HOME", b"${", b"`id`", b"$(id)", b"{{ x }}", b"{% raw %}", b"#SBATCH ", b"\\",
    b"x" * 70000, b"\xc2\x85", b"\xe2\x80\xa8", b"<<EOF\n", b"((", b"\"\\uD800\"",
)  # fmt: skip


def inputs(number: int, texts: Sequence[str]) -> bytes:
    """The piece of input of this number: a structured mutation or spoiled bytes."""
    chance = random.Random(f"fuzz/{number}")
    text = texts[number % len(texts)]
    if chance.random() < 0.6:
        text = next(mutations(text, f"fuzz/{number}", 1)).text
        if chance.random() < 0.6:
            return text.encode(errors="surrogatepass")
    return spoiled(text.encode(), chance)


_JSON_VALUES = (
    None, True, 0, -1, 1e400, 10**30, "1", "", "\ud800", [], {}, [[]], {"a": None}, "x" * 9000,
)  # fmt: skip


def json_inputs(number: int, text: str) -> bytes:
    """The same for JSON: values of other types, without keys, nested deep, or spoiled bytes."""
    chance = random.Random(f"fuzz/{number}")
    if chance.random() < 0.25:
        return spoiled(text.encode(), chance)
    data = json.loads(text)
    for _ in range(chance.choice((1, 1, 2, 4))):
        holders = [node for node in _holders(data) if node]
        if not holders:
            break
        node = chance.choice(holders)
        key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
        kind = chance.randrange(4)
        if kind == 0 and isinstance(node, dict):
            del node[key]
        elif kind == 1:
            node[key] = [node[key]]
        else:
            node[key] = copy.deepcopy(chance.choice(_JSON_VALUES))
    made = json.dumps(data)
    if chance.random() < 0.1:
        made = made.replace("null", "[" * 3000 + "]" * 3000, 1)
    return made.encode(errors="surrogatepass")


def _holders(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        yield data
        for item in data.values() if isinstance(data, dict) else data:
            yield from _holders(item)


def case_texts() -> list[str]:
    return [path.read_text() for path in sorted(CASES.glob("*.yaml"))]


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(words: Sequence[str]) -> tuple[int, str]:
    """The exit code and all output of one command line, run here."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return code, out.getvalue() + err.getvalue()


def tree(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check(command: str, number: int, content: bytes, words: Sequence[str]) -> Fault | None:
    """Run one command line; None where all holds. On failure the current folder is as before."""
    before, start = tree(Path()), time.monotonic()
    try:
        with _limited(SECONDS):
            code, said = run(words)
    except TooSlow:
        return Fault(command, number, f"no end after {SECONDS} s", content)
    except Exception as error:  # noqa: BLE001 (nothing may come out of main)
        return Fault(command, number, f"{type(error).__name__}: {error}", content)
    if code not in EXIT_CODES:
        return Fault(command, number, f"exit code {code}", content)
    for word in ("Traceback", "internal error"):
        if word in said:
            return Fault(command, number, said[-600:], content)
    if code not in (0, 2) and tree(Path()) != before:
        return Fault(command, number, "failed, and wrote files", content)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if peak > MEGABYTES:
        return Fault(
            command, number, f"{peak:.0f} MB after {time.monotonic() - start:.1f} s", content
        )
    return None


class Field:
    """A folder in which the commands run: a stack, a task, and what a plan and an apply wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "a.txt").write_text("a\n")
        (folder / "stack.yaml").write_text(STACK)
        (folder / "task.yaml").write_text("name: fuzz\nresources: {infra: slurm}\nrun: echo\n")
        self._texts = case_texts()

    def prepare(self) -> None:
        """A saved plan and the records of an apply; call it in the folder."""
        code, said = run(["plan", "--stack", "stack.yaml", "--out", "saved.plan"])
        assert code == 0, said
        self.plan = Path("saved.plan").read_text()
        code, said = run(["apply", "--stack", "stack.yaml", "--auto-approve"])
        assert code == 0, said
        self.records = sorted(Path().rglob(".triplane/*/*/*.json"))
        assert self.records
        self.record_texts = [path.read_text() for path in self.records]

    # Each takes a number and returns a fault, if any.

    def validate(self, number: int) -> Fault | None:
        content = self._input("input.yaml", number, self._texts)
        return check("validate", number, content, ["validate", "input.yaml"])

    def render(self, number: int) -> Fault | None:
        content = self._input("input.yaml", number, self._texts)
        shutil.rmtree("tree", ignore_errors=True)
        words = ["render", "input.yaml", "--stack", "stack.yaml", "--out", "tree"]
        return check("render", number, content, words)

    def stack(self, number: int) -> Fault | None:
        content = self._input("input-stack.yaml", number, [STACK])
        shutil.rmtree("tree", ignore_errors=True)
        words = ["render", "task.yaml", "--stack", "input-stack.yaml", "--out", "tree"]
        return check("render --stack", number, content, words)

    def plan_of(self, number: int) -> Fault | None:
        content = self._input("input.yaml", number, self._texts)
        words = ["plan", "input.yaml", "--stack", "stack.yaml", "--out", "new.plan"]
        Path("new.plan").unlink(missing_ok=True)
        return check("plan", number, content, words)

    def migrate(self, number: int) -> Fault | None:
        chance = random.Random(f"migrate/{number}")
        content = spoiled(SCRIPT.encode(), chance)
        Path("job.sh").write_bytes(content)
        shutil.rmtree("migrated", ignore_errors=True)
        words = ["migrate", "job.sh", "--out", "migrated"]
        return check("migrate", number, content, words)

    def plan_file(self, number: int) -> Fault | None:
        content = json_inputs(number, self.plan)
        Path("input.plan").write_bytes(content)
        return check("apply", number, content, ["apply", "input.plan", "--auto-approve"])

    def record(self, number: int) -> Fault | None:
        at = number % len(self.records)
        content = json_inputs(number, self.record_texts[at])
        self.records[at].write_bytes(content)
        try:
            for words in (["status"], ["plan"]):
                fault = check(words[0], number, content, [*words, "--stack", "stack.yaml"])
                if fault:
                    return fault
        finally:
            self.records[at].write_text(self.record_texts[at])
        return None

    def _input(self, name: str, number: int, texts: Sequence[str]) -> bytes:
        content = inputs(number, texts)
        Path(name).write_bytes(content)
        return content

    def commands(self) -> dict[str, Callable[[int], Fault | None]]:
        return {
            "validate": self.validate,
            "render": self.render,
            "stack": self.stack,
            "plan": self.plan_of,
            "migrate": self.migrate,
            "records": self.record,
            "plan-file": self.plan_file,
        }


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()  # noqa: PTH109
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
