"""What one command line gave, for the projects that tests run `triplane` in."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).parents[1]
# A command line of its own: for what a process alone shows, and for what must be killed.
PROGRAM = (sys.executable, "-c", "from compiler.cli.main import entry; entry()")


@dataclass(frozen=True)
class Output:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)
