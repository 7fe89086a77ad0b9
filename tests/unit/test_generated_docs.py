"""The pages that tools/generate_docs.py writes are those of this program."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.diagnostics.code import all_codes
from compiler.model import TargetKind
from compiler.targets.registry import target_of

TOP = Path(__file__).resolve().parents[2]
TOOL = TOP / "tools" / "generate_docs.py"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return runpy.run_path(str(TOOL))["pages"]()


def test_the_pages_are_up_to_date(pages):
    for name, text in pages.items():
        written = (TOP / "docs" / name).read_text(encoding="utf-8")
        assert written == text, f"docs/{name}: run tools/generate_docs.py"


def test_every_code_has_its_page(pages):
    overview = re.findall(
        r"^\| \[([a-z0-9-]+)\]\(\1\.md\)", pages["diagnostics/README.md"], re.MULTILINE
    )
    assert sorted(overview) == sorted(all_codes())
    assert {f"diagnostics/{name}.md" for name in all_codes()} <= pages.keys()


def test_examples_are_shown_with_what_is_said_about_them(pages):
    """The pages are the snapshots of the rendered texts, where no stack is needed."""
    shown = [name for name, text in pages.items() if "`triplane validate` says:" in text]
    assert len(shown) > 90
    for name in shown:
        code = Path(name).stem
        assert f"[{code}]: " in pages[name]


def test_every_row_of_every_target_is_in_the_matrix(pages):
    for kind in TargetKind:
        for row in target_of(kind).support.values():
            assert row.note.replace("|", "\\|") in pages["support-matrix.md"], (kind, row.field)


def test_check_says_whether_the_pages_are_up_to_date():
    done = subprocess.run(
        [sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
