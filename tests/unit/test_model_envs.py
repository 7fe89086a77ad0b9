"""Variables and secrets: what they may be called and hold, and that secrets stay secret."""

import pytest

from compiler.diagnostics import Diagnostics, Severity
from compiler.diagnostics.renderers import FORMATS, render
from compiler.model import Overrides, Secret, build_task
from compiler.source import read_text
from tests.unit.model_documents import built_task, task_findings, task_of

LOGIN = ("SKYPILOT_DOCKER_USERNAME", "SKYPILOT_DOCKER_PASSWORD", "SKYPILOT_DOCKER_SERVER")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("true", "True"),
        ("no", "False"),
        ("1.5", "1.5"),
        ("1.0e-6", "1e-06"),
        ("1e-6", "1e-6"),
        ("1_000", "1000"),
        ("0777", "511"),
        ("12:30", "750"),
        ("2024-01-01", "2024-01-01"),
        ('""', ""),
        ('"make -j$(nproc)"', "make -j$(nproc)"),
        ("'a\"b'", 'a"b'),
    ],
)
def test_values_are_the_text_that_skypilot_makes_of_them(written, text):
    assert task_of(f"envs: {{A: {written}}}").envs == {"A": text}


@pytest.mark.parametrize(
    ("envs", "expected"),
    [
        ("{A-B: x}", "1:8 env-name"),
        ("{1A: x}", "1:8 env-name"),
        ("{'': x}", "1:8 env-name"),
        ("{A: [1]}", "1:11 env-value"),
        ("{A: {b: c}}", "1:11 env-value"),
        ("{A: null}", "1:8 env-required"),
        ("[A]", "1:7 wrong-type"),
    ],
)
def test_envs_refused(envs, expected):
    assert task_findings(f"envs: {envs}") == [expected]


def test_a_required_variable_is_given_on_the_command_line():
    text = "envs:\n  A:\n  B: null\n"
    assert task_findings(text) == ["2:3 env-required", "3:3 env-required"]
    overrides = Overrides(env=(("A", "1"), ("B", None)))
    task = task_of(text, overrides=overrides, environ={"B": "2"})
    assert task.envs == {"A": "1", "B": "2"}


def test_a_secret_of_the_same_name_is_a_value_for_a_required_variable():
    task = task_of("envs: {TOKEN: null}", overrides=Overrides(secret=(("TOKEN", "x"),)))
    assert task.envs == {}
    assert task.secrets["TOKEN"].value == "x"


def test_a_secret_wins_over_a_variable():
    task = task_of("envs: {A: public, B: b}\nsecrets: {A: hidden}")
    assert task.envs == {"B": "b"}
    assert task.secrets["A"].value == "hidden"


@pytest.mark.parametrize(
    ("fields", "secret", "value"),
    [
        ("secrets: {A: null}", Secret("A"), None),
        ('secrets: {A: ""}', Secret("A"), ""),
        ("secrets: {A: 12}", Secret("A"), "12"),
        ("secrets: ['secrets:A']", Secret("A", managed=True), None),
        ("secrets: ['secrets:personal.A']", Secret("A", managed=True), None),
        ("secrets: {'secrets:global.A': null}", Secret("A", managed=True), None),
        ("secrets: {'secrets:A': null, A: v}", Secret("A"), "v"),
        ("managed_secrets: [A]", Secret("A", managed=True), None),
        ("managed_secrets: [{A: {mount_path: /k}}]", Secret("A", None, "/k", True), None),
        ("secrets: {A: v}\nmanaged_secrets: [A]", Secret("A", managed=True), "v"),
    ],
)
def test_forms_of_secrets(fields, secret, value):
    task = task_of(fields)
    assert task.secrets == {"A": secret}
    assert task.secrets["A"].value == value


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("secrets: [A]", "1:11 secret-name"),
        ("secrets: ['secrets:A-B']", "1:11 secret-name"),
        ("secrets: ['secrets:']", "1:11 secret-name"),
        ("secrets: {A-B: x}", "1:11 secret-name"),
        ("secrets: {'secrets:A': x}", "1:11 secret-reference"),
        ("secrets: {A: [x]}", "1:14 wrong-type"),
        ("managed_secrets: ['a-b']", "1:19 secret-name"),
        ("managed_secrets: {A: {mount_path: /k}}", "1:18 wrong-type"),
    ],
)
def test_secrets_refused(fields, expected):
    assert expected in task_findings(fields)


