"""Whole-process time of `validate` and `render` for one task, against bare imports."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.timing import processes, ratio, row

ROOT = Path(__file__).parent.parent


def main() -> None:
    python = sys.executable
    task = str(ROOT / "examples" / "hello" / "task.yaml")
    stack = str(ROOT / "stacks" / "demo.yaml")
    triplane = [python, "-c", "from compiler.cli.main import entry; entry()"]
    with tempfile.TemporaryDirectory() as out:
        times = processes(
            {
                "python -c pass": [python, "-c", "pass"],
                "import jinja2, jsonschema, ruamel.yaml": [
                    python,
                    "-c",
                    "import jinja2, jsonschema, ruamel.yaml",
                ],
                "triplane --version": [*triplane, "--version"],
                "triplane validate": [*triplane, "validate", task],
                "triplane render": [*triplane, "render", task, "--stack", stack, "--out", out],
            }
        )
    for name, seconds in times.items():
        print(row(name, seconds))
    for command in ("triplane validate", "triplane render"):
        for other in ("python -c pass", "import jinja2, jsonschema, ruamel.yaml"):
            ratio(f"{command} / {other}", times[command], times[other])


if __name__ == "__main__":
    main()
