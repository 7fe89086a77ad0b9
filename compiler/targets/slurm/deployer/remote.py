"""Calling the snippets of `templates/slurm/remote/`, and what their exit codes mean."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import cache

from compiler.diagnostics import PlanOutdated, TargetUnreachable, WorkFailed
from compiler.resources import data_folder
from compiler.targets.slurm.deployer.refusals import refused
from compiler.targets.slurm.deployer.transport import Data, Transport

UNREACHABLE = 69
REFUSED = 73
MOVED = 74

# What a snippet needs between the prelude and itself.
_SHARED = {
    **dict.fromkeys(("submit", "submit_many", "start"), ("submitting",)),
    **dict.fromkeys(("capacity", "check"), ("limiting",)),
}


@cache
def snippet(name: str) -> str:
    """A snippet's text with the prelude before it, and what it shares with others."""
    folder = data_folder("templates") / "slurm" / "remote"
    parts = ("prelude", *_SHARED.get(name, ()), name)
    return "\n".join((folder / f"{part}.sh").read_text(encoding="utf-8") for part in parts)


class Remote:
    """The snippets on one login node, for one set below one base folder; `before` is what each
    of them begins with."""

    def __init__(
        self, target: str, set_name: str, workdir: str, transport: Transport, before: str = ""
    ) -> None:
        self.target = target
        self.set_name = set_name
        self.workdir = workdir
        self.transport = transport
        self._before = before

    def call(self, name: str, *args: str, data: Data = b"") -> Answer:
        """Run a snippet that needs neither base nor set."""
        result = self.transport.run(self._before + snippet(name), *args, data=data)
        if result.code == 0:
            return Answer(result.text)
        words = result.stderr or f"{name} ended with exit code {result.code}"
        if result.code == UNREACHABLE:
            raise TargetUnreachable(self.target, words)
        if result.code == MOVED:
            raise PlanOutdated([f"{self.target}: {words}"])
        if result.code == REFUSED and name in ("submit", "update"):
            raise refused(self.target, words)
        raise WorkFailed(f"{self.target}: {words}")

    def call_at_base(self, name: str, *args: str, data: Data = b"") -> Answer:
        return self.call(name, self.workdir, *args, data=data)

    def call_in_set(self, name: str, *args: str, data: Data = b"") -> Answer:
        return self.call(name, self.workdir, self.set_name, *args, data=data)


class Answer:
    """A snippet's output: lines of `kind|value|value...`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = [line.partition("|") for line in text.splitlines()]

    def of(self, kind: str) -> Iterator[str]:
        """What stands behind `kind|`, for each such line."""
        return (rest for found, bar, rest in self._lines if bar and found == kind)

    def first(self, kind: str) -> str | None:
        return next(self.of(kind), None)


def decoded(text: str) -> bytes:
    """Raise ValueError for anything that is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"not base64: {error}") from None


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
