"""What a task asks for arrives on the real cluster: secrets, files, variables, nodes."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

# Every character that some shell, YAML, Slurm or a template could make something of.
ODD = 'it\'s "a" $HOME `id` \\ \\n %j #x = , ; {{ b }} ${c} ü\t!! *\n two lines \n'


def everywhere(project: Project) -> list[Path]:
    """All files of the project and of its set on the cluster."""
    roots = (project.folder, project.state)
    return [path for root in roots for path in root.rglob("*") if path.is_file()]


def holds(path: Path, value: str) -> bool:
    return value.encode() in path.read_bytes()


def command_lines() -> list[str]:
    """Of every process on this machine, on which the whole cluster runs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.append((folder / "cmdline").read_bytes().decode("utf-8", "replace"))
        except OSError:  # it has ended
            continue
    return found


def test_a_secret_reaches_the_task_and_nothing_else(project: Project) -> None:
    value = f"hf_{ODD}"
    seen = project.site.home("alice") / f"seen-{project.name}"
    run = f'printf "%s" "$HF_TOKEN" >{seen}; while [ ! -e {seen}.go ]; do sleep 0.1; done'
    project.task("train", run, secrets={"HF_TOKEN": None})
    secret = f"--secret=HF_TOKEN={value}"
    planned = project.triplane("plan", secret, "--out", "plan.json")
    assert planned.code == 0, planned.text
    applied = project.triplane("apply", "plan.json", secret, stack=False)
    assert applied.code == 0, applied.text

    file = project.state / "secrets/train.1.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert file.stat().st_uid == seen.parent.stat().st_uid
    project.site.wait_for(lambda: seen.exists() and seen.stat().st_size, 30, str(seen))
    identity = project.runs()["train", 1].identity
    assert file.exists()
    lines = command_lines()
    shown = project.sh("scontrol", "show", "job", "-d", str(identity), user="root")
    script = project.sh("scontrol", "write", "batch_script", str(identity), "-")
    for word in ("hf_it", "two lines"):
        assert not [line for line in lines if word in line]
        assert word not in shown
        assert word not in script
        assert word not in planned.text + applied.text

    project.sh("touch", f"{seen}.go")
    assert project.until("train").state is RunState.SUCCEEDED
    assert seen.read_bytes() == value.encode()
    assert not file.exists()
    assert [path for path in everywhere(project) if holds(path, "hf_it")] == []
    assert [path for path in everywhere(project) if holds(path, "two lines")] == []
    logs = project.triplane("logs", "train", "--no-follow")
    assert "two lines" not in logs.text
    assert "No changes (1 done)." in project.apply("--secret=HF_TOKEN=another value").out
    project.sh("rm", str(seen), f"{seen}.go")


def test_secrets_go_when_a_waiting_job_is_cancelled(project: Project) -> None:
    held = {"slurm": {"sbatch_options": {"hold": True}}}
    project.task("train", secrets={"HF_TOKEN": None}, config=held)
    project.apply("--secret=HF_TOKEN=abc")
    file = project.state / "secrets/train.1.env"
    assert file.read_text() == "export HF_TOKEN=abc\n"
    assert project.triplane("cancel", "train").code == 0
    assert not file.exists()


def test_a_secret_kept_on_the_cluster(project: Project) -> None:
    value = "from a file: $x 'y' \"z\""
    place = f".secret-{project.name}"
    project.site.write("alice", place, value + "\n")
    project.write_stack(secrets={"HF_TOKEN": {"alpha": {"file": f"~/{place}"}}})
    project.task("train", 'printf "%s" "$HF_TOKEN" | sha256sum', secrets={"HF_TOKEN": None})
    done = project.apply("--wait", "finished")
    assert f"must exist on alpha: secret HF_TOKEN (file ~/{place})" in done.out
    assert project.log("train").split()[0] == hashlib.sha256(value.encode()).hexdigest()
    project.sh("rm", place)


def test_a_task_without_run_keeps_its_node_until_it_is_cancelled(project: Project) -> None:
    project.task("node", run=None, setup="echo ready; hostname")
    project.apply("--wait", "running")
    project.site.wait_for(lambda: "ready\n" in _log(project), 30, "setup to be done")
    change = project.plan()["node"]
    assert (change.action, change.state) == (Action.NOOP, RunState.RUNNING)
    assert project.triplane("wait", "--for", "running").code == 0
    assert project.triplane("wait", "--timeout", 0).code == 101
    assert project.triplane("cancel", "node").code == 0
    assert project.triplane("wait").code == 103
    assert project.log("node") == "ready\nalpha-c1\n"


def _log(project: Project) -> str:
    path = project.run_folder("node") / "logs/0.log"
    return path.read_text() if path.exists() else ""


def test_files_and_odd_variables_arrive_on_both_ranks(project: Project) -> None:
    work = project.folder / "code"
    (work / "sub folder").mkdir(parents=True)
    (work / "sub folder/run me.sh").write_text("#!/bin/bash\necho ran $1\n")
    (work / "sub folder/run me.sh").chmod(0o755)
    (work / "link").symlink_to("sub folder/run me.sh")
    (work / ".gitignore").write_text("*.tmp\n")
    (work / "left.tmp").write_text("not brought along")
    (work / "binary").write_bytes(bytes(range(256)))
    (project.folder / "data.txt").write_text("data\n")
    (project.folder / "folder").mkdir()
    (project.folder / "folder/inner.txt").write_text("inner\n")
    envs = {
        "COMMA": "a,b=c",
        "NEWLINE": "one\ntwo\n",
        "DOLLAR": "$HOME ${HOME} $(id) `id`",
        "QUOTES": "'single' \"double\" \\ back",
        "HASH": "# not a comment",
        "EMPTY": "",
        "ODD": ODD.replace("${c}", "$ {c}"),
    }
    project.task(
        "files",
        "./link there; ls -A; cat ~/data/data.txt ~/folder/inner.txt\n"
        "sha256sum <binary; pwd\n"
        "for name in COMMA NEWLINE DOLLAR QUOTES HASH EMPTY ODD; do\n"
        '  printf "%s" "${!name}" >"$OUT/$name.$SKYPILOT_NODE_RANK"\n'
        "done\n",
        num_nodes=2,
        resources={"infra": "slurm/alpha/gpu", "accelerators": "H100:2", "cpus": 1, "memory": 1},
        workdir="code",
        file_mounts={"~/data/data.txt": "data.txt", "~/folder": "folder"},
        envs={**envs, "OUT": str(project.site.home("alice") / f"out-{project.name}")},
    )
    out = project.site.home("alice") / f"out-{project.name}"
    project.sh("mkdir", str(out))
    done = project.apply("--wait", "finished")
    assert "create run 1" in done.out
    for rank in (0, 1):
        assert project.log("files", rank).splitlines() == [
            "ran there",
            ".gitignore",
            "binary",
            "link",
            "sub folder",
            "data",
            "inner",
            f"{hashlib.sha256(bytes(range(256))).hexdigest()}  -",
            str(project.state / "work/files.1/home/sky_workdir"),
        ]
        for name, value in envs.items():
            assert (out / f"{name}.{rank}").read_text() == value, name
    project.sh("rm", "-r", str(out))

    # A new file alone starts nothing; with on_files_change it does.
    (work / "new.py").write_text("new")
    assert "its files changed; that alone starts nothing" in project.apply().out
    project.write_stack(on_files_change="run")
    change = project.plan()["files"]
    assert (change.action, change.run) == (Action.CREATE, 2)
    assert change.reason == "its files changed (on_files_change: run); run 1 succeeded"
