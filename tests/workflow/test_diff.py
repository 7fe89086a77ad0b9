"""`triplane diff`: rendered against rendered, with a folder or with another git revision."""

import os
import subprocess

import pytest


@pytest.fixture
def rendered(project):
    """Two tasks, rendered to `review/`."""
    project.stack("eks", "alpha", root=".")
    project.write("src/a.py", "a\n")
    project.task("a", resources={"cpus": 2, "infra": "k8s"})
    project.task("b", resources={"cpus": 2, "infra": "slurm"}, workdir="src")
    assert project.run("render", "--stack", "stack.yaml", "--out", "review").code == 0
    return project


def diff(project, *words, against="review"):
    return project.run("diff", "--stack", "stack.yaml", "--against", against, *words)


def test_the_same_input_is_no_difference(rendered):
    done = diff(rendered, "--detailed-exitcode")
    assert (done.code, done.out) == (0, "no differences\n")


def test_differences_are_shown_by_field_and_counted(rendered):
    rendered.task("a", resources={"cpus": 4, "infra": "k8s"})
    done = diff(rendered)
    assert done.code == 0
    assert "~ kubernetes/eks/demo-a-1/job.yaml" in done.out
    assert "requests.cpu: 2 -> 4" in done.out
    assert "slurm/alpha" not in done.out
    assert diff(rendered, "--detailed-exitcode").code == 2
    assert done.out.splitlines()[-1] == "1 file differs"


def test_json_has_a_versioned_shape(rendered):
    rendered.task("a", resources={"cpus": 4, "infra": "k8s"})
    body = diff(rendered, "--format", "json").json
    assert (body["format_version"], body["kind"], body["against"]) == ("1.0", "diff", "review")
    [item] = body["objects"]
    assert (item["path"], item["action"]) == ("kubernetes/eks/demo-a-1/job.yaml", "update")
    assert any(field["before"] == "2" and field["after"] == "4" for field in item["fields"])


def test_what_is_no_longer_rendered_is_a_deletion_of_the_whole_set_alone(rendered):
    (rendered.folder / "tasks/b.yaml").unlink()
    rendered.task("c", resources={"cpus": 1, "infra": "k8s"})
    done = diff(rendered)
    assert "- slurm/alpha/demo-b-1/job.sbatch" in done.out
    assert "+ kubernetes/eks/demo-c-1/job.yaml" in done.out
    assert "no differences" in diff(rendered, "tasks/a.yaml").out
    assert "demo-b-1" not in diff(rendered, "--target", "eks").out


def test_a_moved_task_leaves_one_folder_and_enters_another(rendered):
    rendered.task("a", resources={"cpus": 2, "infra": "slurm"})
    done = diff(rendered, "tasks/a.yaml")
    assert "- kubernetes/eks/demo-a-1/job.yaml" in done.out
    assert "+ slurm/alpha/demo-a-1/job.sbatch" in done.out


def test_line_ends_and_bytes_count(rendered):
    path = rendered.folder / "review/kubernetes/eks/demo-a-1/job.yaml"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert diff(rendered, "--detailed-exitcode").code == 2
    path.write_bytes(b"\xff\x00\n")
    assert diff(rendered, "--detailed-exitcode").code == 2


def git(project, *words):
    environ = {
        **os.environ,
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.com",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.com",
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    subprocess.run(
        ["git", *words], cwd=project.folder, env=environ, check=True, capture_output=True
    )


@pytest.fixture
def repository(rendered):
    git(rendered, "init", "-q", "-b", "main")
    (rendered.folder / "outside").symlink_to("/etc/passwd")
    git(rendered, "add", "stack.yaml", "tasks", "src", "outside")
    git(rendered, "commit", "-q", "-m", "first")
    return rendered


def test_against_a_revision(repository):
    assert diff(repository, against="main").out == "no differences\n"
    repository.task("a", resources={"cpus": 4, "infra": "k8s"})
    done = diff(repository, "--detailed-exitcode", against="main")
    assert done.code == 2
    assert "requests.cpu: 2 -> 4" in done.out
    git(repository, "commit", "-q", "-am", "second")
    assert diff(repository, against="HEAD").out == "no differences\n"
    assert "requests.cpu: 2 -> 4" in diff(repository, "tasks/a.yaml", against="HEAD~1").out


def test_a_changed_work_folder_shows_against_a_revision(repository):
    repository.write("src/a.py", "changed\n")
    done = diff(repository, against="main")
    assert "~ slurm/alpha/demo-b-1/job.sbatch" in done.out
    assert done.out.splitlines()[-1] == "1 file differs"


def test_a_new_task_and_a_new_stack_are_all_new(repository):
    repository.task("c", resources={"cpus": 1, "infra": "k8s"})
    done = diff(repository, "tasks/c.yaml", against="main")
    assert "+ kubernetes/eks/demo-c-1/job.yaml" in done.out
    repository.stack("eks", name="new.yaml")
    (repository.folder / "tasks/b.yaml").unlink()
    done = repository.run("diff", "--stack", "new.yaml", "--against", "main")
    assert done.code == 0, done.text
    assert "~" not in done.out
    assert "+ kubernetes/eks/demo-a-1/job.yaml" in done.out


def test_from_a_folder_inside_the_repository(repository, monkeypatch):
    repository.task("a", resources={"cpus": 4, "infra": "k8s"})
    monkeypatch.chdir(repository.folder / "tasks")
    done = repository.run("diff", "a.yaml", "--stack", "../stack.yaml", "--against", "main")
    assert done.code == 0, done.text
    assert "requests.cpu: 2 -> 4" in done.out


def test_the_revision_is_of_the_repository_that_the_stack_is_in(
    repository, monkeypatch, tmp_path_factory
):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    stack = repository.folder / "stack.yaml"
    done = repository.run("diff", "--stack", stack, "--against", "main")
    assert (done.code, done.out) == (0, "no differences\n"), done.text


def test_nothing_is_left_of_the_checkout(repository, tmp_path_factory, monkeypatch):
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(place))
    diff(repository, against="main")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    "against",
    ["no-such-branch", "--output=x", "missing/folder", "", "main:tasks", "HEAD:stack.yaml"],
)
def test_neither_a_folder_nor_a_revision_is_wrong_usage(repository, against):
    done = diff(repository, f"--against={against}")
    assert done.code == 64
    assert "neither a folder nor a git revision" in done.err


def test_outside_a_repository_only_folders_are_compared_with(rendered):
    done = diff(rendered, against="main")
    assert done.code == 64
    assert "not a git repository" in done.err


def test_a_path_outside_the_repository_is_wrong_usage(repository, tmp_path_factory):
    place = tmp_path_factory.mktemp("elsewhere") / "x.yaml"
    place.write_text("name: x\nresources: {cpus: 1, infra: k8s}\nrun: echo\n")
    done = diff(repository, str(place), against="main")
    assert done.code == 64
    assert "is outside the git repository" in done.err


def test_an_invalid_revision_says_whose_the_errors_are(repository):
    repository.write("tasks/a.yaml", "name: a\nrunn: echo\nrun: echo\n")
    git(repository, "commit", "-q", "-am", "broken")
    repository.task("a", resources={"cpus": 2, "infra": "k8s"})
    done = diff(repository, against="HEAD")
    assert done.code == 1
    assert "HEAD" in done.err
    assert "runn" in done.err
