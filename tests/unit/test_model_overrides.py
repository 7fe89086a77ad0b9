"""What the command line lays over a task, and that errors point at the flag."""

import pytest

from compiler.diagnostics import Diagnostics, Severity, WrongUsage
from compiler.model import GitWorkdir, Overrides, apply_overrides
from compiler.source import read_text
from tests.unit.model_documents import built_task, task_of

TASK = (
    "name: t\nresources:\n  accelerators: A100:8\n  cloud: aws\n  region: us-east-1\n"
    "  image_id: 'docker:a'\n  any_of:\n  - {use_spot: true, cpus: 4}\n  - {accelerators: L4}\n"
)


def test_nothing_changes_nothing():
    (document,) = read_text(TASK, "t.yaml", Diagnostics())
    assert not Overrides()
    assert apply_overrides(document, Overrides(), {}) is document


def test_plain_fields():
    task = task_of(TASK, overrides=Overrides(name="u", num_nodes=3, workdir="./src"))
    assert (task.name, task.num_nodes, task.workdir.path) == ("u", 3, "./src")
    assert task.origin.span("name").location == "<command line>:1:8"
    assert task.origin.span("name").source.text == "--name u"


def test_resources_are_overridden_in_every_alternative():
    task = task_of(TASK, overrides=Overrides(gpus="H100:2", infra="k8s/prod", cpus="8+"))
    first, second = task.resources.candidates
    assert {str(first.accelerator), str(second.accelerator)} == {"H100:2"}
    assert {str(first.infra), str(second.infra)} == {"kubernetes/prod"}
    assert {str(first.cpus), str(second.cpus)} == {"8+"}
    assert (first.use_spot, second.use_spot) == (True, False)
    assert first.origin_of("infra").span().source.text == "--infra k8s/prod"


@pytest.mark.parametrize(
    ("overrides", "attribute", "value"),
    [
        (Overrides(gpus="none"), "accelerator", None),
        (Overrides(infra="none"), "infra.cloud", None),
        (Overrides(image_id="none"), "image", None),
        (Overrides(image_id="docker:b"), "image.docker", "b"),
        (Overrides(memory="64+"), "memory.value", 64),
        (Overrides(instance_type="p5.48xlarge"), "instance_type", "p5.48xlarge"),
        (Overrides(use_spot=True), "use_spot", True),
        (Overrides(use_spot=False), "use_spot", False),
    ],
)
def test_one_field_of_resources(overrides, attribute, value):
    for candidate in task_of(TASK, overrides=overrides).resources.candidates:
        read = candidate
        for step in attribute.split("."):
            read = getattr(read, step)
        assert read == value


def test_a_task_without_resources_gets_them():
    task = task_of("name: t", overrides=Overrides(gpus="H100:8"))
    assert str(task.resources.candidates[0].accelerator) == "H100:8"


def test_the_older_alias_is_overridden_too():
    task = task_of("resources: {gpus: A100}", overrides=Overrides(gpus="H100:8"))
    assert str(task.resources.candidates[0].accelerator) == "H100:8"


def test_variables_from_a_file_the_flag_and_the_environment():
    overrides = Overrides(
        env_file=(("A", "file"), ("B", "file")), env=(("B", "flag"), ("C", None), ("D", "a=b,c"))
    )
    task = task_of("envs: {A: x, E: y}", overrides=overrides, environ={"C": "from outside"})
    assert task.envs == {"A": "file", "B": "flag", "C": "from outside", "D": "a=b,c", "E": "y"}


def test_text_of_the_command_line_stays_text():
    assert task_of("name: t", overrides=Overrides(env=(("A", "true"),))).envs == {"A": "true"}


@pytest.mark.parametrize(
    "secrets", ["", "secrets: {T: null}", "secrets: ['secrets:T']", "managed_secrets: [T]"]
)
def test_secrets_are_handed_over(secrets):
    task = task_of(f"name: t\n{secrets}", overrides=Overrides(secret=(("T", "x"),)))
    assert task.secrets["T"].value == "x"
    assert len(task.secrets) == 1


def test_a_secret_from_the_environment():
    overrides = Overrides(secret=(("T", None),))
    assert task_of("name: t", overrides=overrides, environ={"T": "x"}).secrets["T"].value == "x"


