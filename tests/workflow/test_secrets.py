"""A secret's value is in no file, plan, record or output, whatever is asked for."""

import pytest

CANARY = "canary-5f0e9c71d2"
KINDS = ("alpha", "eks", "us-east-1")


@pytest.fixture(params=["inline", "flag", "environment", "list"])
def given(project, request, monkeypatch):
    """A task with a secret, and the words that hand its value over."""
    project.stack(gitops="argocd", root=".")
    inline = CANARY if request.param == "inline" else None
    secrets = ["secrets:TOKEN"] if request.param == "list" else {"TOKEN": inline}
    project.task("train", secrets=secrets, envs={"LR": "0.1"})
    words = {"flag": ("--secret", f"TOKEN={CANARY}"), "environment": ("--secret", "TOKEN")}
    if request.param == "environment":
        monkeypatch.setenv("TOKEN", CANARY)
    return project, words.get(request.param, ())


def test_nothing_holds_the_value(given):
    project, words = given
    said = []
    for command in (
        ("validate", "tasks", *words),
        ("validate", "tasks", "--format", "json", *words),
        ("render", "--stack", "stack.yaml", "--every-target", *words),
        ("render", "--stack", "stack.yaml", "--every-target", "--out", "review", *words),
        ("render", "--stack", "stack.yaml", "--every-target", "--format", "json", *words),
        ("diff", "--stack", "stack.yaml", "--every-target", "--against", "review", *words),
        ("plan", "--stack", "stack.yaml", "--every-target", *words),
        ("plan", "--stack", "stack.yaml", "--every-target", "--format", "json", *words),
        ("plan", "--stack", "stack.yaml", "--every-target", "--format", "markdown", *words),
        ("plan", "--stack", "stack.yaml", "--every-target", "--out", "plan.json", *words),
        ("apply", "plan.json"),
        ("plan", "--stack", "stack.yaml", "--every-target", "--env", "LR=2", *words),
        ("apply", "--stack", "stack.yaml", "--auto-approve", "--every-target", *words),
        ("run", "tasks/train.yaml", "--stack", "stack.yaml", *words),
        ("status", "--stack", "stack.yaml", "--format", "json"),
        ("destroy", "--stack", "stack.yaml", "--auto-approve"),
    ):
        done = project.run(*command)
        assert done.code == 0, (command, done.text)
        said.append(done.text)
    assert CANARY not in "".join(said)
    for path, text in project.tree(".").items():
        if not path.startswith("tasks/"):
            assert CANARY not in text, path


@pytest.mark.parametrize(
    "broken",
    [
        "secrets: {TOKEN: %s}\nrun: [\n",
        "secrets:\n  TOKEN: %s\n  TOKEN: again\nrun: echo\n",
        "secrets: {TOKEN: [%s]}\nrun: echo\n",
        "secrets: {TOKEN: {a: %s}}\nrun: 3\n",
        "secrets:\n  1TOKEN: %s\nrun: echo\n",
        "name: [\nsecrets:\n  TOKEN: %s\n",
    ],
)
def test_a_broken_file_does_not_show_it_either(project, broken):
    project.stack("alpha")
    project.write("tasks/broken.yaml", broken % CANARY)
    for format in ("text", "concise", "json", "sarif", "github"):
        done = project.run("validate", "tasks/broken.yaml", "--format", format)
        assert done.code == 1
        assert CANARY not in done.text
    assert CANARY not in project.plan().text


def test_a_wrong_secret_flag_does_not_show_it(project):
    project.stack("alpha")
    project.task("train")
    for words in (("--secret", f"1X={CANARY}"), ("--secret", f"A B={CANARY}")):
        done = project.plan(*words)
        assert done.code in (1, 64)
        assert CANARY not in done.text


def test_what_must_exist_is_said_for_every_directory(project):
    project.stack(secrets={"HF": {"eks": {"secret": "hf/token"}, "us-east-1": {"ssm": "/hf"}}})
    project.task("train", secrets={"HF": None, "OTHER": "x"})
    said = project.plan("--every-target").out
    for line in (
        "must exist on eks: secret HF (secret hf/token)",
        "must exist on us-east-1: secret HF (ssm /hf)",
        "must exist on alpha: secret HF (referred to by name; nothing is applied here)",
        "must exist on alpha: secret OTHER (referred to by name; nothing is applied here)",
    ):
        assert line in said
    plan = project.plan_json("--every-target")
    for work in plan["works"]:
        if work["work"] == "train":
            assert {item.split(" ")[0] for item in work["required"]} == {"HF", "OTHER"}
            assert "secrets" not in work


def test_a_value_in_a_file_is_warned_of_and_not_shown(project):
    project.task("train", secrets={"TOKEN": CANARY, "OTHER": None})
    done = project.run("validate", "tasks")
    assert done.code == 0
    assert "warning[secret-inline]" in done.out
    assert "--> tasks/train.yaml:" in done.out
    assert done.out.count("secret-inline") == 1
    assert CANARY not in done.out
    given = project.run("validate", "tasks", "--secret", "OTHER=x", "--secret", "TOKEN=y")
    assert "secret-inline" not in given.out


def test_a_new_value_starts_nothing(project):
    project.stack("eks")
    project.task("train", secrets={"TOKEN": None})
    project.applied("--secret", "TOKEN=one")
    assert project.plan("--secret", "TOKEN=two", "--detailed-exitcode").code == 0
    assert project.plan("--detailed-exitcode").code == 0
    project.task("train", secrets={"TOKEN": None, "MORE": None})
    assert "because secrets.MORE changed" in project.plan().out


@pytest.mark.parametrize(
    ("value", "code"), [("one", 0), ("two", 4), (None, 4)], ids=["same", "another", "none"]
)
def test_a_saved_plan_takes_the_same_value_again(project, monkeypatch, value, code):
    """The directory hands nothing over; a target that does is stood in for by the real check."""
    from compiler.diagnostics import Diagnostics, PlanOutdated
    from compiler.model import Overrides
    from compiler.workflow import load_stack, open_plan, plan
    from compiler.workflow.fingerprint import check_secrets

    project.stack(targets={"c": {"kind": "slurm", "deployer": "local"}})
    project.task("train", secrets={"TOKEN": None})
    monkeypatch.setattr("compiler.targets.slurm.deployer.SlurmDeployer.observe", _nothing)
    monkeypatch.setattr("compiler.targets.slurm.deployer.SlurmDeployer.capacity", lambda self: None)
    stack = load_stack("stack.yaml", Diagnostics())
    made = plan([], stack, overrides=Overrides(secret=(("TOKEN", "one"),)))
    [work] = made.plan.works
    assert set(work.secrets) == {"TOKEN"}
    assert "one" not in str(work.secrets)
    from compiler.planning.plan_file import to_json

    project.write("plan.json", to_json(made.plan))
    again = Overrides(secret=(("TOKEN", value),) if value else ())
    opened = open_plan("plan.json", overrides=again)
    try:
        check_secrets(opened.plan.works, stack, opened.secrets)
        outcome = 0
    except PlanOutdated as error:
        outcome = error.exit_code
        assert "secret TOKEN" in str(error)
    assert outcome == code


def _nothing(self, with_artifacts=True):
    from compiler.planning.states import Observation

    return Observation(self.target, ())
