"""The text of `run`: a few lines that give the script what it had under sbatch, then the script."""

from __future__ import annotations

import shlex

from compiler.migration.directives import folder_of
from compiler.migration.editing import Change, apply
from compiler.migration.script import Script
from compiler.rendering.quoting import sh

_RULE = "# --- from here on the script is as it was ---"
_HOME = 'HOME=$(getent passwd "$(id -u)" | cut -d: -f6) && export HOME'


def run_text(script: Script, changes: list[Change], extra: list[str], on_slurm: bool) -> str:
    """`run` for a script that becomes a task; `extra` are further lines in front of it."""
    lines = preamble(script, on_slurm) + extra
    body = body_text(script, changes)
    if not lines:
        return body
    return "\n".join(["# Added by triplane migrate:", *lines, _RULE, ""]) + body


def preamble(script: Script, on_slurm: bool) -> list[str]:
    """What stands in front of the body. On Slurm the ranks of a run have a home of their own;
    a script that was written for the login's gets that one."""
    lines = []
    if on_slurm:
        lines.append(_HOME)
    submit = script.settings.submit_folder
    if submit is not None and on_slurm:
        lines.append(f"export SLURM_SUBMIT_DIR={_word(submit)}")
    reads = {fact.text for fact in script.facts if fact.kind == "slurm-variable"}
    if on_slurm and "SLURM_JOB_NAME" in reads:
        lines.append(f"export SLURM_JOB_NAME={_word(script.job_name)}")
    folder = folder_of(script)
    if folder is not None and on_slurm:
        lines.append(f"cd {_word(folder)} || exit")
    if script.interpreter.options:
        lines.append(f"set -{script.interpreter.options}")
    if script.settings.arguments:
        lines.append("set -- " + " ".join(_word(word) for word in script.settings.arguments))
    return lines


def _word(text: str) -> str:
    """A shell word, without quotes where it needs none."""
    return text if text and shlex.quote(text) == text else sh(text)


def body_text(script: Script, changes: list[Change]) -> str:
    """The script from its first command on, with the changes and no other."""
    data = script.text.encode("utf-8", "surrogateescape")
    first = script.first_command
    if first is None:
        return ""
    start = 0
    for _ in range(first - 1):
        start = data.index(b"\n", start) + 1
    inner = [change for change in changes if change.start >= start]
    shifted = [
        Change(c.start - start, c.end - start, c.text, c.line, c.code, c.shown) for c in inner
    ]
    return apply(data[start:], shifted).decode("utf-8", "surrogateescape")
