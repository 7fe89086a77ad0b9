"""What Slurm can change of a job that waits, without the job losing its place in the queue."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from compiler.targets.slurm.deployer.snapshot import QueueRow

# sbatch's option -> scontrol's field. Whoever submitted a job may change these while it waits
# (raising the time limit included, up to the partition's); Priority only administrators may.
_FIELDS = {
    "time": "TimeLimit",
    "partition": "Partition",
    "qos": "QOS",
    "account": "Account",
    "nice": "Nice",
    "job-name": "JobName",
    "comment": "Comment",
}
_NOTHING = ("", "N/A", "(null)")  # without accounting there is neither account nor QOS
_SHORT = {"t": "time", "p": "partition", "q": "qos", "A": "account", "J": "job-name"}


def is_changeable(row: QueueRow) -> bool:
    """Whether Slurm changes this job at all: of a suspended one it changes next to nothing."""
    return row.state == "PENDING"


def live_fields(row: QueueRow) -> dict[str, str]:
    """The changeable values of a waiting job, by the names of sbatch's options."""
    fields = {
        "time": row.time_limit,
        "partition": row.partition,
        "qos": row.qos,
        "account": row.account,
        "nice": row.nice,
    }
    return {name: value for name, value in fields.items() if value not in _NOTHING}


def pending_fields(before: str, after: str) -> dict[str, str] | None:
    """The options to change so that a waiting job made of `before` is as if made of `after`.

    None where that cannot be done in place: another script, an option that Slurm does not
    change, or one taken away (its default is the cluster's secret).
    """
    if "#SBATCH hetjob\n" in before + after:  # of several components there is no one option
        return None
    old, old_body = _split(before)
    new, new_body = _split(after)
    if old_body != new_body or old.keys() - new.keys():
        return None
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return changed if changed.keys() <= _FIELDS.keys() else None


def scontrol_words(fields: Mapping[str, str]) -> list[str]:
    """`Field=value` words for scontrol update. Raise ValueError for one that it cannot change."""
    words = []
    for name, value in sorted(fields.items()):
        name = name.removeprefix("--")
        if name not in _FIELDS:
            raise ValueError(f"Slurm does not change `{name}` of a job that waits")
        if "\n" in value:
            raise ValueError(f"`{name}` has a line break in it")
        words.append(f"{_FIELDS[name]}={value}")
    return words


def _split(text: str) -> tuple[dict[str, str], list[str]]:
    """(options of the #SBATCH lines, all other lines)."""
    options: dict[str, str] = {}
    body = []
    for line in text.splitlines():
        if not line.startswith("#SBATCH"):
            body.append(line)
            continue
        try:
            words = shlex.split(line.removeprefix("#SBATCH"), comments=True)
        except ValueError:  # an open quote; Slurm may make something of it
            body.append(line)
            continue
        while words:
            name, value = _option(words)
            options[name] = value
    return options, body


def _option(words: list[str]) -> tuple[str, str]:
    """Take the next option off `words`: `--name=value`, `--name value`, `-n value`, `-nvalue`."""
    word = words.pop(0)
    if match := re.fullmatch(r"--([a-z][a-z0-9-]*)(?:=(.*))?", word, re.DOTALL):
        name, value = match[1], match[2]
    elif match := re.fullmatch(r"-([A-Za-z])(.*)", word, re.DOTALL):
        name, value = _SHORT.get(match[1], match[1]), match[2] or None
    else:
        return word, ""
    if value is None:
        value = words.pop(0) if words and not words[0].startswith("-") else ""
    return name, value
