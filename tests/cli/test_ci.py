"""The CI kit: what its jobs do in a checkout that may be a stranger's, and what forges are told."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.command_line import TOP

# `python -I -m compiler.cli.ci` of an installation, which the checkout need not be here.
START = f"import sys; sys.path.insert(0, {str(TOP)!r}); from compiler.cli.ci.__main__ import main"
JOB = (sys.executable, "-I", "-c", f"{START}; sys.exit(main())")


class Repository:
    """A checkout of a change, with the commit that it is based on."""

    def __init__(self, project) -> None:
        self.project = project
        self.folder = project.folder / "repo"
        project.stack(
            "alpha",
            "eks",
            name="repo/stacks/prod.yaml",
            root="..",
            out="../rendered",
            set={"name": "demo", "inputs": ["../tasks/"]},
            policy={"max_accelerators": 8},
        )
        project.task("train", folder="repo/tasks")
        self.git("init", "--quiet", "--initial-branch=main")
        self.base = self.commit("base")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    def job(self, *words: str, env: dict[str, str] | None = None):
        return subprocess.run(
            [*JOB, *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env={**_plain_environ(), **(env or {})},
            timeout=120,
        )

    def comment(self) -> str:
        return (self.folder / "triplane-comment.md").read_text()

    def plan(self):
        return json.loads((self.folder / "triplane-plan.json").read_text())


def _plain_environ() -> dict[str, str]:
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GITHUB_", "CI_", "TRIPLANE_", "PYTHON"))
    }


@pytest.fixture
def repository(project) -> Repository:
    return Repository(project)


PLAN = ("plan", "--stack", "stacks/prod.yaml")
APPLY = ("apply", "--stack", "stacks/prod.yaml")


def test_a_plan_is_saved_commented_and_applied_after_the_merge(repository):
    repository.project.task("new", folder="repo/tasks")
    repository.commit("add a task")
    done = repository.job(*PLAN, "--base", repository.base)
    assert done.returncode == 0, done.stderr
    assert repository.comment().startswith("### triplane: Plan: ")
    assert "new on alpha: create run 1" in repository.comment()
    assert repository.plan()["applyable"] is True
    merged = repository.job(*APPLY)
    assert merged.returncode == 0, merged.stderr
    assert "### triplane: applied" in repository.comment()
    assert "slurm/alpha/new run 1: created" in repository.comment()
    again = repository.job(*APPLY)
    assert again.returncode == 0, again.stderr


def test_a_saved_plan_that_no_longer_matches_is_4_and_said(repository):
    repository.job(*PLAN)
    repository.project.task("train", folder="repo/tasks", num_nodes=2)
    done = repository.job(*APPLY)
    assert done.returncode == 4
    assert "the saved plan no longer matches: plan again" in repository.comment()
    assert "tasks/train.yaml changed" in repository.comment()
    assert not (repository.folder / "rendered").exists()


def test_errors_of_a_plan_are_the_comment(repository):
    repository.project.write("repo/tasks/train.yaml", "run: x\nrnu: x\n")
    done = repository.job(*PLAN)
    assert done.returncode == 1
    assert "### triplane: plan failed" in repository.comment()
    assert "did you mean `run`?" in repository.comment()


def test_the_outputs_of_a_github_job(repository, tmp_path):
    files = {"GITHUB_OUTPUT": tmp_path / "o", "GITHUB_STEP_SUMMARY": tmp_path / "s"}
    env = {name: str(path) for name, path in files.items()}
    assert repository.job(*PLAN, env=env).returncode == 0
    assert files["GITHUB_OUTPUT"].read_text() == "changes=true\nexit-code=2\n"
    assert files["GITHUB_STEP_SUMMARY"].read_text() == repository.comment()


# What a pull request of a stranger could try.


def test_the_policy_is_that_of_the_base(repository):
    stack = repository.folder / "stacks/prod.yaml"
    stack.write_text(stack.read_text().replace("max_accelerators: 8", "max_accelerators: 999"))
    repository.project.task("big", folder="repo/tasks", resources={"accelerators": "H100:64"})
    repository.commit("raise the limit")
    done = repository.job(*PLAN, "--base", repository.base, "--read-only")
    assert done.returncode == 1
    assert "policy-accelerators" in repository.comment()
    assert "max_accelerators: 8" in stack.read_text()


def test_a_link_in_place_of_the_stack_s_folder_leads_nowhere(repository):
    outside = repository.project.folder / "outside"
    outside.mkdir()
    (outside / "prod.yaml").write_text("mine: true\n")
    repository.git("rm", "--quiet", "-r", "stacks")
    (repository.folder / "stacks").symlink_to("../outside")
    repository.commit("replace the folder by a link")
    done = repository.job(*PLAN, "--base", repository.base, "--read-only")
    assert (outside / "prod.yaml").read_text() == "mine: true\n"
    assert done.returncode in (0, 1), done.stderr
    if done.returncode == 0:
        assert not (repository.folder / "stacks").is_symlink()


def test_a_new_stack_decides_nothing_yet(repository):
    (repository.folder / "stacks/mine.yaml").write_text("set: {name: demo}\n")
    done = repository.job("plan", "--stack", "stacks/mine.yaml", "--base", repository.base)
    assert done.returncode == 1
    assert "is not in" in done.stderr


def test_nothing_is_imported_from_the_checkout(repository):
    trap = "open('taken', 'w').write('x')\nraise SystemExit(0)\n"
    for name in ("yaml.py", "click.py", "jinja2.py", "sitecustomize.py", "compiler/__init__.py"):
        place = repository.folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(trap)
    done = repository.job(
        *PLAN, "--base", repository.base, "--read-only", env={"PYTHONPATH": str(repository.folder)}
    )
    assert done.returncode == 0, done.stderr
    assert not (repository.folder / "taken").exists()
    assert "train on alpha" in repository.comment()


def test_a_read_only_plan_is_never_the_one_that_is_applied(repository):
    repository.job(*PLAN, "--base", repository.base, "--read-only")
    assert repository.plan()["applyable"] is False
    done = repository.job(*APPLY)  # so it plans anew
    assert done.returncode == 0, done.stderr
    assert (repository.folder / "rendered/slurm/alpha/demo-train-1/job.sbatch").is_file()


# What forges are told.


class FakeForge(BaseHTTPRequestHandler):
    """Enough of both APIs: comments that are listed, made and changed; pulls and artifacts."""

    comments: list[dict]
    asked: list[tuple[str, str, str]]
    answers: dict[str, object]

    def do_GET(self):
        self._note("")
        path = self.path.partition("?")[0]
        if path in self.answers:
            return self._answer(200, self.answers[path])
        page = int((re.search(r"[?&]page=(\d+)", self.path) or ["", "1"])[1])
        return self._answer(200, self.comments[(page - 1) * 100 : page * 100])

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(body["body"])
        self.comments.append({"id": len(self.comments) + 1, **body})
        self._answer(201, self.comments[-1])

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(body["body"])
        number = int(self.path.rpartition("/")[2])
        self.comments[number - 1].update(body)
        self._answer(200, self.comments[number - 1])

    do_PUT = do_PATCH

    def _note(self, text):
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
        self.asked.append((self.command, self.path, token))

    def _answer(self, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        """Nobody reads it."""


@pytest.fixture
def forge():
    handler = type("Handler", (FakeForge,), {"comments": [], "asked": [], "answers": {}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    handler.address = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    server.server_close()


def github(forge, **more):
    return {
        "GITHUB_API_URL": forge.address,
        "GITHUB_REPOSITORY": "lab/jobs",
        "TRIPLANE_REQUEST": "7",
        "TRIPLANE_TOKEN": "t0ken",
        **more,
    }


def gitlab(forge):
    return {
        "CI_API_V4_URL": forge.address,
        "CI_PROJECT_ID": "lab/jobs",
        "CI_MERGE_REQUEST_IID": "7",
        "TRIPLANE_TOKEN": "t0ken",
    }


@pytest.mark.parametrize(
    ("name", "environ", "first", "second"),
    [
        (
            "github",
            github,
            ("POST", "/repos/lab/jobs/issues/7/comments"),
            ("PATCH", "/repos/lab/jobs/issues/comments/102"),
        ),
        (
            "gitlab",
            gitlab,
            ("POST", "/projects/lab%2Fjobs/merge_requests/7/notes"),
            ("PUT", "/projects/lab%2Fjobs/merge_requests/7/notes/102"),
        ),
    ],
)
def test_one_comment_a_stack_that_updates_itself(repository, forge, name, environ, first, second):
    # The own one stands on the second page, and somebody quotes it.
    forge.comments += [{"id": at + 1, "body": f"> <!-- triplane x -->{at}"} for at in range(101)]
    words = (*PLAN, "--comment", name)
    assert repository.job(*words, env=environ(forge)).returncode == 0
    assert forge.asked[-1][:2] == first
    assert "t0ken" in forge.asked[-1][2]
    assert len(forge.comments) == 102
    assert forge.comments[-1]["body"].startswith("<!-- triplane stacks/prod.yaml -->\n### triplane")
    repository.project.task("more", folder="repo/tasks")
    done = repository.job(*words, env=environ(forge))
    assert forge.asked[-1][:2] == second
    assert len(forge.comments) == 102
    assert "more on alpha" in forge.comments[-1]["body"]
    assert "comment updated" in done.stderr
    assert "t0ken" not in done.stderr + done.stdout


def test_a_token_that_may_not_comment_fails_no_plan(repository, forge):
    env = github(forge, GITHUB_API_URL="http://127.0.0.1:9")
    done = repository.job(*PLAN, "--comment", "github", env=env)
    assert done.returncode == 0
    assert "warning: no comment" in done.stderr


def archive_of(content: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("../../anything.json", content)
    return data.getvalue()


def merged(forge, repository, **run):
    """The forge's answers for a merge of a request whose head was abc."""
    content = (repository.folder / "triplane-plan.json").read_bytes()
    at = "/repos/lab/jobs"
    forge.answers.update(
        {
            f"{at}/commits/feed/pulls": [{"head": {"sha": "abc"}}],
            f"{at}/actions/artifacts": {
                "artifacts": [
                    {
                        "created_at": "2026-01-01T00:00:00Z",
                        "expired": False,
                        "archive_download_url": f"{forge.address}/zip",
                        "workflow_run": {
                            "head_sha": "abc",
                            "repository_id": 1,
                            "head_repository_id": 1,
                            **run,
                        },
                    }
                ]
            },
            "/zip": archive_of(content),
        }
    )
    (repository.folder / "triplane-plan.json").unlink()