def test_config_is_read_as_yaml():
    overrides = Overrides(
        config=(
            ("kubernetes.provision_timeout", "600"),
            ("kubernetes.pod_config.spec", "{hostNetwork: true}"),
            ("slurm.sbatch_options.time", "'01:00:00'"),
            ("active_workspace", "research"),
            ("kubernetes.custom_metadata", None),
        )
    )
    text = "config: {kubernetes: {provision_timeout: 5, custom_metadata: {labels: {a: b}}}}"
    assert task_of(text, overrides=overrides).config == {
        "kubernetes": {"provision_timeout": 600, "pod_config": {"spec": {"hostNetwork": True}}},
        "slurm": {"sbatch_options": {"time": "01:00:00"}},
        "active_workspace": "research",
    }


def test_null_in_config_takes_the_value_away():
    text = "config: {kubernetes: {provision_timeout: 5}}"
    overrides = Overrides(config=(("kubernetes.provision_timeout", "null"),))
    assert task_of(text, overrides=overrides).config == {}


def test_git():
    text = "workdir: {url: 'https://h/r', ref: main}"
    task = task_of(text, overrides=Overrides(git_ref="v2"))
    assert task.workdir == GitWorkdir("https://h/r", "v2", task.origin)
    task = task_of(text, overrides=Overrides(git_url="https://h/s"))
    assert task.workdir == GitWorkdir("https://h/s", None, task.origin)
    task = task_of("workdir: .", overrides=Overrides(git_url="https://h/s", git_ref="v3"))
    assert task.workdir == GitWorkdir("https://h/s", "v3", task.origin)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (Overrides(env=(("NOT_THERE", None),)), "there is no NOT_THERE in the environment"),
        (Overrides(secret=(("NOT_THERE", None),)), "there is no NOT_THERE in the environment"),
        (Overrides(workdir=".", git_url="https://h/r"), "--workdir does not go with"),
        (Overrides(git_ref="v1"), "--git-ref needs --git-url"),
        (Overrides(config=(("a..b", "1"),)), "has an empty part"),
    ],
)
def test_wrong_usage(overrides, reason):
    with pytest.raises(WrongUsage, match=reason):
        built_task("name: t", overrides=overrides)


@pytest.mark.parametrize(
    ("overrides", "code", "flag"),
    [
        (Overrides(gpus="H100:0"), "accelerator-value", "--gpus H100:0"),
        (Overrides(infra="mars"), "infra-value", "--infra mars"),
        (Overrides(cpus="4x"), "cpus-value", "--cpus 4x"),
        (Overrides(num_nodes=0), "out-of-range", "--num-nodes 0"),
        (Overrides(name="a b"), "task-name", "--name a b"),
        (Overrides(env=(("A-B", "x"),)), "env-name", "--env A-B=x"),
        (
            Overrides(env=(("SKYPILOT_DOCKER_PASSWORD", "hunter2"),)),
            "docker-login-incomplete",
            "--env SKYPILOT_DOCKER_PASSWORD=***",
        ),
        (Overrides(secret=(("A-B", "hunter2"),)), "secret-name", "--secret A-B=***"),
        (Overrides(config=(("aws.vpc_name", "x"),)), "config-aws", "--config aws.vpc_name=x"),
        (Overrides(workdir="nowhere"), "workdir-missing", "--workdir nowhere"),
        (Overrides(git_url="h/r"), "git-url", "--git-url h/r"),
    ],
)
def test_errors_point_at_the_flag(overrides, code, flag):
    task, diagnostics = built_task("name: t", overrides=overrides, check_files=True)
    assert task is None
    (item,) = (item for item in diagnostics if item.severity is Severity.ERROR)
    assert item.code == code
    assert item.span.source.path == "<command line>"
    assert item.span.source.text == flag
    assert item.span.column > 2


def test_a_document_that_is_no_place_for_a_value_is_reported_itself():
    task, diagnostics = built_task("resources: [x]\n", overrides=Overrides(gpus="H100"))
    assert task is None
    assert [item.span.source.path for item in diagnostics] == ["task.yaml"]
