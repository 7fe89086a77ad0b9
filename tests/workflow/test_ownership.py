"""Attempts to have triplane delete or change what is somebody else's; none of them may work."""

from __future__ import annotations

import json

import pytest
import yaml


@pytest.fixture
def neighbours(project):
    """Two sets in one output folder, both applied, and a file of nobody's."""
    for name in ("demo", "other"):
        project.stack(
            "alpha", "eks", name=f"{name}.yaml", set={"name": name, "inputs": [f"{name}/"]}
        )
        for work in ("train", "serve"):
            project.task(work, folder=name)
        done = project.run("apply", "--stack", f"{name}.yaml", "--auto-approve")
        assert done.code == 0, done.text
    project.write("out/slurm/alpha/notes.txt", "keep me\n")
    return project


def foreign(project):
    """Everything below `out` that is not the set demo's."""
    return {path: text for path, text in project.tree().items() if "demo" not in path}


def demo(project, command, *words):
    return project.run(command, *words, "--stack", "demo.yaml", "--auto-approve")


def record(project, name="train"):
    place = project.folder / f"out/.triplane/demo/alpha/{name}.1.json"
    return place, json.loads(place.read_text())


@pytest.mark.parametrize(
    "attempt",
    ["destroy", "empty set", "renamed set", "renamed stack", "one file alone", "other inputs"],
)
def test_what_is_another_set_s_stays(neighbours, attempt):
    before = foreign(neighbours)
    stack = neighbours.folder / "demo.yaml"
    if attempt == "destroy":
        assert demo(neighbours, "destroy").code == 0
    elif attempt == "empty set":
        for path in (neighbours.folder / "demo").iterdir():
            path.unlink()
        assert demo(neighbours, "apply").code == 1
        assert demo(neighbours, "apply", "--allow-empty").code == 0
    elif attempt == "renamed set":
        body = yaml.safe_load(stack.read_text())
        body["set"]["name"] = "demo2"
        stack.write_text(yaml.safe_dump(body))
        assert demo(neighbours, "apply").code == 0
        assert [path for path in neighbours.tree() if "demo-train-1" in path]
    elif attempt == "renamed stack":
        stack.rename(neighbours.folder / "renamed.yaml")
        done = neighbours.run("apply", "--stack", "renamed.yaml", "--auto-approve")
        assert done.code == 0
        assert "No changes" in done.err + done.out
    elif attempt == "one file alone":
        done = demo(neighbours, "apply", "demo/train.yaml")
        assert done.code == 0
        assert [path for path in neighbours.tree() if "demo-serve-1" in path]
    else:
        body = yaml.safe_load(stack.read_text())
        body["set"]["inputs"] = ["other/"]
        stack.write_text(yaml.safe_dump(body))
        assert demo(neighbours, "apply").code == 0
    assert foreign(neighbours) == before


@pytest.mark.parametrize(
    "path",
    [
        "slurm/alpha/other-train-1/job.sbatch",
        ".triplane/other/alpha/train.1.json",
        "../demo/train.yaml",
        "../other.yaml",
        "/etc/hostname",
        "slurm/alpha/../../../other.yaml",
    ],
)
def test_a_forged_record_removes_nothing_foreign(neighbours, path):
    place, body = record(neighbours)
    digest = next(iter(body["files"].values()))
    body["files"][path] = digest
    place.write_text(json.dumps(body))
    others = {**foreign(neighbours), "stack": (neighbours.folder / "other.yaml").read_text()}
    done = demo(neighbours, "destroy", "train")
    assert done.code in (0, 1), done.text
    after = {**foreign(neighbours), "stack": (neighbours.folder / "other.yaml").read_text()}
    assert after == others
    assert (neighbours.folder / "demo/train.yaml").is_file()


def test_a_record_that_says_it_is_another_set_s_is_not_ours(neighbours):
    place, body = record(neighbours)
    place.write_text(json.dumps({**body, "set": "other"}))
    before = foreign(neighbours)
    done = demo(neighbours, "destroy")
    assert done.code in (0, 1), done.text
    assert foreign(neighbours) == before


def test_a_file_of_ours_that_became_a_link_takes_nothing_along(neighbours):
    target = neighbours.write("precious/file.txt", "keep me\n")
    (place,) = neighbours.folder.glob("out/*/alpha/demo-train-1/job.sbatch")
    place.unlink()
    place.symlink_to(target)
    done = demo(neighbours, "destroy", "train")
    assert done.code in (0, 1), done.text
    assert target.read_text() == "keep me\n"


def test_a_folder_of_ours_that_became_a_link_takes_nothing_along(neighbours):
    precious = neighbours.write("precious/job.sbatch", "keep me\n")
    (place,) = neighbours.folder.glob("out/*/alpha/demo-train-1")
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    place.symlink_to(precious.parent)
    for words in (("apply",), ("destroy", "train")):
        done = demo(neighbours, *words)
        assert done.code in (0, 1), done.text
        assert precious.read_text() == "keep me\n", words


def test_volumes_of_kept_work_and_runs_by_hand_stay(neighbours):
    """`triplane run` belongs to nobody's plan: neither an apply nor an empty set prunes it."""
    assert neighbours.run("run", "demo/train.yaml", "--stack", "demo.yaml").code == 0
    for path in (neighbours.folder / "demo").iterdir():
        path.unlink()
    assert demo(neighbours, "apply", "--allow-empty").code == 0
    left = [path for path in neighbours.tree() if "demo-train" in path]
    assert any("demo-train-2" in path for path in left)
    assert not any("demo-train-1/" in path for path in left)
