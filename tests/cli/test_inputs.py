"""Whatever is given as input: a message with its place, exit code 1, and nothing written."""

import os

import pytest

TASK = "name: train\nresources: {cpus: 2}\nrun: echo\n"
STACK = ("--stack", "stack.yaml")


@pytest.fixture
def ready(project):
    project.stack("alpha", "eks")
    project.task("train")
    return project


def commands(path):
    """Every command that reads task files, on `path`."""
    return (
        ("validate", path),
        ("render", path, *STACK, "--out", "out"),
        ("diff", path, *STACK, "--against", "tasks"),
        ("plan", path, *STACK, "--out", "plan.json"),
        ("apply", path, *STACK, "--auto-approve"),
        ("run", path, *STACK),
    )


BAD = {
    "broken": (b"run: [\n", "broken.yaml:"),
    "binary": (b"\x00\x01\xff\xfe" * 100, "binary.yaml"),
    "latin": ("run: caf\xe9\n".encode("latin-1"), "0xe9 is not UTF-8"),
    "empty": (b"", "there is nothing in this file"),
    "comments": (b"# nothing\n---\n# here\n", "there is nothing in this file"),
    "text": (b"just words\n", "a document must be a map of fields"),
    "list": (b"- a\n- b\n", "a document must be a map of fields"),
    "tabs": (b"run:\n\techo\n", "tabs.yaml:2"),
    "twice": (b"run: a\nrun: b\n", "twice.yaml:2:1"),
    "unknown": (b"name: a\nrunn: echo\n", "did you mean `run`?"),
    "wrong": (b"num_nodes: two\nrun: echo\n", "wrong.yaml:1:12"),
    "missing-env": (b"envs: {A: null}\nrun: echo\n", "the variable `A` has no value"),
    "stack": (b"set: {name: a}\ntargets: {a: {kind: slurm}}\n", "no task in"),
    "volume": (b"name: V\ntype: k8s-pvc\nsize: 10\n", "`V` cannot be the name of a volume"),
    "pipeline": (
        b"name: p\n---\nname: a\nrun: echo\n---\nname: a\nrun: echo\n",
        "a second task of the pipeline is called `a`",
    ),
    "gone-workdir": (b"workdir: no/such/folder\nrun: echo\n", "gone-workdir.yaml:1"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_1_with_a_place_and_writes_nothing(ready, name):
    content, said = BAD[name]
    path = f"bad/{name}.yaml"
    (ready.folder / "bad").mkdir()
    (ready.folder / path).write_bytes(content)
    before = sorted(ready.folder.rglob("*"))
    for words in commands(path):
        if words[0] == "validate" and name == "stack":
            assert ready.run(*words).code == 0
            continue
        done = ready.run(*words)
        assert done.code == 1, (words, done.text)
        assert said in done.text, words
        if words[0] != "validate":
            assert done.out == "", words
    assert sorted(ready.folder.rglob("*")) == before


def test_a_missing_file_and_a_folder_without_files_are_1(ready):
    (ready.folder / "hollow").mkdir()
    for path, said in (
        ("missing.yaml", "there is no file or folder `missing.yaml`"),
        ("hollow", "the folder `hollow` holds no *.yaml or *.yml file"),
        ("tasks/train.yaml/x", "tasks/train.yaml/x"),
        ("a\0b", "cannot be read"),
    ):
        for words in commands(path):
            done = ready.run(*words)
            assert done.code == 1, (words, done.text)
            assert said in done.text, words
    assert not (ready.folder / "out").exists()


def test_what_may_not_be_read_is_said_and_not_taken_for_nothing(ready, monkeypatch):
    ready.applied()

    def refuse(path, *more):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        for words in commands("tasks"):
            done = ready.run(*words)
            assert done.code == 1, (words, done.text)
            assert "`tasks` cannot be read: Permission denied" in done.text
    # Records that may not be read are no empty set: nothing is planned on that target.
    monkeypatch.setattr("compiler.targets.directory.store._records_in", refuse)
    done = ready.plan("--format", "json")
    assert done.code == 3
    assert {work["action"] for work in done.json["works"]} == {"unknown"}
    assert "Permission denied" in done.json["targets"][0]["reason"]


def test_all_errors_of_all_files_come_at_once(ready):
    ready.write("bad/one.yaml", "name: one\nrunn: a\nnum_nodes: x\n")
    ready.write("bad/two.yaml", "name: two\nsetpu: b\nrun: b\n")
    done = ready.run("validate", "bad", "tasks", "nowhere.yaml")
    assert done.code == 1
    for place in ("bad/one.yaml:2:1", "bad/one.yaml:3:12", "bad/two.yaml:2:1", "nowhere.yaml"):
        assert place in done.out
    assert done.out.splitlines()[-1] == "3 files: 4 errors"


def test_several_paths_and_folders_count_once(ready):
    ready.task("other", folder="tasks/deep")
    ready.write("tasks/.hidden.yaml", "runn: a\n")
    ready.write("tasks/notes.txt", "runn: a\n")
    done = ready.run("validate", "tasks", "tasks/train.yaml", "./tasks/deep/", "stack.yaml")
    assert (done.code, done.out) == (0, "3 files: no errors\n")
    rendered = ready.run("render", "tasks/train.yaml", "tasks", *STACK, "--format", "json").json
    assert {item["path"].split("/")[2] for item in rendered["artifacts"]} == {
        "demo-train-1",
        "demo-other-1",
    }


def test_standard_input_is_a_path(ready):
    for words in commands("-"):
        done = ready.run(*words, piped=TASK)
        assert done.code == 0, (words, done.text)
    refused = ready.run("validate", "-", piped="name: a\nrunn: echo\n")
    assert refused.code == 1
    assert "<stdin>:2:1" in refused.out
    both = ready.process("validate", "-", "tasks", input=TASK.replace("train", "piped"))
    assert both.stdout == "2 files: no errors\n"


STACKS = {
    "missing": (None, "there is no file or folder `given.yaml`"),
    "task": (TASK, "this is a task, and no stack"),
    "empty": ("", "there is nothing in this file"),
    "broken": ("set: [\n", "given.yaml:"),
    "no-targets": ("set: {name: a}\n", "targets"),
    "no-name": ("targets: {a: {kind: slurm}}\n", "the set has no name"),
    "kind": ("set: {name: a}\ntargets: {a: {kind: slurmm}}\n", "slurmm"),
    "deployer": ("set: {name: a}\ntargets: {a: {kind: aws, deployer: ssh}}\n", "ssh"),
    "unknown": ("set: {name: a}\ntargets: {a: {kind: slurm}}\ntragets: {}\n", "did you mean"),
}


@pytest.mark.parametrize("name", STACKS)
def test_a_bad_stack_is_1_on_every_command(ready, name):
    text, said = STACKS[name]
    if text is not None:
        ready.write("given.yaml", text)
    given = ("--stack", "given.yaml")
    for words in (
        ("render", "tasks", *given, "--out", "out"),
        ("plan", "tasks", *given),
        ("apply", "tasks", *given, "--auto-approve"),
        ("run", "tasks", *given),
        ("status", *given),
        ("check", *given),
        ("unlock", *given),
        ("destroy", *given, "--auto-approve"),
        ("wait", *given),
        ("logs", "train", *given),
        ("cancel", "train", *given),
        ("diff", "tasks", *given, "--against", "tasks"),
    ):
        done = ready.run(*words)
        assert done.code == 1, (words, done.text)
        assert said in done.err, words
        assert done.out == "", words
    assert not (ready.folder / "out").exists()


def test_a_folder_is_no_stack(ready):
    (ready.folder / "stacks").mkdir()
    (ready.folder / "stack.yaml").rename(ready.folder / "stacks/one.yaml")
    done = ready.run("plan", "tasks", "--stack", "stacks")
    assert done.code == 1
    assert "`stacks` is a folder" in done.err
    assert "not-a-stack" in done.err


def test_the_stack_can_come_from_the_environment(ready, monkeypatch):
    monkeypatch.setenv("TRIPLANE_STACK", "stack.yaml")
    assert ready.run("plan", "tasks").code == 0


@pytest.mark.parametrize("out", ["blocked", "blocked/deeper"])
def test_an_output_folder_that_is_none(ready, out):
    ready.write("blocked", "a file\n")
    done = ready.run("render", "tasks", *STACK, "--out", out)
    assert done.code == 1
    assert "`blocked` is a file, and no folder" in done.err
    assert done.out == ""
    saved = ready.run("plan", "tasks", *STACK, "--out", "blocked/plan.json")
    assert saved.code == 1
    assert "`blocked` is a file, and no folder" in saved.err
    assert "Saved" not in saved.err
    as_folder = ready.run("plan", "tasks", *STACK, "--out", "tasks")
    assert as_folder.code == 64
    assert "--out tasks is a folder" in as_folder.err


def test_a_full_disk_is_1_and_leaves_no_half_file(ready, monkeypatch):
    ready.run("render", "tasks", *STACK, "--out", "review")
    before = ready.tree("review")

    class Full:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *reason):
            self.stream.close()

        def write(self, text):
            self.stream.write(text[: len(text) // 2])
            raise OSError(28, "No space left on device")

    real = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda *words, **more: Full(real(*words, **more)))
    ready.task("train", num_nodes=2)
    done = ready.run("render", "tasks", *STACK, "--out", "review")
    assert done.code == 1
    assert "review/slurm/alpha/demo-train-1/job.sbatch: No space left on device" in done.err
    assert ready.tree("review") == before
    saved = ready.run("plan", "tasks", *STACK, "--out", "plan.json")
    assert saved.code == 1
    assert not (ready.folder / "plan.json").exists()


def test_render_says_what_it_wrote_and_what_stayed(ready):
    first = ready.run("render", "tasks", *STACK, "--out", "review")
    assert first.out == "review/slurm/alpha/demo-train-1/job.sbatch\n"
    assert first.err.endswith("1 written, 0 unchanged\n")
    again = ready.run("render", "tasks", *STACK, "--out", "review")
    assert (again.out, again.err) == ("", "0 written, 1 unchanged\n")
    printed = ready.run("render", "tasks", *STACK)
    text = ready.files("review")["slurm/alpha/demo-train-1/job.sbatch"]
    assert printed.out == f"# ---- slurm/alpha/demo-train-1/job.sbatch\n{text}\n"


def test_a_refused_task_leaves_the_others_unwritten(ready):
    ready.task("impossible", resources={"infra": "gcp"})
    done = ready.run("render", *STACK, "--out", "review")
    assert done.code == 1
    assert not (ready.folder / "review").exists()
    assert ready.apply().code == 1
    assert not (ready.folder / "out").exists()
