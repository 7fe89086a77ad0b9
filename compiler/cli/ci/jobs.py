"""The two jobs: plan with a comment, apply with the saved plan."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import compiler
from compiler.cli.ci.checkout import from_base

# Isolated, as a checkout is no place to import from, and this very installation of ours.
_HERE = str(Path(compiler.__file__).parents[1])
_START = f"import sys; sys.path.insert(0, {_HERE!r}); from compiler.cli.main import entry; entry()"
_PROGRAM = (sys.executable, "-I", "-c", _START)
_LONGEST_SAID = 20_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: the exit code of `triplane`, and its comment in markdown."""

    code: int
    comment: str

    @property
    def changes(self) -> bool:
        return self.code == 2

    @property
    def failed(self) -> bool:
        return self.code not in (0, 2)


def plan(
    stack: str,
    *,
    base: str | None,
    also_from_base: Sequence[str],
    read_only: bool,
    plan_file: str,
    more: Sequence[str] = (),
) -> Outcome:
    """Plan the whole set of the stack as the checkout has it and save the plan.

    With `base` the stack and `also_from_base` are that revision's.
    """
    if base is not None:
        from_base(base, [stack, *also_from_base])
    words = ["plan", "--stack", stack, "--out", plan_file, "--format", "markdown"]
    words += ["--detailed-exitcode", *(["--read-only"] if read_only else []), *more]
    done = _triplane(words)
    comment = done.stdout if done.stdout.strip() else _failed("plan", done)
    return Outcome(done.returncode, comment)


def apply(stack: str, *, plan_file: str | None, more: Sequence[str] = ()) -> Outcome:
    """Carry out the saved plan, or, without one that can be applied, a new plan of the set."""
    words = ["apply", "--stack", stack, "--auto-approve", *more]
    if plan_file is not None and _is_applyable(plan_file):
        words = ["apply", plan_file, "--stack", stack, *more]
    done = _triplane(words)
    if done.returncode == 0:
        said = _fenced(done.stdout)
        return Outcome(0, f"### triplane: applied\n\n{said}\n")
    return Outcome(done.returncode, _failed("apply", done))


def _is_applyable(plan_file: str) -> bool:
    """Whether the plan says so itself; everything else about it is for `apply` to check."""
    try:
        body = json.loads(Path(plan_file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(body, dict) and body.get("applyable") is True


def _triplane(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [*_PROGRAM, *words], capture_output=True, text=True, check=False, env=environ
    )
    sys.stderr.write(done.stderr)
    return done


def _failed(what: str, done: subprocess.CompletedProcess[str]) -> str:
    reasons = {
        3: "a target could not be reached",
        4: "the saved plan no longer matches: plan again",
        64: "wrong usage",
    }
    why = reasons.get(done.returncode, "see below")
    said = done.stderr if len(done.stderr) <= _LONGEST_SAID else f"{done.stderr[:_LONGEST_SAID]}…"
    return (
        f"### triplane: {what} failed ({html.escape(why)})\n\n{_fenced(said)}\n"
        f"Exit code {done.returncode}.\n"
    )


def _fenced(text: str) -> str:
    """A code block that the text cannot end."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}\n{text.rstrip()}\n{ticks}\n"
