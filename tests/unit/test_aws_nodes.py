"""The scripts of a node, really run: several ranks, their bucket and their end."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

import pytest

from compiler.model import FileMount, GitWorkdir, Image, Secret, Storage
from compiler.rendering.filetree import FileTree
from tests.aws.builders import ORIGIN, job, owner, resources
from tests.aws.nodes import Cluster, Node

OWNER = owner()


def parameter_file(name: str) -> str:
    """Where the stand-in has the value of a secret."""
    return OWNER.parameter(name).replace("/", "_")


def outcome(cluster: Cluster) -> dict:
    return json.loads(cluster.state("outcome.json"))


def test_two_ranks_meet_set_up_and_run_together(tmp_path):
    cluster = Cluster(
        tmp_path,
        job(
            num_nodes=2,
            setup='[ "$SKYPILOT_SETUP_NODE_RANK" = 0 ] || /bin/sleep 1\ndate +%s%N >~/set-up\n',
            script="date +%s%N >~/ran\n"
            'printf "%s %s\\n%s\\n" "$SKYPILOT_NODE_RANK" "$SKYPILOT_NUM_NODES" '
            '"$SKYPILOT_NODE_IPS" >~/seen\necho "hello from $SKYPILOT_NODE_RANK in $PWD"\n',
        ),
    )
    assert cluster.run() == [0, 0]
    for node in cluster.nodes:
        seen = (node.home / "seen").read_text()
        assert seen == f"{node.rank} 2\n10.0.0.10\n10.0.0.11\n"
        assert node.was_shut_down
        assert cluster.state(f"{node.rank}.end") == "0 run"
        log = (cluster.run_folder / f"logs/{node.rank}.log").read_text()
        assert f"hello from {node.rank} in {node.home}/sky_workdir\n" in log
    last_set_up = max(int((node.home / "set-up").read_text()) for node in cluster.nodes)
    first_ran = min(int((node.home / "ran").read_text()) for node in cluster.nodes)
    assert last_set_up < first_ran
    assert outcome(cluster) == {
        "outcome": "succeeded",
        "exit_code": 0,
        "rank": 0,
        "phase": "run",
    }


def test_the_first_failure_ends_the_other_ranks(tmp_path):
    script = (
        '[ "$SKYPILOT_NODE_RANK" = 0 ] || exit 7\ntouch ~/started\n/bin/sleep 600\ntouch ~/late\n'
    )
    cluster = Cluster(tmp_path, job(num_nodes=2, script=script))
    started = time.monotonic()
    assert cluster.run() == [137, 7]
    assert time.monotonic() - started < 30
    assert cluster.state("0.end") == "137 peer"
    assert cluster.state("1.end") == "7 run"
    assert outcome(cluster) == {"outcome": "failed", "exit_code": 7, "rank": 1, "phase": "run"}
    assert not (cluster.nodes[0].home / "late").exists()
    assert all(node.was_shut_down for node in cluster.nodes)


def test_a_rank_that_ignores_the_request_to_stop_is_killed(tmp_path):
    script = (
        '[ "$SKYPILOT_NODE_RANK" = 0 ] || exit 7\n'
        "trap '' TERM\necho $$ >~/process\nwhile :; do /bin/sleep 1; done\n"
    )
    cluster = Cluster(tmp_path, job(num_nodes=2, script=script))
    assert cluster.run() == [137, 7]
    process = Path("/proc", (cluster.nodes[0].home / "process").read_text().strip())
    deadline = time.monotonic() + 10
    while process.exists() and time.monotonic() < deadline:  # until init has reaped it
        time.sleep(0.1)
    assert not process.exists()
    assert outcome(cluster)["rank"] == 1


def test_a_failed_setup_starts_run_nowhere(tmp_path):
    cluster = Cluster(
        tmp_path,
        job(
            num_nodes=2,
            setup='[ "$SKYPILOT_SETUP_NODE_RANK" = 0 ] && exit 3\ntrue\n',
            script="touch ~/ran\n",
        ),
    )
    assert cluster.run() == [3, 137]
    assert not any((node.home / "ran").exists() for node in cluster.nodes)
    assert outcome(cluster) == {"outcome": "failed", "exit_code": 3, "rank": 0, "phase": "setup"}


def test_a_rank_that_is_not_heard_of_ends_the_run(tmp_path):
    cluster = Cluster(tmp_path, job(num_nodes=2, script="/bin/sleep 600\n"))
    state = cluster.run_folder / "state"
    state.mkdir(parents=True)
    (state / "1.address").write_text("10.0.0.11\n")
    (state / "1.ready").write_text("1\n")
    (state / "1.alive").write_text(f"{int(time.time()) - 3600}\n")
    cluster.start(cluster.nodes[0])
    assert cluster.wait() == [137]
    assert "rank 1 was not heard of" in cluster.nodes[0].log()
    assert outcome(cluster) == {"outcome": "failed", "exit_code": 1, "rank": 1, "phase": "lost"}
    assert cluster.nodes[0].was_shut_down


def test_secrets_reach_the_task_and_no_file(tmp_path):
    values = {"HF_TOKEN": "CANARY 'a'\n\"b\" $c\n\n", "LOG": "CANARY-log", "STATE": "CANARY-s"}
    cluster = Cluster(
        tmp_path,
        job(
            secrets={name: Secret(name, value) for name, value in values.items()},
            envs={"HF_TOKEN": "from envs"},
            script='printf "%s|%s|%s" "$HF_TOKEN" "$LOG" "$STATE" | sha256sum >~/seen\n',
        ),
    )
    for name, value in values.items():
        (cluster.bucket / "secrets" / parameter_file(name)).write_text(value)
    assert cluster.run() == [0]
    expected = subprocess.run(
        ["sha256sum"], input="|".join(values.values()), capture_output=True, text=True, check=True
    ).stdout
    assert (cluster.nodes[0].home / "seen").read_text() == expected
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.parent.name != "secrets":
            assert b"CANARY" not in path.read_bytes(), path


def test_a_secret_with_a_path_is_a_file_and_no_variable(tmp_path):
    cluster = Cluster(
        tmp_path,
        job(
            secrets={"TLS": Secret("TLS", mount_path="~/.tls/key", managed=True)},
            script='stat -c %a ~/.tls/key >~/mode\necho "${TLS-none}" >~/seen\n',
        ),
    )
    (cluster.bucket / "secrets" / parameter_file("TLS")).write_text("a\nb\n")
    assert cluster.run() == [0]
    home = cluster.nodes[0].home
    assert (home / ".tls/key").read_text() == "a\nb\n"
    assert (home / "mode").read_text() == "600\n"
    assert (home / "seen").read_text() == "none\n"


def test_a_secret_that_cannot_be_read_fails_the_run(tmp_path):
    cluster = Cluster(tmp_path, job(secrets={"HF_TOKEN": Secret("HF_TOKEN")}))
    assert cluster.run() == [1]
    assert f"cannot read the secret ssm:{OWNER.parameter('HF_TOKEN')}" in cluster.nodes[0].log()
    assert outcome(cluster)["phase"] == "prepare"
    assert cluster.nodes[0].was_shut_down


def pack(cluster: Cluster, folder: Path, digest: str) -> None:
    with tarfile.open(cluster.files / f"{digest}.tar.gz", "w:gz") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name)


def trees(folder: Path) -> tuple[FileTree, ...]:
    """A work folder with a hidden and an executable file, and a single file."""
    (folder / "work/.cfg").mkdir(parents=True)
    (folder / "work/.cfg/a").write_text("hidden")
    (folder / "work/train.sh").write_text("echo trained\n")
    (folder / "work/train.sh").chmod(0o755)
    (folder / "single").mkdir()
    (folder / "single/list.txt").write_text("one")
    return (
        FileTree("~/sky_workdir", "a" * 64, local=str(folder / "work"), files={"train.sh": "x"}),
        FileTree("data/my list.txt", "b" * 64, local=str(folder / "single"), files={"": "x"}),
    )


def test_files_are_unpacked_before_setup(tmp_path):
    work, single = trees(tmp_path / "source")
    cluster = Cluster(
        tmp_path,
        job(
            trees=(work, single),
            setup='cat .cfg/a "data/my list.txt" >~/seen\n',
            script="./train.sh >~/trained\n",
        ),
    )
    pack(cluster, Path(work.local), work.digest)
    pack(cluster, Path(single.local), single.digest)
    assert cluster.run() == [0]
    assert (cluster.nodes[0].home / "seen").read_text() == "hiddenone"
    assert (cluster.nodes[0].home / "trained").read_text() == "trained\n"


def test_a_container_gets_files_devices_and_names_of_secrets(tmp_path):
    work, single = trees(tmp_path / "source")
    cluster = Cluster(
        tmp_path,
        job(
            resources("H100:8", image=Image(docker="nvcr.io/team/torch:2"), network_tier="best"),
            trees=(work, single),
            secrets={"HF_TOKEN": Secret("HF_TOKEN")},
            script='printf %s "$HF_TOKEN" >"$HOME/seen"\n',
            config={"docker": {"run_options": "--shm-size 8g"}},
        ),
    )
    (cluster.bucket / "secrets" / parameter_file("HF_TOKEN")).write_text("CANARY")
    pack(cluster, Path(work.local), work.digest)
    pack(cluster, Path(single.local), single.digest)
    cluster.run()
    calls = (cluster.nodes[0].folder / "docker.calls").read_text().splitlines()
    assert calls[0] == "docker pull --quiet nvcr.io/team/torch:2"
    root = f"{cluster.nodes[0].folder}/triplane"
    words = calls[1].split()
    assert words[:4] == ["docker", "run", "--rm", "--name"]
    assert words[-3:] == ["nvcr.io/team/torch:2", f"{root}/scripts/launcher.sh", "all"]
    for option in (
        "--network host",
        "--gpus all",
        "--cap-add IPC_LOCK --device /dev/infiniband --env FI_PROVIDER",
        "--env HF_TOKEN",
        "--shm-size 8g",
        f"--volume {root}/scripts:{root}/scripts:ro",
        f"--volume {root}/trees/0:/root/sky_workdir",
        ":/root/sky_workdir/data/my list.txt",
    ):
        assert f"{option} " in calls[1]
    assert "CANARY" not in calls[1]


def test_a_stopped_instance_ends_its_rank(tmp_path):
    cluster = Cluster(tmp_path, job(script="touch ~/started\n/bin/sleep 600\n"))
    (node,) = cluster.nodes
    cluster.start(node)
    deadline = time.monotonic() + 20
    while not (node.home / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    node.process.terminate()
    assert cluster.wait() == [143]
    assert cluster.state("0.end") == "143 stopped"
    assert outcome(cluster)["outcome"] == "failed"


def boot(cluster: Cluster, **changes: str) -> subprocess.CompletedProcess:
    node = cluster.nodes[0]
    published = cluster.run_folder / "scripts"
    published.mkdir(parents=True)
    for name, text in {**cluster._scripts, **changes}.items():
        (published / name).write_bytes(text.encode())
    script = node.folder / "user_data.sh"
    script.write_text(cluster.user_data.replace("/opt/triplane/scripts", f"{node.folder}/fetched"))
    path = f"{node.folder}/bin:/usr/bin:/bin"
    return subprocess.run(
        ["bash", str(script)], env={"PATH": path}, capture_output=True, text=True, check=False
    )


def test_booting_fetches_the_scripts_and_starts_the_supervisor(tmp_path):
    cluster = Cluster(tmp_path, job(setup="printf 'no line break at the end'"))
    done = boot(cluster)
    assert done.returncode == 0, done.stderr
    node = cluster.nodes[0]
    started = (node.folder / "systemd-run").read_text().splitlines()
    assert started[:2] == ["--unit", "triplane"]
    assert started[-2:] == ["/bin/bash", f"{node.folder}/fetched/supervisor.sh"]
    fetched = {path.name for path in (node.folder / "fetched").iterdir()}
    assert fetched == {*cluster._scripts, "SHA256SUMS"}
    assert not node.was_shut_down


@pytest.mark.parametrize("script", ["echo run\n", None])
def test_scripts_that_are_not_the_rendered_ones_are_not_started(tmp_path, script):
    cluster = Cluster(tmp_path, job(script=script))
    done = boot(cluster, **{"launcher.sh": "echo other\n"})
    node = cluster.nodes[0]
    assert not (node.folder / "systemd-run").exists()
    assert node.was_shut_down == (script is not None)
    assert (done.returncode == 0) == (script is not None)
    assert "could not be started" in done.stderr


def storage(destination: str, mode: str, bucket: str, **config: object) -> Storage:
    source = f"s3://{bucket}"
    return Storage(destination, None, source, None, mode, True, None, config, ORIGIN)


def move_mounts(node: Node, **places: str) -> None:
    """Lets the node mount below its own folder; `places` are further texts to replace."""
    moved = {
        "'/shared'": f"'{node.folder}/mounted/shared'",
        "'/out'": f"'{node.folder}/mounted/out'",
        "/run/triplane-": f"{node.folder}/triplane-",
        "/var/cache/triplane": f"{node.folder}/cache",
        **places,
    }
    for path in (node.folder / "triplane/scripts").iterdir():
        text = path.read_text()
        for old, new in moved.items():
            text = text.replace(old, new)
        path.write_text(text)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("unmounted", "rclone does not answer"),
        ("denied", "1 files were not uploaded"),
    ],
)
def test_a_run_whose_writes_did_not_reach_their_bucket_has_failed(tmp_path, fault, said):
    mounts = (storage("/out", "MOUNT_CACHED", "team"),)
    cluster = Cluster(tmp_path, job(storage=mounts, script="true\n"))
    (node,) = cluster.nodes
    (node.folder / fault).touch()
    move_mounts(node, **{"STUCK_SECONDS=7200": "STUCK_SECONDS=1"})
    assert cluster.run() == [1]
    assert f"a cached bucket is lost: {said}" in node.log()
    assert outcome(cluster) == {"outcome": "failed", "exit_code": 1, "rank": 0, "phase": "flush"}


def test_buckets_are_copied_mounted_and_flushed_before_the_rank_ends(tmp_path):
    cluster = Cluster(
        tmp_path,
        job(
            file_mounts=(FileMount("~/vocab.json", "s3://public/v/vocab.json", ORIGIN),),
            storage=(
                storage("~/tokens", "COPY", "public/tokens"),
                storage("/shared", "MOUNT", "team", mount={"read_only": True}),
                storage("/out", "MOUNT_CACHED", "team", mount_cached={"transfers": 3}),
            ),
            setup="cat ~/vocab.json ~/tokens/a ~/tokens/deep/b >~/seen\n",
            script="exit 3\n",
        ),
    )
    for name in ("v/vocab.json", "tokens/a", "tokens/deep/b"):
        path = cluster.bucket / "public" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    (node,) = cluster.nodes
    (node.folder / "uploading").touch()
    moved = f"{node.folder}/mounted"
    move_mounts(node)
    assert cluster.run() == [3]
    assert (node.home / "seen").read_text() == "vocab.jsonab"
    mounts = (node.folder / "mounts").read_text().splitlines()
    assert mounts[0].startswith("mount-s3 --allow-other --uid ")
    assert mounts[0].endswith(f" --read-only team {moved}/shared")
    assert mounts[1].startswith("rclone mount --daemon --allow-other ")
    assert (
        f"--transfers 3 :s3,provider=AWS,env_auth=true,region=eu-west-1:team {moved}/out"
        in mounts[1]
    )
    assert mounts[2:] == ["flushed"]
    assert outcome(cluster)["exit_code"] == 3


def test_a_git_workdir_is_cloned_at_its_ref_with_a_token_that_no_argument_has(tmp_path):
    source = tmp_path / "source"
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b"]
    source.mkdir()
    subprocess.run([*git, "init", "--quiet"], check=True)
    (source / "file").write_text("tagged")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "one"], check=True)
    subprocess.run([*git, "tag", "v1"], check=True)
    (source / "file").write_text("later")
    subprocess.run([*git, "commit", "--quiet", "-a", "-m", "two"], check=True)
    cluster = Cluster(
        tmp_path,
        job(
            workdir=GitWorkdir(f"file://{source}", "v1", ORIGIN),
            secrets={"GIT_TOKEN": Secret("GIT_TOKEN", "CANARY-git")},
            script='cat file >~/seen\necho "$GIT_URL $GIT_COMMIT_HASH" >~/env\n',
        ),
    )
    (cluster.bucket / "secrets" / parameter_file("GIT_TOKEN")).write_text("CANARY-git")
    (node,) = cluster.nodes
    real = shutil.which("git")
    wrapper = node.folder / "bin/git"
    wrapper.write_text(
        f'#!/bin/bash\necho "$*" >>{node.folder}/git.calls\n'
        f'[ -z "$GIT_TOKEN" ] || echo has-token >>{node.folder}/git.calls\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    assert cluster.run() == [0], node.log()
    assert (node.home / "seen").read_text() == "tagged"
    done = subprocess.run([*git, "rev-parse", "v1"], capture_output=True, text=True, check=True)
    assert (node.home / "env").read_text() == f"file://{source} {done.stdout}"
    calls = (node.folder / "git.calls").read_text()
    assert "has-token" in calls
    assert "CANARY" not in calls


def test_what_a_task_brings_along_is_laid_over_a_cloned_workdir(tmp_path):
    source = tmp_path / "repository"
    source.mkdir()
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (source / "cloned").write_text("cloned ")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "one"], check=True)
    _, single = trees(tmp_path / "source")
    cluster = Cluster(
        tmp_path,
        job(
            workdir=GitWorkdir(f"file://{source}", None, ORIGIN),
            trees=(single,),
            secrets={"TLS": Secret("TLS", mount_path="~/sky_workdir/tls.key", managed=True)},
            script='cat cloned "data/my list.txt" tls.key >~/seen\n',
        ),
    )
    pack(cluster, Path(single.local), single.digest)
    (cluster.bucket / "secrets" / parameter_file("TLS")).write_text(" key")
    (node,) = cluster.nodes
    assert cluster.run() == [0], node.log()
    assert (node.home / "seen").read_text() == "cloned one key"


def test_a_command_enters_the_environment_and_folder_of_run(tmp_path):
    cluster = Cluster(
        tmp_path,
        job(
            secrets={"HF_TOKEN": Secret("HF_TOKEN", "CANARY")},
            envs={"MODE": "fast"},
            script="touch ~/started\n/bin/sleep 600\n",
        ),
    )
    (cluster.bucket / "secrets" / parameter_file("HF_TOKEN")).write_text("CANARY")
    (node,) = cluster.nodes
    cluster.start(node)
    deadline = time.monotonic() + 60
    while not (node.home / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    words = 'echo "$HF_TOKEN $MODE $SKYPILOT_NODE_RANK $SKYPILOT_NODE_IPS $PWD"; exit 5'
    enter = [str(node.folder / "triplane/scripts/enter.sh"), "bash", "-c", words]
    path = f"{node.folder}/bin:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", *enter], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"CANARY fast 0 10.0.0.10 {node.home}/sky_workdir\n", done.stderr
    assert done.returncode == 5
    node.process.terminate()
    cluster.wait()
    done = subprocess.run(
        ["bash", *enter], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "does not run" in done.stderr
