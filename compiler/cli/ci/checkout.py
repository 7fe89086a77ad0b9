"""Taking what decides from the base of a change, never from the change itself."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from compiler.diagnostics import WorkFailed


def from_base(base: str, paths: Sequence[str]) -> None:
    """Put these files of the checkout back to what they are in `base`.

    The stack with its policy, and whatever else a reviewer would have to trust. Git follows no
    link that the change has put in their way. Raise WorkFailed where the base lacks one: what is
    new has to be merged before it can decide anything.
    """
    for path in paths:
        if not _git("cat-file", "-e", f"{base}:./{path}"):
            raise WorkFailed(f"{path} is not in {base}: merge it first, then plan with it")
        if not _git("restore", "--source", base, "--staged", "--worktree", "--", path):
            raise WorkFailed(f"{path} cannot be taken from {base}")


def _git(*words: str) -> bool:
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    return done.returncode == 0
