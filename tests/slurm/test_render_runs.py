"""Rendered scripts on a real cluster: what the ranks see, and how a job ends."""

from __future__ import annotations

import json
import shutil
import time

import pytest

from compiler.rendering import quoting
from compiler.rendering.filetree import FileTree
from compiler.targets.slurm.options import parse_version, table
from tests.needs import give_up
from tests.slurm.login_files import bashrc
from tests.slurm.submitting import STACK, USER, Submitter
from tests.slurm_site import SlurmSite
from tests.unit.test_rendering_quoting import LINES

pytestmark = pytest.mark.slurm


def test_two_ranks_with_their_variables(submit: Submitter) -> None:
    job = submit("""\
name: ranks
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:8, cpus: 4, memory: 8}
setup: env | grep -a ^SKYPILOT > ~/setup-$SKYPILOT_SETUP_NODE_RANK
run: |
  printf '%s|' "$SKYPILOT_NODE_RANK" "$(hostname)" "$SKYPILOT_NODE_IPS" "$SKYPILOT_NUM_NODES" \\
      "$SKYPILOT_NUM_GPUS_PER_NODE" "$SKYPILOT_TASK_ID" "$SKYPILOT_INTERNAL_JOB_ID" \\
      "$CUDA_VISIBLE_DEVICES" "$SLURM_JOB_ID" "$SLURM_CPUS_PER_TASK" "$PWD" "$SKYPILOT_USER"
  echo
  echo "$SKYPILOT_CLUSTER_INFO"
  echo "${SKYPILOT_SETUP_NODE_RANK-unset}"
""")
    assert job.wait() == "COMPLETED", job.output
    assert job.ended == (0, job.number)
    for rank, host in enumerate(["alpha-h1", "alpha-h2"]):
        words, info, unset = job.log(rank).splitlines()[-3:]
        first, *lines = job.log(rank).split("|")
        del words
        assert [first, *lines[:1]] == [str(rank), host]
        assert lines[1].split("\n") == ["127.0.1.1", "127.0.1.2"]
        assert lines[2:4] == ["2", "8"]
        assert lines[4] == f"triplane-demo-ranks-{job.key.split('.')[1]}"
        assert lines[5] == lines[7] == job.number
        assert lines[6] == "0,1,2,3,4,5,6,7"
        assert lines[8] == "4"
        assert lines[9] == str(job.work / "home/sky_workdir")
        assert lines[10] == USER
        assert json.loads(info) == {
            "cluster_name": f"demo-ranks-{job.key.split('.')[1]}",
            "cloud": "slurm",
            "region": "alpha",
            "zone": "gpu",
        }
        assert unset == "unset"
        setup = (job.work / f"home/setup-{rank}").read_text()
        assert f"SKYPILOT_SETUP_NODE_RANK={rank}\n" in setup
        assert "SKYPILOT_SETUP_NUM_GPUS_PER_NODE=8\n" in setup
        assert "SKYPILOT_NODE_RANK" not in setup
        # The job's own output has the lines of all ranks, with their prefixes.
        assert f"{rank}: {unset}\n" in job.output
    assert (job.folder / "started").read_text() == f"{job.number} 0\n"


ODD_ENVS = {
    "COMMA": "a,b,c",
    "EQUALS": "a=b=c",
    "DOLLAR": "$HOME ${PATH} $(id) `id`",
    "QUOTES": 'it\'s "quoted" \\ and \\n',
    "LINES": "one\ntwo\n\nthree\n",
    "DOS": "a\r\nb",
    "HASH": "# no comment",
    "BLANKS": "  two  blanks  ",
    "EMPTY": "",
    "HEREDOC": "TRIPLANE_0\nEOF\n#SBATCH --partition=nowhere",
    "UNICODE": "ümläut 漢字 🚀",
    "STAR": "* ? [a] {b,c} ~",
}


def test_odd_values_arrive_as_they_are(submit: Submitter) -> None:
    envs = "".join(
        f"  {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in ODD_ENVS.items()
    )
    names = " ".join(ODD_ENVS)
    job = submit(f"""\
name: envs
resources: {{infra: slurm/alpha, cpus: 1, memory: 1}}
envs:
{envs}run: for name in {names}; do printf '%s\\0' "${{!name}}"; done > ~/values
""")
    assert job.wait() == "COMPLETED", job.output
    values = (job.work / "home/values").read_bytes().decode().split("\0")[:-1]
    assert dict(zip(ODD_ENVS, values, strict=True)) == ODD_ENVS