def test_the_reviewed_plan_is_fetched_and_applied(repository, forge):
    repository.job(*PLAN)
    identity = repository.plan()["id"]
    merged(forge, repository)
    done = repository.job(*APPLY, "--fetch-plan", env=github(forge, GITHUB_SHA="feed"))
    assert done.returncode == 0, done.stderr
    record = json.loads(
        (repository.folder / "rendered/.triplane/demo/alpha/train.1.json").read_text()
    )
    assert record["plan"] == identity
    assert not (repository.folder.parent.parent / "anything.json").exists()


@pytest.mark.parametrize(
    "run",
    [{"head_repository_id": 2}, {"head_sha": "def"}, {"repository_id": None}],
    ids=["of a fork", "of another commit", "of nobody"],
)
def test_a_plan_of_a_fork_is_not_applied(repository, forge, run):
    repository.job(*PLAN, "--", "--env", "PLANTED=1")
    merged(forge, repository, **run)
    done = repository.job(*APPLY, "--fetch-plan", env=github(forge, GITHUB_SHA="feed"))
    assert done.returncode == 0, done.stderr
    assert "planning anew: no run of this repository's own branches" in done.stderr
    script = repository.folder / "rendered/slurm/alpha/demo-train-1/job.sbatch"
    assert "PLANTED" not in script.read_text()


