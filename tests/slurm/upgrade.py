"""Another version of the tool, to be run beside the one under test."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.command_line import TOP


def upgraded_tool(folder: Path) -> Path:
    """A copy of the tool with another version, and templates that give another script.

    It is run by having the folder as PYTHONPATH.
    """
    for name in ("compiler", "schemas", "templates"):
        shutil.copytree(TOP / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "compiler/__init__.py").write_text('"""Another one."""\n\n__version__ = "99.0"\n')
    template = folder / "templates/slurm/job.sbatch.j2"
    text = template.read_text()
    template.write_text(text.replace("\n\n", "\n\n\n") + "\n")
    assert template.read_text() != text
    return folder