def test_user_texts_run_byte_for_byte(submit: Submitter) -> None:
    text = "cat <<'EOF' > ~/copy\n$A `b` \\\n\ttab\nEOF\nbasename \"$BASH_SOURCE\"; exit 0"
    job = submit(f"""\
name: bytes
resources: {{infra: slurm/alpha, cpus: 1, memory: 1}}
run: {json.dumps(text, ensure_ascii=False)}
""")
    assert job.wait() == "COMPLETED", job.output
    assert (job.work / "scripts/run.sh").read_text() == text
    assert (job.work / "home/copy").read_text() == "$A `b` \\\n\ttab\n"


def test_setup_is_a_barrier(submit: Submitter) -> None:
    job = submit("""\
name: barrier
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
setup: |
  sleep $((SKYPILOT_SETUP_NODE_RANK * 2))
  touch ~/setup-done-$SKYPILOT_SETUP_NODE_RANK
run: ls ~/setup-done-0 ~/setup-done-1
""")
    assert job.wait() == "COMPLETED", job.output
    assert job.log(0).count("setup-done-") == 2


def test_a_failed_setup_ends_the_job_before_run(submit: Submitter) -> None:
    job = submit("""\
name: badsetup
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
setup: |
  if [ "$SKYPILOT_SETUP_NODE_RANK" = 1 ]; then exit 5; fi
  sleep 60
run: touch ~/ran
""")
    assert job.wait() == "FAILED"
    assert job.ended == (5, job.number)
    assert job.exit_code() == "5:0"
    assert not (job.work / "home/ran").exists()
    assert "setup: rank 1 failed with exit code 5" in job.output


def test_the_first_failure_ends_the_rest_with_its_code(submit: Submitter) -> None:
    start = time.monotonic()
    job = submit("""\
name: failing
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
run: |
  if [ "$SKYPILOT_NODE_RANK" = 1 ]; then sleep 1; exit 3; fi
  trap 'echo taken down; exit 9' TERM
  sleep 100 & wait
""")
    assert job.wait() == "FAILED"
    assert job.ended == (3, job.number)
    assert job.exit_code() == "3:0"
    assert "taken down" in job.log(0)
    assert time.monotonic() - start < 30


def test_middle_lines_may_fail_and_the_last_one_counts(submit: Submitter) -> None:
    job = submit("""\
name: middle
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
run: |
  false
  echo "$UNSET" | cat
  (exit 7)
""")
    assert job.wait() == "FAILED"
    assert job.ended == (7, job.number)


def test_a_cancelled_job_tells_its_processes_and_says_how_it_ended(submit: Submitter) -> None:
    job = submit("""\
name: cancelled
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
run: |
  bash -c 'trap "sleep 1; echo saved; exit 0" TERM; echo up; while :; do sleep 0.1; done'
  echo never
""")
    job.wait("RUNNING")
    logs = [job.folder / f"logs/{rank}.log" for rank in (0, 1)]
    job.site.wait_for(
        lambda: all(log.exists() and "up" in log.read_text() for log in logs), 20, "both ranks"
    )
    job.cancel()
    assert job.wait() == "CANCELLED"
    assert job.ended == (143, job.number)
    for rank in (0, 1):
        job.site.wait_for(lambda rank=rank: "saved" in job.log(rank), 10, "the last words")
        assert "never" not in job.log(rank)


@pytest.mark.long
def test_a_job_out_of_time_says_how_it_ended(submit: Submitter) -> None:
    job = submit("""\
name: late
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
config: {slurm: {sbatch_options: {time: "1"}}}
run: sleep 200
""")
    assert job.wait(timeout=150) == "TIMEOUT"
    assert job.ended == (143, job.number)


def test_a_signal_before_the_end_reaches_the_program(submit: Submitter) -> None:
    # Slurm looks at limits every 30 s, so a limit of a minute signals soon.
    job = submit("""\
name: notice
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
config: {slurm: {sbatch_options: {time: "1", signal: B:USR1@59}}}
run: |
  bash -c 'trap "exit 0" USR1; while :; do sleep 0.1; done'
  echo "checkpointed: $?"
  exit 4
""")
    assert job.wait(timeout=90) == "FAILED"
    assert job.ended == (4, job.number)
    assert "checkpointed: 0" in job.log()