def test_values_of_secrets_print_nowhere():
    text = (
        "secrets: {A: hunter2, B-C: hunter2, 'secrets:D': hunter2, E: [hunter2]}\n"
        "file_mounts: {/x: s3://$A}\nnum_nodes: 0\n"
    )
    overrides = Overrides(secret=(("Z", "hunter2"), ("Y-Y", None)))
    task, diagnostics = built_task(text, overrides=overrides, environ={"Y-Y": "hunter2"})
    assert task is None
    for item in diagnostics:
        said = (item.message, item.found, item.expected, item.hint, *map(str, item.related))
        assert not any("hunter2" in str(part) for part in said), item
        if item.span is not None and item.span.source.path == "<command line>":
            assert "hunter2" not in item.span.source.text
    assert "hunter2" not in repr(overrides)
    assert "hunter2" not in repr(task_of("secrets: {A: hunter2}"))


@pytest.mark.parametrize(("place", "said"), [("envs", ["env-holds-secret"]), ("secrets", [])])
def test_a_registry_login_in_one_place(place, said):
    names = ", ".join(f"{name}: x" for name in LOGIN)
    text = f"{place}: {{{names}}}\nresources: {{image_id: 'docker:a'}}"
    assert [item.split()[-1] for item in task_findings(text)] == said


def test_a_registry_login_whose_password_the_stack_has():
    text = f"secrets: {{{', '.join(f'{name}: null' for name in LOGIN)}}}"
    assert task_findings(f"{text}\nresources: {{image_id: 'docker:a'}}") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"envs: {{{LOGIN[0]}: x}}", "1:8 docker-login-incomplete"),
        (f"secrets: {{A: x, {LOGIN[0]}: x, {LOGIN[1]}: y}}", "1:17 docker-login-incomplete"),
        (
            f"envs: {{{LOGIN[0]}: x, {LOGIN[2]}: y}}\nsecrets: {{{LOGIN[1]}: z}}",
            "1:8 docker-login-split",
        ),
    ],
)
def test_a_registry_login_in_parts(text, expected):
    assert task_findings(text) == [expected]


def test_a_registry_login_without_an_image_is_only_warned_of():
    names = ", ".join(f"{name}: x" for name in LOGIN)
    task, diagnostics = built_task(f"secrets: {{{names}}}")
    assert task is not None
    assert [(item.code, item.severity) for item in diagnostics if item.code != "secret-inline"] == [
        ("docker-login-unused", Severity.WARNING)
    ]


def test_a_secret_in_the_file_is_warned_of():
    text = 'secrets: {A: "", B: hunter2, C: null}\nrun: echo'
    assert task_findings(text, inline_secrets=True) == ["1:18 secret-inline"]
    handed_over = Overrides(secret=(("C", "hunter3"),))
    found = task_findings(text, inline_secrets=True, overrides=handed_over)
    assert found == ["1:18 secret-inline"]


@pytest.mark.parametrize(("length", "said"), [(131_069, []), (131_070, ["env-too-long"])])
def test_a_variable_is_no_longer_than_linux_hands_over(length, said):
    found = task_findings(f"envs: {{A: {'x' * length}}}\nrun: 'true'")
    assert [item.split()[-1] for item in found] == said


TOKEN = "hunter2hunter2"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"run: curl {TOKEN}\n", "run"),
        (f"setup: |\n  a\n  b {TOKEN}\n", "setup"),
        (f"envs: {{A: x{TOKEN}}}\n", "envs.A"),
        (f"service: {{readiness_probe: /{TOKEN}, ports: 80}}\n", "service.readiness_probe"),
        (f"workdir: {TOKEN}\n", "workdir"),
    ],
)
def test_a_secret_that_is_repeated_elsewhere_is_warned_of_and_never_quoted(text, where):
    found = Diagnostics()
    (document,) = read_text(f"secrets: {{T: {TOKEN}}}\n{text}", "t.yaml", found)
    build_task(document, found, check_files=True)
    said = [item for item in found if item.code == "secret-repeated"]
    assert [item.message for item in said] == [
        f"the value of the secret `T` is written in `{where}`"
    ]
    assert said[0].span.line == 2
    for format in FORMATS:
        assert TOKEN not in render(found, format)


def test_short_values_and_values_alone_are_no_repetition():
    for text in ("secrets: {T: abc}\nrun: abc\n", "secrets: {T: longer-one}\nrun: other\n"):
        found = Diagnostics()
        (document,) = read_text(text, "t.yaml", found)
        build_task(document, found)
        assert [item.code for item in found] == ["secret-inline"]
