"""Every program of the golden cases against the types of the pulumi-aws SDK, by mypy.

All cases are one project here, as mypy reads the SDK for half a minute: texts that differ are
modules of their own, and what is the same everywhere is looked at once.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import golden_harness as harness
from tests.needs import give_up

_CACHE = harness.TOP / ".mypy_cache"
_OPTIONS = (
    *("--check-untyped-defs", "--warn-redundant-casts", "--no-implicit-reexport"),
    *(
        "--explicit-package-bases",
        "--no-error-summary",
        "--hide-error-context",
        "--python-version",
        "3.11",
    ),
)


def programs() -> dict[str, str]:
    """Path below the project -> text, each text once; modules of cases are told apart by names."""
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for case in sorted(path.parent.parent for path in harness.FOLDER.glob("*/expected/aws")):
        for path, text in harness.expected_of(case).files.items():
            parts = path.split("/")
            if parts[0] != "aws" or not path.endswith(".py"):
                continue
            place = "/".join(parts[2:])
            if (place, text) in seen:
                continue
            seen.add((place, text))
            stem = place.removesuffix(".py")
            name = place if place not in found else f"{stem}__{len(seen)}.py"
            found[name] = text
    return found


def check(folder: Path) -> str:
    if not (Path(sys.executable).with_name("mypy")).exists():
        give_up("no mypy: the test group has it")
    command = [sys.executable, "-m", "mypy", *_OPTIONS, "--cache-dir", str(_CACHE)]
    done = subprocess.run([*command, "."], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


@pytest.mark.timeout(1200)
def test_programs_fit_the_types_of_the_sdk(tmp_path):
    files = programs()
    assert len([path for path in files if path.startswith("workloads/")]) > 30
    write(tmp_path, files)
    assert check(tmp_path) == ""


@pytest.mark.timeout(1200)
def test_what_does_not_fit_is_found(tmp_path):
    files = {path: text for path, text in programs().items() if "__" not in path[2:]}
    broken = re.sub(r"size=256", 'size="big"', files["workloads/lab_prepare_1.py"])
    files = {path: text for path, text in files.items() if not path.startswith("workloads/")}
    files |= {
        "workloads/__init__.py": "",
        "workloads/broken.py": broken.replace("description=", "describing="),
    }
    write(tmp_path, files)
    said = check(tmp_path)
    assert 'Argument "size" to "root_volume" has incompatible type "str"' in said
    assert 'Unexpected keyword argument "describing"' in said or "No overload variant" in said