def test_bashrc_of_the_login_and_of_the_run(submit: Submitter) -> None:
    of_the_login = (
        "case $- in *i*) ;; *) return ;; esac\n"
        'export FROM_LOGIN=$HOME\nhello() { echo "hello $1"; }\n'
    )
    home = submit.site.home(USER)
    with bashrc(submit.site, USER, of_the_login):
        job = submit("""\
name: bashrc
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
setup: echo 'export FROM_SETUP=1' >> ~/.bashrc
run: hello "$FROM_LOGIN $FROM_SETUP $HOME"
""")
        assert job.wait() == "COMPLETED", job.output
        assert job.log().splitlines()[-1] == f"hello {home} 1 {job.work}/home"
        assert (home / ".bashrc").read_text() == of_the_login
    assert "job control" not in job.output


def test_files_that_the_task_brings_along(submit: Submitter) -> None:
    folder, single, elsewhere = "a" * 64, "b" * 64, "c" * 64
    submit.store(folder, {"train.sh": "echo trained\n", "sub/data": "1\n", ".dot": "x"})
    submit.store(single, {"my conf.yaml": "key: 1\n"})
    submit.store(elsewhere, {"inside": "2\n"})
    trees = (
        FileTree("~/sky_workdir", folder, local="/any", files={"train.sh": "", "sub/data": ""}),
        FileTree("~/conf/it's.yaml", single, local="/any/my conf.yaml", files={"": ""}),
        FileTree("/tmp/render runs/data", elsewhere, local="/any", files={"inside": ""}),
    )
    job = submit(
        """\
name: files
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
run: |
  bash train.sh; cat sub/data .dot ~/"conf/it's.yaml" '/tmp/render runs/data/inside'
  echo more > sub/data
""",
        trees=trees,
    )
    assert job.wait() == "COMPLETED", job.output
    for rank in (0, 1):
        assert "trained\n" in job.log(rank)
        assert "key: 1\n2\n" in job.log(rank)
    stored = submit.site.home(USER) / f".triplane/files/{folder}/sub/data"
    assert stored.read_text() == "1\n"


def test_missing_files_are_said_and_fail_the_job(submit: Submitter) -> None:
    tree = FileTree("~/sky_workdir", "d" * 64, local="/any", files={"a": ""})
    job = submit(
        "name: nofiles\nresources: {infra: slurm/alpha, cpus: 1, memory: 1}\nrun: 'true'\n",
        trees=(tree,),
    )
    assert job.wait() == "FAILED"
    assert job.ended == (1, job.number)
    assert f"{'d' * 64} is not there: were the task's files uploaded?" in job.output


def test_a_git_working_directory_is_cloned(submit: Submitter) -> None:
    home = submit.site.home(USER)
    has_git = submit.site.run("alpha", USER, ["sh", "-c", "command -v git"]).returncode == 0
    if not has_git and shutil.which("git"):
        give_up("the site runs in a Debian tree that has no git")
    commands = """
    rm -rf ~/repo && mkdir ~/repo && cd ~/repo && git init -q -b main . &&
    git config user.email a@example.org && git config user.name A &&
    echo first > file && git add . && git commit -q -m first && git tag v1 &&
    git checkout -q -b dev && echo second > file && git commit -q -a -m second &&
    git checkout -q main
    """
    made = submit.site.run("alpha", USER, ["bash", "-c", commands])
    assert made.returncode == 0, made.stderr
    for ref, expected in ((None, "first"), ("v1", "first"), ("dev", "second")):
        tree = FileTree("~/sky_workdir", "e" * 64, git_url=f"file://{home}/repo", git_ref=ref)
        job = submit(
            "name: git\nresources: {infra: slurm/alpha, cpus: 1, memory: 1}\n"
            'run: cat file && echo "$GIT_URL" && git rev-parse "$GIT_COMMIT_HASH^{commit}" HEAD\n',
            trees=(tree,),
        )
        assert job.wait() == "COMPLETED", job.output
        content, url, commit, head = job.log().splitlines()
        assert (content, url) == (expected, f"file://{home}/repo")
        assert commit == head
    tree = FileTree("~/sky_workdir", "e" * 64, git_url=f"file://{home}/repo", git_ref="gone")
    job = submit(
        "name: git\nresources: {infra: slurm/alpha, cpus: 1, memory: 1}\nrun: cat file\n",
        trees=(tree,),
    )
    assert job.wait() == "FAILED"
    assert "the repository has no gone" in job.output


SECRETS = """\
name: secrets
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
secrets: {HF_TOKEN: null, WANDB: null}
envs: {HF_TOKEN: from-envs}
run: printf '%s|%s' "$HF_TOKEN" "$WANDB" > ~/seen-$SKYPILOT_NODE_RANK
"""
SECRET_STACK = STACK + "secrets: {HF_TOKEN: {alpha: {file: '~/.hf, token'}}}\n"
VALUE = "s3,cr=t 'q' $HOME\nline"


