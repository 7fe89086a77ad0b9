"""What the caller of a migration says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.migration.reading.header import Given

TARGETS = ("slurm", "kubernetes", "aws")
EXISTING = ("keep", "update", "overwrite")
AT_SCRIPT = "@script"
"""As submit folder: the folder in which each script lies."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`cluster` is the target's key in the stack; `gpu_types` the accelerators of a partition.

    `submit_folder` is the absolute folder from which sbatch is called, AT_SCRIPT, or None where
    nobody knows. `command` are options of a command line, `arguments` what stands behind the
    script there. `keep` leaves every script as it is. `shim` exports Slurm's variables on
    other targets. `made`: the script is in no file, but made of a command line. `name` is the
    task's name where it is not the script's own: one of several in a file. `existing` says
    what becomes of a task that is there already and says something else.
    """

    target: str = "slurm"
    cluster: str | None = None
    version: str | None = None
    gpu_types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    gres_style: str = "typed"
    submit_folder: str | None = None
    command: tuple[Given, ...] = ()
    arguments: tuple[str, ...] = ()
    keep: bool = False
    shim: bool = False
    smoke: bool = False
    made: bool = False
    name: str | None = None
    existing: str = "keep"
