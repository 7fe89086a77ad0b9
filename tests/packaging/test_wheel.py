"""What is built holds all that the command needs, and works away from the checkout."""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from pathlib import Path

import pytest

from compiler import __version__
from tests.packaging.build import TOP, Installation, build_sdist, build_wheel, run

# Where the folders of the checkout lie in the wheel.
PLACES = {
    "compiler": "compiler",
    "schemas": "compiler/_data/schemas",
    "templates": "compiler/_data/templates",
}
STACK = """\
set: {name: away, inputs: [task.yaml]}
out: applied
targets:
  eks: {kind: kubernetes, version: "1.34"}
  alpha: {kind: slurm, version: "23.11"}
  us-east-1: {kind: aws, files: {bucket: s3://b}}
"""
TASK = """\
name: hello
num_nodes: 2
resources: {cpus: 2}
setup: echo setup
run: echo "rank $SKYPILOT_NODE_RANK"
"""


def files_below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in files_below(root)}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build_sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build_wheel(TOP, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_of_sdist(tmp_path_factory, sdist):
    return build_wheel(sdist, tmp_path_factory.mktemp("wheel-of-sdist"))


@pytest.fixture(scope="module")
def away(tmp_path_factory, wheel):
    """The wheel, installed, and a folder to work in that is no checkout."""
    home = tmp_path_factory.mktemp("home")
    (home / "stack.yaml").write_text(STACK)
    (home / "task.yaml").write_text(TASK)
    return Installation.of(wheel, tmp_path_factory.mktemp("installed"), home)


def test_the_wheel_holds_the_package_its_data_and_nothing_else(wheel):
    expected = {
        f"{place}/{path.relative_to(TOP / folder)}": path.read_bytes()
        for folder, place in PLACES.items()
        for path in files_below(TOP / folder)
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    metadata = f"triplane-{__version__}.dist-info"
    found = {name: data for name, data in inside.items() if not name.startswith(metadata)}
    assert sorted(found) == sorted(expected)
    assert found == expected
    assert {name.partition("/")[2] for name in inside if name.startswith(metadata)} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
    }
    kinds = {Path(name).suffix for name in found}
    assert {".py", ".csv", ".json", ".j2", ".sh"} <= kinds


def test_the_metadata_names_the_command_and_leaves_pulumi_to_its_extra(wheel):
    with zipfile.ZipFile(wheel) as archive:
        folder = f"triplane-{__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{folder}/METADATA").decode())
        entry_points = archive.read(f"{folder}/entry_points.txt").decode()
    words = ["[console_scripts]", "triplane", "=", "compiler.cli.start:entry"]
    assert entry_points.split() == words
    assert (metadata["Name"], metadata["Version"]) == ("triplane", __version__)
    assert metadata["Requires-Python"] == ">=3.11"
    pulumi = [line for line in metadata.get_all("Requires-Dist") if line.startswith("pulumi")]
    assert pulumi
    assert all(line.endswith("extra == 'pulumi'") for line in pulumi)


def test_the_source_distribution_holds_what_a_wheel_is_made_from(sdist, wheel, wheel_of_sdist):
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"compiler", "schemas", "templates", "stacks", "examples", "pyproject.toml"} <= tops
    assert not tops & {"tests", "bench", "docs", ".ci", ".git", ".venv"}
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(wheel_of_sdist) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
        for name in ours.namelist():
            assert ours.read(name) == theirs.read(name), name


def test_the_installed_package_is_the_one_that_runs(away):
    code = "import sys, compiler; print(compiler.__file__, *sys.path, sep='\\n')"
    file, *path = away.python("-c", code).splitlines()
    assert Path(file) == away.folder / "compiler" / "__init__.py"
    assert str(TOP) not in path
    assert away.triplane("--version").split()[-1] == __version__


def test_validate_finds_its_schemas(away):
    away.triplane("validate", "task.yaml", "stack.yaml")
    (away.home / "wrong.yaml").write_text("name: x\nrunn: y\n")
    away.triplane("validate", "wrong.yaml", code=1)


def test_every_schema_is_printed_as_the_checkout_has_it(away):
    names = away.triplane("schema").split()
    assert set(names) == {path.name.split(".")[0] for path in (TOP / "schemas").glob("*.json")}
    for name in names:
        # Published and printed in one file, without references to others.
        kept = json.loads((TOP / "docs/schemas" / f"{name}.schema.json").read_text("utf-8"))
        assert json.loads(away.triplane("schema", name)) == kept


def test_render_gives_the_bytes_that_the_checkout_gives(away, tmp_path):
    words = ["render", "task.yaml", "--stack", "stack.yaml", "--every-target", "--out"]
    away.triplane(*words, "rendered")
    for name in ("task.yaml", "stack.yaml"):
        shutil.copy(away.home / name, tmp_path)
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from compiler.cli.main import *; entry()"
    )
    run([sys.executable, "-P", "-c", code, TOP, *words, "rendered"], cwd=tmp_path)
    rendered = contents(away.home / "rendered")
    assert {path.split("/")[0] for path in rendered} == {"aws", "kubernetes", "slurm"}
    assert rendered == contents(tmp_path / "rendered")


def test_plan_and_apply_write_to_the_directory(away):
    words = ["task.yaml", "--stack", "stack.yaml", "--every-target"]
    changes = ["plan", *words, "--detailed-exitcode"]
    away.triplane(*changes, "--out", "plan.json", code=2)
    away.triplane("apply", "plan.json")
    applied = contents(away.home / "applied")
    for kind in ("aws", "kubernetes", "slurm"):
        assert any(path.startswith(f"{kind}/") for path in applied), kind
    away.triplane(*changes, code=0)


def test_explain_and_catalog_find_their_data(away):
    assert "accelerators" in away.triplane("explain", "resources.accelerators")
    assert "H100" in away.triplane("catalog", "H100")
