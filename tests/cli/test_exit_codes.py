"""The table of exit codes, what goes to which stream, and that no failure shows a traceback."""

import json
import os
import re
import subprocess

import pytest

from compiler.cli import main as entry
from compiler.cli.main import COMMANDS
from compiler.diagnostics import TargetUnreachable
from tests.command_line import PROGRAM, TOP


@pytest.fixture
def ready(project):
    project.stack("alpha", "eks")
    project.task("train")
    return project


STACK = ("--stack", "stack.yaml")
# Every command as it succeeds, in an order in which each finds what it needs.
SUCCEEDS = {
    "validate": ("tasks",),
    "render": (*STACK, "--out", "review"),
    "diff": (*STACK, "--against", "review"),
    "why": ("review/slurm/alpha/demo-train-1/job.sbatch:1", *STACK),
    "plan": STACK,
    "apply": (*STACK, "--auto-approve"),
    "run": ("tasks/train.yaml", *STACK),
    "status": STACK,
    "wait": STACK,
    "check": STACK,
    "unlock": STACK,
    "schema": (),
    "explain": ("resources.accelerators",),
    "catalog": ("H100",),
    "completion": ("bash",),
    "destroy": (*STACK, "--auto-approve"),
}
FAILS = {
    "logs": ("train", *STACK),
    "cancel": ("train", *STACK),
    "exec": ("train", *STACK, "--", "true"),
    "stop": ("train", *STACK),
    "start": ("train", *STACK),
}


ELSEWHERE = {"migrate", "shell"}  # have tests of their own


def test_every_command_is_here():
    assert set(COMMANDS) - ELSEWHERE == {*SUCCEEDS, *FAILS}


def test_every_command_succeeds_with_0_and_says_its_result_on_stdout(ready):
    for command, words in SUCCEEDS.items():
        done = ready.run(command, *words)
        # `wait` has codes of its own, and does not know what becomes of written files.
        assert done.code == (102 if command == "wait" else 0), (command, done.text)
        assert done.out, command
        assert "\x1b" not in done.text, command


@pytest.mark.parametrize("command", [*SUCCEEDS, *FAILS])
def test_help_shows_examples_and_every_option_s_meaning(ready, command):
    done = ready.run(command, "--help")
    assert done.code == 0
    assert done.err == ""
    assert f"Usage: triplane {command}" in done.out
    assert "Example" in done.out
    assert done.out == ready.run(command, "-h").out


def test_help_lists_every_command_and_the_exit_codes(ready):
    done = ready.run("--help")
    assert done.code == 0
    said = " ".join(done.out.split())
    for command, words in COMMANDS.items():
        assert f"{command} {words}" in said
    codes = ("0 done", "1 wrong input", "2 changes", "3 a target", "4 the saved plan", "64", "130")
    for code in codes:
        assert code in said
    assert ready.run("--version").out.startswith("triplane, version ")


WRONG_USAGE = [
    ((), "Usage: triplane"),
    (("plann",), "no command 'plann'; did you mean `plan`?"),
    (("rende",), "did you mean `render`?"),
    (("frobnicate",), "triplane --help lists them"),
    (("plan",), "Missing option '--stack'"),
    (("apply", "tasks"), "Missing option '--stack'"),
    (("validate",), "Missing argument 'PATH...'"),
    (("validate", "tasks", "--fromat", "json"), "--format"),
    (("validate", "tasks", "--format", "xml"), "'xml' is not one of"),
    (("plan", *STACK, "--parallel", "0"), "--parallel"),
    (("run", "tasks", *STACK, "--num-jobs", "0"), "--num-jobs"),
    (("wait", *STACK, "--timeout", "-1"), "--timeout"),
    (("explain", "resources.accelerator"), "did you mean `resources.accelerators`?"),
    (("explain", "tsk:run"), "no kind 'tsk'"),
    (("schema", "tasks"), "did you mean `task`?"),
    (("schema", "zzz"), "there are"),
    (("catalog", "H1000"), "no accelerator 'H1000'; did you mean"),
    (("catalog", "H100", "--region", "mars"), "'mars' is no AWS region"),
    (("status", "tain", *STACK), "no run of `tain` is recorded in this set"),
    (("plan", *STACK, "--target", "alhpa"), "did you mean `alpha`?"),
    (("apply", *STACK), "nobody is here to approve the plan; add --auto-approve"),
]


