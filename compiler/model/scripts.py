"""What can be said about the text of `setup` without running it."""

from __future__ import annotations

import re

from compiler.diagnostics.codes import model as codes
from compiler.model.builder import Builder

# `set -e`, `set -euo pipefail`, `set -o errexit`, also behind a `;`.
_ENDS_AT_FAILURE = re.compile(r"(?:^|[;&\s])set\s+(?:-[a-zA-Z]*e|-[a-zA-Z]*o\s+errexit)")
_GOES_ON = ("\\", "&&", "||", "|", "(", "{", "then", "do", "else")


def check_setup(b: Builder, text: str | None) -> None:
    """Say so where only the last of several commands of `setup` decides whether it failed.

    The shell runs without `-e`, as in SkyPilot, and stays so: whoever wants it writes it.
    """
    if not text or _ENDS_AT_FAILURE.search(text):
        return
    lines = [line.strip() for line in text.splitlines()]
    commands = [line for line in lines if line and not line.startswith("#")]
    if sum(not line.endswith(_GOES_ON) for line in commands) < 2:
        return
    b.report(
        codes.SETUP_GOES_ON,
        ("setup",),
        "only the last command of `setup` decides whether it failed",
        at_key=True,
        hint="begin it with `set -e` if the others count too",
    )