def test_secrets_come_from_their_files(submit: Submitter) -> None:
    submit.site.write(USER, ".hf, token", VALUE + "\n")
    job = submit(SECRETS, SECRET_STACK, secrets=f"export WANDB={quoting.sh(VALUE)}\n")
    assert job.wait() == "COMPLETED", job.output
    for rank in (0, 1):
        assert (job.work / f"home/seen-{rank}").read_text() == f"{VALUE}|{VALUE}"
    for path in [*job.folder.rglob("*"), *(job.work / "scripts").rglob("*")]:
        assert path.is_dir() or VALUE not in path.read_text(), path


def test_secrets_may_have_the_names_of_the_scripts_own_variables(submit: Submitter) -> None:
    submit.site.write(USER, ".run", "from a file")
    job = submit(
        """\
name: names
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
secrets: {RUN: null, STATE: null, STEP: null, SECRETS: null}
setup: echo done
run: printf '%s, ' "$RUN" "$STATE" "$STEP" "$SECRETS" > ~/seen
""",
        STACK + "secrets: {RUN: {alpha: {file: ~/.run}}}\n",
        secrets="export STATE=1\nexport STEP=2\nexport SECRETS=3\n",
    )
    assert job.wait() == "COMPLETED", job.output
    assert (job.work / "home/seen").read_text() == "from a file, 1, 2, 3, "
    assert job.ended == (0, job.number)


def test_a_missing_secret_fails_the_job_with_its_name(submit: Submitter) -> None:
    submit.site.write(USER, ".hf, token", VALUE)
    job = submit(SECRETS, SECRET_STACK, secrets="export OTHER=1\n")
    assert job.wait() == "FAILED"
    assert "WANDB is not in " in job.output
    job = submit(SECRETS, SECRET_STACK)
    assert job.wait() == "FAILED"
    assert "the secrets of this run are not in " in job.output


def test_a_task_without_run_keeps_its_nodes(submit: Submitter) -> None:
    job = submit("""\
name: holding
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:1, cpus: 1, memory: 1}
setup: touch ~/ready
""")
    job.site.wait_for(lambda: (job.work / "home/ready").exists(), 20, "setup")
    time.sleep(1)
    assert job.wait("RUNNING") == "RUNNING"
    assert "keeping the nodes" in job.output
    job.cancel()
    assert job.wait() == "CANCELLED"


def test_containers_are_asked_for_at_the_steps(submit: Submitter) -> None:
    stack = STACK.replace('version: "22.05"', 'version: "22.05", containers: pyxis')
    tools = submit.site.write(USER, "tools/enroot", '#!/bin/sh\necho "$@" >> ~/removed\n')
    tools.chmod(0o755)
    path = f"{tools.parent}:/usr/bin:/bin"
    job = submit(
        """\
name: container
resources:
  infra: slurm/alpha
  cpus: 1
  memory: 1
  image_id: docker:nvcr.io/nvidia/pytorch:24.05-py3
volumes: {/data: {host_path: /scratch/data, mode: rw}}
secrets: {TOKEN: null}
setup: echo "setup in $STANDIN_PYXIS_CONTAINER_NAME"
run: |
  env | grep STANDIN_PYXIS
  echo "HOME_LINK=$(readlink ~/sky_workdir)"
  rm ~/sky_workdir
""",
        stack,
        secrets="export TOKEN=1\n",
        env={"PATH": path},
    )
    assert job.wait() == "COMPLETED", job.output
    seen = dict(line.partition("=")[::2] for line in job.log().splitlines())
    assert seen["STANDIN_PYXIS_CONTAINER_IMAGE"] == "nvcr.io#nvidia/pytorch:24.05-py3"
    assert seen["STANDIN_PYXIS_CONTAINER_NAME"] == f"triplane-{job.number}.0"
    mounts = f"{job.work}:{job.work},{job.folder}:{job.folder},/scratch/data:/data"
    assert seen["STANDIN_PYXIS_CONTAINER_MOUNTS"] == mounts
    assert seen["STANDIN_PYXIS_CONTAINER_ENV"] == "TOKEN"
    assert seen["STANDIN_PYXIS_NO_CONTAINER_MOUNT_HOME"] == "1"
    assert f"setup in triplane-{job.number}.0\n" in job.log()
    # The stand-in has no container, so that its home is the login's own.
    assert seen["HOME_LINK"] == f"{job.work}/home/sky_workdir"
    home = submit.site.home(USER)
    removed = (home / "removed").read_text()
    assert removed.splitlines()[-1] == f"remove -f pyxis_triplane-{job.number}.0"