@pytest.mark.parametrize(("words", "said"), WRONG_USAGE, ids=lambda item: " ".join(item)[:40])
def test_wrong_usage_is_64_and_on_stderr(ready, words, said):
    done = ready.run(*words)
    assert done.code == 64, done.text
    assert said in done.err
    assert not (ready.folder / "out").exists()


def test_names_of_works_are_suggested(ready):
    ready.applied()
    for command in ("status", "wait", "logs", "cancel", "destroy"):
        done = ready.run(command, "trian", *STACK)
        assert done.code == 64, command
        assert "did you mean `train`?" in done.err, command
        assert done.out == ""
    assert ready.run("logs", "train", "--run", "7", *STACK).code == 64
    assert ready.run("status", "_project", *STACK).code == 64


def test_what_a_directory_cannot_do_is_1(ready):
    ready.applied()
    for command, words in FAILS.items():
        done = ready.run(command, *words)
        assert (done.code, done.out) == (1, ""), command
        assert "files are written here, nothing runs" in done.err


def test_the_page_of_exit_codes_has_every_code():
    from compiler.diagnostics import TriplaneError
    from compiler.workflow import Waited

    def kinds(kind):
        return {kind, *(found for below in kind.__subclasses__() for found in kinds(below))}

    page = (TOP / "docs" / "exit-codes.md").read_text(encoding="utf-8")
    written = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    done, changes = 0, 2
    ours = {kind.exit_code for kind in kinds(TriplaneError)}
    assert written == {done, changes, *ours, entry.INTERRUPTED_EXIT, *Waited}


def test_a_saved_plan_that_moved_is_4(ready):
    assert ready.plan("--out", "plan.json").code == 0
    ready.task("train", num_nodes=2)
    done = ready.run("apply", "plan.json")
    assert done.code == 4
    assert "tasks/train.yaml changed" in done.err


def test_changes_are_2_only_when_asked_for(ready):
    assert ready.plan().code == 0
    assert ready.plan("--detailed-exitcode").code == 2
    ready.applied()
    assert ready.plan("--detailed-exitcode").code == 0


def test_an_unreachable_target_is_3_and_blocks_no_other(ready, monkeypatch):
    from compiler.targets.directory import DirectoryDeployer

    observe = DirectoryDeployer.observe

    def away(self, with_artifacts=True):
        if self.target == "eks":
            raise TargetUnreachable("eks", "connection refused")
        return observe(self, with_artifacts)

    monkeypatch.setattr(DirectoryDeployer, "observe", away)
    ready.task("train", resources={"infra": "slurm"})
    ready.task("other", resources={"infra": "k8s"})
    for command in ("plan", "status"):
        done = ready.run(command, *STACK)
        assert done.code == 3, command
        assert "eks" in done.text
        assert "connection refused" in done.text
    plan = ready.plan("--format", "json").json
    assert plan["complete"] is False
    assert {work["work"]: work["action"] for work in plan["works"]} == {
        "train": "create",
        "other": "unknown",
    }
    applied = ready.apply()
    assert applied.code == 3
    assert "slurm/alpha/train run 1: created" in applied.out
    # Nothing of a target that did not answer is pruned, and what is asked works.
    assert ready.run("status", *STACK, "--target", "alpha").code == 0
    assert ready.run("status", *STACK, "--target", "eks").code == 3
    assert ready.plan("--target", "alpha").code == 0


