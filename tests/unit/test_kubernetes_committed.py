"""Work folders that are too large for a manifest come from the repository they lie in."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from kubernetes_jobs import STACK, findings, rendered

from compiler.rendering.filetree import FileTree, read_tree
from compiler.targets.kubernetes.committed import NotCommitted, committed

_URL = "https://git.example.com/lab/code.git"
_TASK = "run: x\nworkdir: .\n"
_GIT_STACK = STACK.replace("labels:", f"files: {{git: '{_URL}'}}, labels:")


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a folder `work` of more than a ConfigMap holds."""
    top = tmp_path / "code"
    (top / "work" / "sub").mkdir(parents=True)
    (top / "work" / "data.bin").write_bytes(random.Random(1).randbytes(700_000))
    (top / "work" / "sub" / "run me.sh").write_text("echo run\n")
    (top / "work" / "sub" / "run me.sh").chmod(0o755)
    (top / "other.txt").write_text("other\n")
    _git(tmp_path, "init", "-q", "-b", "main", str(top))
    _git(top, "add", ".")
    _git(top, "commit", "-q", "-m", "all")
    return top


def _tree(repository: Path, part: str = "work", destination: str = "~/sky_workdir") -> FileTree:
    return read_tree(repository / part, destination)


def test_pods_clone_the_folder_at_the_commit_that_is_here(repository):
    objects = rendered(_TASK, _GIT_STACK, trees=(_tree(repository),))
    assert "files.yaml" not in objects
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    commit = _git(repository, "rev-parse", "HEAD")
    line = f"k8s_clone_part '{_URL}' '{commit}' 'work' \"$HOME\"/'sky_workdir' || return 1"
    assert line in platform


def test_what_is_small_still_travels_in_the_manifest(repository, tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "a.txt").write_text("a\n")
    small = read_tree(tmp_path / "small", "/settings")
    objects = rendered(_TASK, _GIT_STACK, trees=(_tree(repository), small))
    assert list(objects["files.yaml"]["binaryData"]) == ["0.tar.gz"]
    platform = objects["scripts.yaml"]["data"]["platform.sh"]
    assert "k8s_unpack '/triplane/files/0.tar.gz' '/settings' || return 1" in platform


def test_the_clone_is_what_the_folder_is(repository, tmp_path):
    trees = (_tree(repository), _tree(repository, "work/data.bin", "~/other/data.bin"))
    objects = rendered(_TASK, _GIT_STACK, trees=trees)
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    state.mkdir()
    text = objects["scripts.yaml"]["data"]["platform.sh"]
    text = text.replace(_URL, str(repository)).replace("/triplane/state", str(state))
    script = f'say() {{ echo "$*"; }}\n{text}\nk8s_place_files\n'
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-c", script], env=environment, check=True)
    placed = home / "sky_workdir"
    assert (placed / "data.bin").read_bytes() == (repository / "work" / "data.bin").read_bytes()
    assert os.access(placed / "sub" / "run me.sh", os.X_OK)
    assert not (placed / "other.txt").exists()
    assert not (placed / ".git").exists()
    assert (home / "other" / "data.bin").stat().st_size == 700_000


@pytest.mark.parametrize("change", ["changed", "untracked", "ignored"])
def test_a_folder_that_is_not_what_was_committed_is_refused(repository, change):
    if change == "changed":
        (repository / "work" / "sub" / "run me.sh").write_text("echo other\n")
    elif change == "untracked":
        (repository / "work" / "new.txt").write_text("new\n")
    else:  # by git, and not by what goes with the task
        (repository / ".gitignore").write_text("cache.bin\n")
        (repository / "work" / "cache.bin").write_text("x\n")
    (said,) = findings(_TASK, _GIT_STACK, trees=(_tree(repository),))
    assert said[0] == "kubernetes-files-not-committed"
    assert said[1].startswith("task.yaml:2:")
    assert "not committed: work/" in said[2]


def test_what_the_task_leaves_behind_may_be_as_it_likes(repository):
    (repository / "work" / ".skyignore").write_text("scratch\n*.log\n")
    (repository / "work" / "old.log").write_text("1\n")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "more")
    (repository / "work" / "scratch").mkdir()
    (repository / "work" / "scratch" / "a").write_text("a")
    (repository / "work" / "new.log").write_text("2\n")
    (repository / "work" / "old.log").write_text("2\n")
    assert committed(_tree(repository)).folder == "work"


def test_what_was_deleted_here_alone_is_refused(repository):
    (repository / "work" / "sub" / "run me.sh").unlink()
    with pytest.raises(NotCommitted, match=r"run me\.sh"):
        committed(_tree(repository))


def test_a_clone_that_failed_is_made_again_in_the_same_pod(repository, tmp_path):
    objects = rendered(_TASK, _GIT_STACK, trees=(_tree(repository),))
    home, state = tmp_path / "home", tmp_path / "state"
    home.mkdir()
    state.mkdir()
    text = objects["scripts.yaml"]["data"]["platform.sh"]
    text = text.replace(_URL, str(tmp_path / "mirror")).replace("/triplane/state", str(state))
    script = f'say() {{ echo "$*"; }}\n{text}\nk8s_place_files\n'
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def start() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False
        )

    done = start()
    assert done.returncode != 0
    assert "cannot get" in done.stdout
    (tmp_path / "mirror").symlink_to(repository)
    assert start().returncode == 0
    assert (home / "sky_workdir" / "data.bin").stat().st_size == 700_000


def test_a_folder_in_no_repository_is_refused(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a").write_text("a")
    with pytest.raises(NotCommitted, match="not a git repository"):
        committed(read_tree(tmp_path / "work", "~/sky_workdir"))


def test_without_a_repository_the_message_says_what_to_set(repository):
    (said,) = findings(_TASK, STACK, trees=(_tree(repository),))
    assert said[0] == "kubernetes-files-too-large"
