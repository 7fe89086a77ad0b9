"""What rendering produces: texts with a place in a tree."""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass


class ArtifactKind(enum.StrEnum):
    """What the text is, which decides how it is verified and compared."""

    MANIFEST = "manifest"  # one Kubernetes object as YAML
    SBATCH = "sbatch"  # a script with #SBATCH directives
    SHELL = "shell"  # any other shell text
    PROGRAM = "program"  # Python text
    CONFIG = "config"  # YAML or JSON that is none of the above


@dataclass(frozen=True, slots=True)
class Artifact:
    """One rendered file; `path` is relative to the output folder, with forward slashes.

    `path` starts with `<target kind>/<target key>/`; `name` is the address that people read
    in a plan, such as `Job/llama-pretrain-1`.
    """

    path: str
    text: str
    kind: ArtifactKind
    name: str
    executable: bool = False

    @property
    def digest(self) -> str:
        """sha256 of the bytes (and of the executable bit), in hex."""
        mode = b"x" if self.executable else b"-"
        return hashlib.sha256(mode + self.text.encode()).hexdigest()