@pytest.mark.parametrize(
    ("states", "until", "code", "said"),
    [
        (["succeeded"], "finished", 0, "succeeded"),
        (["written"], "finished", 102, "unknown"),
        (["unknown", "pending"], "finished", 101, "not finished"),
        (["running"], "running", 0, "succeeded"),
        (["failed"], "finished", 100, "failed"),
        (["timed out"], "finished", 100, "failed"),
        (["vanished"], "finished", 100, "failed"),
        (["running"], "finished", 101, "not finished"),
        (["pending"], "running", 101, "not finished"),
        (["unknown"], "finished", 102, "unknown"),
        (["cancelled"], "finished", 103, "cancelled"),
        (["succeeded", "failed"], "finished", 100, "failed"),
        (["failed", "pending"], "finished", 101, "not finished"),
        (["cancelled", "failed"], "finished", 103, "cancelled"),
    ],
)
def test_wait_has_codes_of_its_own(ready, monkeypatch, states, until, code, said):
    from dataclasses import replace

    from compiler.planning.states import Observation, RunState
    from compiler.targets.directory import DirectoryDeployer

    for at in range(len(states)):
        ready.task(f"work-{at}")
    ready.applied()
    observe = DirectoryDeployer.observe

    def seen(self, with_artifacts=True):
        runs = observe(self, with_artifacts).runs
        runs = [run for run in runs if run.record.work != "train"]
        return Observation(
            self.target,
            tuple(
                replace(run, state=RunState(state))
                for run, state in zip(runs, states, strict=False)
            ),
        )

    monkeypatch.setattr(DirectoryDeployer, "observe", seen)
    done = ready.run("wait", *STACK, "--for", until, "--timeout", "0")
    assert (done.code, done.out) == (code, f"{said}\n")
    assert "run 1" in done.err
    quiet = ready.run("wait", *STACK, "--for", until, "--timeout", "0", "-q", "--format", "json")
    assert quiet.err == ""
    assert (quiet.json["result"], quiet.json["exit_code"]) == (said, code)


def test_an_interrupt_is_130(ready, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("compiler.workflow.planner.load_tasks", interrupt)
    done = ready.plan()
    assert done.code == 130
    assert done.err.strip() == "interrupted"


def test_a_bug_of_ours_is_said_to_be_one(ready, monkeypatch, capsys):
    def broken(*arguments, **options):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("compiler.workflow.planner.load_tasks", broken)
    assert entry.main(["plan", *STACK]) == 1
    said = capsys.readouterr()
    assert said.err.splitlines()[0] == "internal error: ZeroDivisionError: by zero"
    assert "TRIPLANE_TRACEBACK=1" in said.err
    monkeypatch.setenv("TRIPLANE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        entry.main(["plan", *STACK])


def test_a_reader_that_has_gone_is_no_failure(ready):
    script = f"{' '.join(map(_quoted, PROGRAM))} schema task | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ready.folder,
        env={**os.environ, "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["{", "0"]
    assert done.stderr == ""


def _quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_what_nobody_could_read_is_not_said_to_be_done(ready, command):
    read, write = os.pipe()
    os.close(read)
    flags = ["--auto-approve"] if command == "apply" else []
    done = ready.process(command, *STACK, *flags, capture_output=False, stdout=write)
    os.close(write)
    assert done.returncode == 1


def test_an_apply_whose_output_nobody_reads_is_carried_out(ready):
    read, write = os.pipe()
    os.close(read)
    done = ready.process(
        *("apply", *STACK, "--auto-approve"),
        capture_output=False,
        stdout=subprocess.DEVNULL,
        stderr=write,
    )
    os.close(write)
    assert done.returncode == 0
    assert "slurm/alpha/demo-train-1/job.sbatch" in ready.files()


def test_closed_streams_and_a_narrow_encoding_are_no_failure(ready):
    ready.applied()
    script = f"{' '.join(map(_quoted, PROGRAM))} plan --stack stack.yaml >&- 2>&-"
    environ = {**os.environ, "PYTHONPATH": str(TOP)}
    closed = subprocess.run(["bash", "-c", script], cwd=ready.folder, env=environ, check=False)
    assert closed.returncode == 0
    ready.task("déjà", run="echo 'déjà vu ✓'\n", envs={"A": "é"})
    ascii_only = ready.process(
        "validate", "tasks", "--format", "json", env={"PYTHONIOENCODING": "ascii"}
    )
    assert ascii_only.returncode in (0, 1), ascii_only.stderr
    assert json.loads(ascii_only.stdout)
