"""One folder a case: `input/`, `stack.yaml`, `args`, `expected/`, `diagnostics.txt`.

A case is `triplane render` in its folder, with the words of `args` behind it; what is written
must be `expected/` byte for byte and what is said must be `diagnostics.txt` (absent means
nothing was said). Cases that are wrong on purpose have no `expected/` and exit with 1. Without
a `stack.yaml` of its own a case names one in `args`.

A file that a template is copied into as it stands (a launcher on EC2, say) is a symbolic link
to it under `expected/`: what is compared are still the bytes, but no case repeats them.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from compiler.cli.main import main

FOLDER = Path(__file__).parent / "golden"
TEMPLATES = FOLDER.parent.parent / "templates"


@dataclass(frozen=True)
class Outcome:
    """What one case gave: exit code, standard error, files by relative path."""

    code: int
    said: str
    files: dict[str, str]


def cases() -> list[Path]:
    return sorted(path.parent for path in FOLDER.glob("*/args"))


def run_case(case: Path, out: Path) -> Outcome:
    """Render the case into the empty folder `out`."""
    words = shlex.split((case / "args").read_text(encoding="utf-8"))
    stack = ["--stack", "stack.yaml"] if (case / "stack.yaml").exists() else []
    arguments = ["render", *words, *stack, "--out", str(out)]
    said = io.StringIO()
    before, environ = Path.cwd(), dict(os.environ)
    os.chdir(case)
    try:
        os.environ.pop("TRIPLANE_STACK", None)
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = main(arguments)
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environ)
    lines = said.getvalue().splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.rstrip().endswith(" unchanged"))
    return Outcome(code, kept, read_files(out))


def read_files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def expected_of(case: Path) -> Outcome:
    diagnostics = case / "diagnostics.txt"
    files = read_files(case / "expected")
    said = diagnostics.read_text(encoding="utf-8") if diagnostics.exists() else ""
    return Outcome(0 if files else 1, said, files)


def update(case: Path, outcome: Outcome) -> None:
    """Make the case's expectation what it gave."""
    shutil.rmtree(case / "expected", ignore_errors=True)
    templates = {text: TEMPLATES / path for path, text in read_files(TEMPLATES).items()}
    for path, text in outcome.files.items():
        target = case / "expected" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if text in templates:
            target.symlink_to(os.path.relpath(templates[text], target.parent))
        else:
            target.write_bytes(text.encode())
    diagnostics = case / "diagnostics.txt"
    if outcome.said:
        diagnostics.write_text(outcome.said, encoding="utf-8")
    else:
        diagnostics.unlink(missing_ok=True)
