"""Paths on the cluster, as words of the batch script."""

from __future__ import annotations

import re

from compiler.rendering.quoting import shdq

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
WORKDIR = "~/sky_workdir"


def is_fixed(path: str) -> bool:
    """Absolute, and without anything that only the cluster can expand."""
    return path.startswith("/") and not _VARIABLE.search(path)


def login_word(path: str) -> str:
    """A path of the login's, in double quotes: `~` and `$VAR` are expanded when the job starts.

    A relative path starts at the login's home. An unset variable ends the job.
    """
    if path == "~" or path.startswith("~/"):
        prefix, rest = "$HOME", path[1:]
    elif path.startswith(("/", "$")):
        prefix, rest = "", path
    else:
        prefix, rest = "$HOME/", path
    parts = []
    at = 0
    for match in _VARIABLE.finditer(rest):
        parts += [shdq(rest[at : match.start()]), f"${{{match[1] or match[2]}:?}}"]
        at = match.end()
    return f'"{prefix}{"".join(parts)}{shdq(rest[at:])}"'


def below_home(destination: str) -> str | None:
    """What follows `~/`, for a destination in the home; None for an absolute one.

    A relative destination lies below the working directory.
    """
    if destination.startswith("/"):
        return None
    if destination == "~" or destination.startswith("~/"):
        return destination[2:] or "."
    return f"{WORKDIR[2:]}/{destination}"


def output_pattern(path: str) -> str:
    """`path` for `--output`, in which sbatch replaces `%` sequences and drops backslashes."""
    return path.replace("%", "%%")