# The files that forges and pre-commit read.


def action():
    return yaml.safe_load((TOP / "action.yml").read_text())


def test_no_input_of_the_action_becomes_part_of_a_script():
    body = action()
    scripts = [step["run"] for step in body["runs"]["steps"] if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)
    used = yaml.safe_dump(body["runs"]) + yaml.safe_dump(body["outputs"])
    for name in body["inputs"]:
        assert f"inputs.{name}" in used, name
    assert all(item["description"] for item in body["inputs"].values())


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"INPUT_COMMAND": "plan"}, ["--base", "BASE", "--from-base", "policy.txt"]),
        (
            {"INPUT_COMMAND": "plan", "IS_FORK": "true"},
            ["--base", "BASE", "--from-base", "policy.txt", "--read-only"],
        ),
        (
            {"INPUT_COMMAND": "plan", "INPUT_READ_ONLY": "true", "INPUT_COMMENT": "true"},
            ["--base", "BASE", "--from-base", "policy.txt", "--read-only", "--comment", "github"],
        ),
        ({"INPUT_COMMAND": "apply", "BASE_SHA": "", "INPUT_FETCH_PLAN": "true"}, ["--fetch-plan"]),
        ({"INPUT_COMMAND": "apply", "BASE_SHA": ""}, []),
    ],
)
def test_the_script_of_the_action(repository, tmp_path, inputs, expected):
    """Its environment to the words of the job, with an interpreter that only notes them."""
    noted = tmp_path / "noted"
    python = tmp_path / "triplane/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{noted}\n')
    python.chmod(0o755)
    environ = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(tmp_path),
        "ACTION_PATH": str(TOP),
        "INPUT_STACK": "stacks/a $(b).yaml",
        "INPUT_READ_ONLY": "auto",
        "IS_FORK": "false",
        "INPUT_FROM_BASE": "policy.txt",
        "INPUT_REQUIREMENTS": "",
        "INPUT_PLAN_FILE": "p.json",
        "INPUT_FETCH_PLAN": "false",
        "INPUT_COMMENT": "false",
        "TRIPLANE_REQUEST": "7",
        "BASE_SHA": repository.base,
        **inputs,
    }
    done = subprocess.run(
        ["bash", TOP / "tools/ci/github.sh"],
        cwd=repository.folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    words = noted.read_text().splitlines()
    start = [
        "-I",
        "-m",
        "compiler.cli.ci",
        inputs["INPUT_COMMAND"],
        "--stack",
        "stacks/a $(b).yaml",
        "--plan-file",
        "p.json",
    ]
    assert words == [*start, *(item.replace("BASE", repository.base) for item in expected)]


def test_plugins_are_those_of_the_base(repository, tmp_path):
    (repository.folder / "plugins.txt").write_text("good==1\n")
    base = repository.commit("plug-ins")
    (repository.folder / "plugins.txt").write_text("evil==1\n")
    repository.commit("other plug-ins")
    seen = tmp_path / "seen"
    python = tmp_path / "triplane/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/bin/sh\nfor word; do case $word in *requirements.txt) "
        f'cat "$word" >>{seen} ;; esac; done\n'
    )
    python.chmod(0o755)
    environ = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(tmp_path),
        "ACTION_PATH": str(TOP),
        "INPUT_COMMAND": "plan",
        "INPUT_STACK": "stacks/prod.yaml",
        "INPUT_READ_ONLY": "auto",
        "IS_FORK": "true",
        "INPUT_FROM_BASE": "",
        "INPUT_REQUIREMENTS": "plugins.txt",
        "INPUT_PLAN_FILE": "p.json",
        "INPUT_FETCH_PLAN": "false",
        "INPUT_COMMENT": "false",
        "BASE_SHA": base,
    }
    subprocess.run(
        ["bash", TOP / "tools/ci/github.sh"], cwd=repository.folder, env=environ, check=True
    )
    assert seen.read_text() == "good==1\n"