def test_gpus_per_node_gives_the_same_devices(submit: Submitter) -> None:
    stack = STACK.replace('version: "22.05"', 'version: "22.05", gres: gpus-per-node')
    job = submit(
        """\
name: gpus
num_nodes: 2
resources: {infra: slurm/alpha, accelerators: H100:4, cpus: 1, memory: 1}
run: echo "$CUDA_VISIBLE_DEVICES"
""",
        stack,
    )
    assert job.wait() == "COMPLETED", job.output
    assert [job.log(rank) for rank in (0, 1)] == ["0,1,2,3\n"] * 2


def test_a_base_with_a_variable_and_blanks(submit: Submitter) -> None:
    base = submit.site.home(USER) / "scratch space"
    submit.site.write(USER, "scratch space/here", "")
    stack = STACK.replace('version: "22.05"', 'version: "22.05", workdir: "$SCRATCH/./"')
    job = submit(
        "name: based\nresources: {infra: slurm/alpha, cpus: 1, memory: 1}\nrun: pwd -P\n",
        stack,
        base=base,
        env={"SCRATCH": str(base)},
    )
    assert job.wait() == "COMPLETED", job.output
    assert job.log() == f"{base}/.triplane/demo/work/{job.key}/home/sky_workdir\n"


def test_a_requeued_job_starts_again_in_the_same_home(submit: Submitter) -> None:
    job = submit("""\
name: again
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
run: |
  echo "$SKYPILOT_TASK_ID" >> ~/starts
  [ $(wc -l < ~/starts) = 2 ] || sleep 100
""")
    starts = job.work / "home/starts"
    job.site.wait_for(starts.exists, 20, "the first start")
    changed = ["scontrol", "update", f"jobid={job.number}", "Requeue=1"]
    assert job.site.run("alpha", USER, changed).returncode == 0
    assert job.site.run("alpha", USER, ["scontrol", "requeue", job.number]).returncode == 0
    job.site.wait_for(lambda: len(starts.read_text().splitlines()) == 2, 60, "the second start")
    assert job.wait() == "COMPLETED"
    assert len(set(starts.read_text().splitlines())) == 1
    assert (job.folder / "started").read_text() == f"{job.number} 0\n{job.number} 1\n"
    assert job.ended == (0, job.number)


def test_what_run_leaves_behind_does_not_keep_the_job(submit: Submitter) -> None:
    job = submit("""\
name: leftover
resources: {infra: slurm/alpha, cpus: 1, memory: 1}
run: |
  sleep 300 &
  echo last words
""")
    assert job.wait(timeout=20) == "COMPLETED"
    assert job.log() == "last words\n"


@pytest.mark.parametrize("text", [text for text in LINES if text.strip()])
def test_sbatch_reads_values_as_they_were_meant(slurm_site: SlurmSite, text: str) -> None:
    script = f"#!/bin/bash\n#SBATCH -p cpu --hold\n#SBATCH --comment={quoting.sbatch(text)}\ntrue\n"
    done = slurm_site.run("alpha", USER, ["sbatch", "--parsable"], input=script)
    assert done.returncode == 0, done.stderr
    job = done.stdout.strip()
    shown = slurm_site.run("alpha", USER, ["squeue", "-h", "-j", job, "-o", "%k"])
    slurm_site.run("alpha", USER, ["scancel", job])
    assert shown.stdout == f"{text}\n"


def test_the_option_table_is_what_this_sbatch_has(slurm_site: SlurmSite) -> None:
    shown = slurm_site.run("alpha", USER, ["sbatch", "--version"]).stdout
    version = parse_version(shown.split()[-1])
    assert version is not None
    names = list(table())
    for option in table().values():
        if option.role == "plugin":
            continue  # there where the site has the plug-in, whatever the version
        if not option.exists_in(version) and any(
            name.startswith(f"{option.name}-") for name in names
        ):
            continue  # sbatch takes it for the beginning of another one
        flag = f"--{option.name}" + "=" * (option.argument == "required")
        # It stops at the first word that it does not know, and at --version.
        done = slurm_site.run("alpha", USER, ["sbatch", flag, "--version"])
        known = "unrecognized option" not in done.stderr
        assert known == option.exists_in(version), (option.name, done.stderr)
        wrong = "doesn't allow an argument" if "=" in flag else "requires an argument"
        assert wrong not in done.stderr, option.name
