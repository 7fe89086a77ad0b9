"""One folder a case: `input/`, `stack.yaml`, `args`, `expected/`, `diagnostics.txt`.

A case is `triplane render` in its folder, with the words of `args` behind it; what is written
must be `expected/` byte for byte and what is said must be `diagnostics.txt` (absent means
nothing was said). Cases that are wrong on purpose have no `expected/` and exit with 1. Without
a `stack.yaml` of its own a case names one in `args`.

The texts of `templates/` that go into every job as they stand (the launcher, say) are not
repeated: in `expected/` a line `«templates/common/launcher.sh»` stands for each, and is replaced
by the text before anything is compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler.cli.main import main

FOLDER = Path(__file__).parent / "golden"
TOP = FOLDER.parent.parent
_STANDS_FOR = re.compile(r"^( *)«(templates/[^»\n]+)»\n", re.MULTILINE)
_SHORTEST = 10  # lines; what is shorter is repeated


@dataclass(frozen=True)
class Outcome:
    """What one case gave: exit code, standard error, files by relative path."""

    code: int
    said: str
    files: dict[str, str]


def stack_file(case: Path) -> Path:
    """The case's own stack, else the one that its words name."""
    own = case / "stack.yaml"
    if own.exists():
        return own
    words = shlex.split((case / "args").read_text(encoding="utf-8"))
    return case / words[words.index("--stack") + 1]


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
    files = {path: expanded(text) for path, text in read_files(case / "expected").items()}
    said = diagnostics.read_text(encoding="utf-8") if diagnostics.exists() else ""
    return Outcome(0 if files else 1, said, files)


def update(case: Path, outcome: Outcome) -> None:
    """Make the case's expectation what it gave."""
    shutil.rmtree(case / "expected", ignore_errors=True)
    for path, text in outcome.files.items():
        target = case / "expected" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(abbreviated(text).encode())
    diagnostics = case / "diagnostics.txt"
    if outcome.said:
        diagnostics.write_text(outcome.said, encoding="utf-8")
    else:
        diagnostics.unlink(missing_ok=True)


def expanded(text: str) -> str:
    """The text with every template that a line stands for."""
    return _STANDS_FOR.sub(lambda found: _indented(_fixed_texts()[found[2]], found[1]), text)


def abbreviated(text: str) -> str:
    """What `expanded` makes `text` of; texts of templates stand at a line's start, or in a
    YAML block scalar."""
    text = f"\n{text}"
    for path, body in _fixed_texts().items():
        for indent in ("", "    "):
            text = text.replace(f"\n{_indented(body, indent)}", f"\n{indent}«{path}»\n")
    return text[1:]


@cache
def _fixed_texts() -> dict[str, str]:
    """The templates that are no Jinja, by their paths from the top."""
    texts = {f"templates/{path}": text for path, text in read_files(TOP / "templates").items()}
    return {
        path: text
        for path, text in texts.items()
        if not path.endswith(".j2") and text.count("\n") >= _SHORTEST
    }


def _indented(text: str, indent: str) -> str:
    return "".join(indent * bool(line.strip("\n")) + line for line in text.splitlines(True))