def test_the_scripts_of_the_kit_are_sound():
    shellcheck = subprocess.run(
        ["shellcheck", TOP / "tools/ci/github.sh"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    assert shellcheck.returncode == 0, shellcheck.stdout
    jobs = yaml.safe_load((TOP / "tools/ci/gitlab.yml").read_text())
    for name in ("triplane:plan", "triplane:apply"):
        job = {**jobs[jobs[name]["extends"]], **jobs[name]}
        for line in (*job["before_script"], *job["script"]):
            done = subprocess.run(
                ["bash", "-n"], input=line, text=True, capture_output=True, check=False
            )
            assert done.returncode == 0, (line, done.stderr)


def test_the_gitlab_plan_job_as_far_as_it_goes_without_gitlab(repository, forge, tmp_path):
    """Its own lines, with the virtual environment in place and the remote being the checkout."""
    job = yaml.safe_load((TOP / "tools/ci/gitlab.yml").read_text())["triplane:plan"]
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nshift 3\nexec {shlex.join(JOB)} "$@"\n')
    python.chmod(0o755)
    repository.git("remote", "add", "origin", str(repository.folder))
    script = "set -eu\n" + "\n".join(job["script"]).replace("/tmp/triplane", str(tmp_path))
    environ = {
        **_plain_environ(),
        **gitlab(forge),
        "TRIPLANE_STACK": "stacks/prod.yaml",
        "TRIPLANE_READ_ONLY": "true",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
    }
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=repository.folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "train on alpha" in forge.comments[-1]["body"]
    assert repository.plan()["applyable"] is False


def test_the_pre_commit_hook(repository):
    (hook,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
    assert re.search(hook["files"], "tasks/train.yaml")
    assert re.search(hook["files"], "stacks/prod.yaml")
    assert not re.search(hook["files"], ".github/workflows/ci.yaml")
    program, *words = hook["entry"].split()
    assert program == "triplane"
    done = repository.project.run(*words, "repo/tasks/train.yaml", "repo/stacks/prod.yaml")
    assert done.code == 0, done.text
    repository.project.write("repo/tasks/train.yaml", "run: x\nrnu: x\n")
    assert repository.project.run(*words, "repo/tasks/train.yaml").code == 1
