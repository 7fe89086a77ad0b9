"""Golden scripts that really run: applied as a user does it, byte for byte, output checked."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml

from compiler.cli.main import main
from tests import golden_harness as harness
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

CASE = harness.FOLDER / "slurm-really-run"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("golden_outputs.yaml").read_text(encoding="utf-8")
)
SET = "goldenrun"
USER = "alice"


@pytest.fixture(scope="module")
def runs(
    slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """All tasks of the case applied at once, and waited for: the set's name, its folder.

    The set has a name that nobody used before, in the scripts as well.
    """
    name = f"{SET}{uuid.uuid4().hex[:6]}"
    folder = tmp_path_factory.mktemp("golden") / "case"
    shutil.copytree(CASE, folder)
    stack = (folder / "stack.yaml").read_text().replace(SET, name)
    (folder / "stack.yaml").write_text(stack.replace("kind: slurm", "kind: slurm, deployer: ssh"))
    environment = {key: value for key, value in os.environ.items() if key != "SSH_AUTH_SOCK"}
    environment["TRIPLANE_SSH_CONFIG"] = str(slurm_site.state / f"ssh/config-{USER}")
    said = io.StringIO()
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        words = ["--stack", "stack.yaml", "--quiet"]
        applied = main(["apply", "input", "--auto-approve", *words])
        waited = main(["wait", *words, "--timeout", "120"])
    assert (applied, waited) == (0, 100), said.getvalue()  # some are meant to fail
    state = slurm_site.home(USER) / ".triplane" / name
    yield name, state
    shutil.rmtree(state)


@pytest.mark.parametrize("task", EXPECTED)
def test_it_runs_as_it_is_written(runs: tuple[str, Path], task: str) -> None:
    name, state = runs
    expected = EXPECTED[task]
    folder = state / f"runs/{task}.1"
    assert (folder / "ended").read_text().split()[0] == str(expected.get("exit", 0))
    for rank, text in enumerate(expected.get("ranks", ())):
        log = folder / f"logs/{rank}.log"
        wanted = text.replace("«set»", name)
        found = log.read_text() if log.exists() else ""
        if task == "gpus":  # two of the node's eight: which ones is for the others that run
            found = re.sub(r"\b[0-7],[0-7]\b", "0,1", found)
        if expected.get("sort"):
            found, wanted = ("".join(sorted(part.splitlines(True))) for part in (found, wanted))
        assert found == wanted
    for file, text in expected.get("home", {}).items():
        assert (state / f"work/{task}.1/home" / file).read_text() == text
    if "out" in expected:
        assert next(folder.glob("slurm-*.out")).read_text() == expected["out"]


def test_a_group_and_a_pipeline_run(runs: tuple[str, Path]) -> None:
    folder = runs[1] / "runs"
    assert (folder / "pair.1/first/logs/0.log").read_text().startswith("pair 127.0.1.")
    assert (folder / "pair.1/second/logs/0.log").read_text() == "127.0.1.4\n"
    assert (folder / "chain.1/two/logs/0.log").read_text() == "one\ntwo\n"


def test_what_ran_is_the_golden_text(runs: tuple[str, Path]) -> None:
    name, state = runs
    seen = 0
    for path, text in harness.expected_of(CASE).files.items():
        place = path.removeprefix(f"slurm/alpha/{SET}-")
        label, _, rest = place.partition("/")
        work, _, run = label.rpartition("-")
        there = state / f"runs/{work}.{run}" / rest
        assert there.read_text() == text.replace(SET, name), path
        seen += 1
    assert seen >= 30
