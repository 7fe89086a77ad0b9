"""Nothing goes without a golden case: no template, no row of a target's table, no code."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import subprocess
import sys

import pytest

from compiler.diagnostics import codes
from compiler.diagnostics.code import Code, all_codes
from compiler.model import TargetKind
from compiler.targets.interface import SupportLevel
from compiler.targets.registry import target_of
from tests import golden_harness as harness

CALLED = {"kubernetes": "Kubernetes", "slurm": "Slurm", "aws": "AWS"}

# Rows that no task can get to, because something before the targets refuses it.
BEFORE_THE_TARGET = {
    "group (joined later)": "`plan` and `apply` alone join a running group",
    "resources.volumes": "the model refuses them outside of Google Cloud (resources-volumes)",
}

_BUG = "would be a bug of triplane's"
_BIG = "takes an input too large for a case"
_PLAN = "is about plans and applies, which cases of `render` do not make"
_SYSTEM = "takes a file system in a state that git does not keep"
_STACK = "is found in the stack before (secret-source)"
_SCHEMA = "is a fault that the schema finds before, or that no schema has yet"

# Codes that no case shows, and why.
ELSEWHERE = {
    "aws-program-invalid": _BUG,
    "aws-secret-source": _STACK,
    "aws-user-data-size": _BUG,
    "bad-plan": _PLAN,
    "conflicting-fields": _SCHEMA,
    "empty-set": _PLAN,
    "env-too-long": _BIG,
    "path-taken": _PLAN,
    "file-too-large": _BIG,
    "file-unreadable": _SYSTEM,
    "kubernetes-files-not-committed": _BIG,
    "kubernetes-files-too-large": _BIG,
    "kubernetes-files-unreadable": _SYSTEM,
    "kubernetes-name-too-long": _BUG,
    "kubernetes-secret-source": _STACK,
    "no-regular-file": _SYSTEM,
    "manifest-unreadable": _BUG,
    "more-findings": _BIG,
    "outside-base": _PLAN,
    "output-folder": _SYSTEM,
    "policy-accelerators-per-plan": _PLAN,
    "policy-cost-per-plan": _PLAN,
    "policy-plugin": _PLAN,
    "policy-plugin-failed": _PLAN,
    "secret-missing": _PLAN,
    "secret-not-kept": _PLAN,
    "slurm-script": _BUG,
    "target-left-behind": _PLAN,
    "tree-unreadable": _SYSTEM,
    "unexpected-value": _SCHEMA,
    "volume-not-made": _PLAN,
}

# Inputs that are there and not read, which is what their case is about.
LEFT_UNREAD = {
    "command-line-overrides/input/src/a.txt": "a flag names another working folder",
    "errors-files/input/empty-folder/notes.txt": "no YAML file",
    "errors-mounts/input/data/x.txt": "the mounts are wrong in other ways",
    "errors-mounts/input/x/a.txt": "the mounts are wrong in other ways",
    "errors-mounts/input/y/a.txt": "the mounts are wrong in other ways",
    "errors-not-a-stack/input/task.yaml": "the stack is wrong",
    "errors-secret-sources/input/task.yaml": "the stack is wrong",
    "errors-stack-itself/input/task.yaml": "the stack is wrong",
    **{
        f"{case}-files/input/code/old.log": ".skyignore leaves it out"
        for case in ("aws", "kubernetes", "slurm")
    },
}


@pytest.fixture(scope="module")
def record() -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden_recorder"],
        capture_output=True,
        text=True,
        cwd=harness.TOP,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def said() -> str:
    """All diagnostics of all cases, each on one line however it was wrapped."""
    texts = [
        (case / "diagnostics.txt").read_text(encoding="utf-8")
        for case in harness.cases()
        if (case / "diagnostics.txt").exists()
    ]
    return re.sub(r"\n {4,}(?=\S)", " ", "\n".join(texts))


def test_every_template_is_rendered_by_a_case(record):
    templates = {
        path.relative_to(harness.TOP).as_posix()
        for path in (harness.TOP / "templates").rglob("*")
        # The deployer's own scripts: its tests run each of them on a real cluster. The page of
        # a plan: its tests open it in a browser.
        if path.is_file()
        and "slurm/remote" not in path.as_posix()
        and "templates/plan/" not in path.as_posix()
    }
    assert templates
    assert sorted(templates - set(record["opened"])) == []


@pytest.mark.parametrize("kind", list(TargetKind))
def test_every_row_of_a_support_table_is_exercised(kind, record, said):
    jobs = [job for job in record["jobs"] if job["kind"] == kind]
    missing = []
    for row in target_of(kind).support.values():
        if row.field in BEFORE_THE_TARGET:
            continue
        shown = f"`{row.field.partition(' (')[0]}` on {CALLED[kind]}: "
        if row.level is SupportLevel.FULL:
            exercised = any(
                row.field in job["fields"]
                and not any(loss.startswith(shown) for loss in job["losses"])
                for job in jobs
            )
        else:
            exercised = shown + row.note in said
        if not exercised:
            missing.append(f"{row.field} ({row.level})")
    assert missing == []


def test_every_code_is_shown_by_a_case_or_has_a_reason(said):
    shown = set(re.findall(r"^(?:error|warning|note)\[([a-z0-9-]+)\]", said, re.MULTILINE))
    shown |= set(re.findall(r"^ *= note: .*\[([a-z0-9-]+)\]$", said, re.MULTILINE))
    assert sorted(set(all_codes()) - shown - set(ELSEWHERE) - _not_of_render()) == []
    assert sorted(set(ELSEWHERE) & shown) == []  # these need no reason
    assert sorted(set(ELSEWHERE) - set(all_codes())) == []


def _not_of_render() -> set[str]:
    """The codes of what only deployers and `migrate` say, which have tests of their own."""
    modules = [found.name for found in pkgutil.iter_modules(codes.__path__)]
    return {
        value.name
        for name in modules
        if name.endswith("_deploy") or name.startswith("migra")
        for value in vars(importlib.import_module(f"{codes.__name__}.{name}")).values()
        if isinstance(value, Code)
    }


def test_every_expected_file_is_written(record):
    for case in harness.cases():
        assert sorted(harness.read_files(case / "expected")) == record["written"][case.name]


def test_every_input_is_read(record):
    inputs = {
        path.relative_to(harness.FOLDER).as_posix()
        for path in harness.FOLDER.glob("*/input/**/*")
        if path.is_file()
    }
    opened = {path.removeprefix("tests/golden/") for path in record["opened"]}
    assert sorted(inputs - opened) == sorted(LEFT_UNREAD)


def test_a_case_says_something_or_nothing():
    for path in harness.FOLDER.glob("*/diagnostics.txt"):
        assert path.read_text(encoding="utf-8").strip(), path


def test_reasons_are_about_rows_that_there_are():
    fields = {field for kind in TargetKind for field in target_of(kind).support}
    assert set(BEFORE_THE_TARGET) <= fields
