"""`$NAME` in the four fields that have it, on the tree and not on its text."""

import pytest

from compiler.model import FileMount, GitWorkdir, Overrides, Secret
from tests.unit.model_documents import built_task, task_findings, task_of


def mounts(envs: str, file_mounts: str, **options) -> dict[str, str]:
    task = task_of(f"envs: {envs}\nfile_mounts: {file_mounts}", **options)
    return {mount.destination: mount.source for mount in task.file_mounts}


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("s3://$B", "s3://bucket"),
        ("s3://${B}", "s3://bucket"),
        ("s3://${B}x$B/y", "s3://bucketxbucket/y"),
        ("s3://$Bx", "s3://$Bx"),
        ("s3://$UNKNOWN/${ALSO_NOT}", "s3://$UNKNOWN/${ALSO_NOT}"),
        ("./a$", "./a$"),
        ("./a$1", "./a$1"),
        ("./$$B", "./$bucket"),
    ],
)
def test_names(source, result):
    assert mounts("{B: bucket}", f"{{/d: '{source}'}}") == {"/d": result}


def test_keys_are_substituted_and_keep_their_position():
    text = "envs: {A: x}\nfile_mounts:\n  /d/$A: ./y\n"
    task = task_of(text)
    assert task.file_mounts[0].destination == "/d/x"
    assert task.file_mounts[0].origin.span().location == "task.yaml:3:10"
    assert task_findings(text, check_files=True) == ["3:10 mount-source-missing"]


def test_values_with_quotes_and_backslashes_stay_whole():
    value = 'a"b\\c\nd'
    task = task_of("envs: {A: x}\nworkdir: ./$A", overrides=Overrides(env=(("A", value),)))
    assert task.workdir.path == "./" + value


def test_there_is_no_recursion():
    assert mounts("{A: $B, B: x}", "{/d: ./$A}") == {"/d": "./$B"}


def test_which_fields():
    text = (
        "name: n\nenvs: {A: x}\nworkdir: {url: 'https://h/$A', ref: $A}\n"
        "volumes: {/v/$A: $A}\nsetup: echo $A\nrun: echo ${A:-y}\n"
        "resources: {ports: 80, labels: {a: $A}}\n"
        "service: {readiness_probe: {path: /$A, post_data: {m: [$A, {k: $A}]}}}\n"
    )
    task = task_of(text)
    assert task.workdir == GitWorkdir("https://h/x", "x", task.origin)
    assert (task.volumes[0].path, task.volumes[0].name) == ("/v/x", "x")
    assert (task.setup, task.run) == ("echo $A", "echo ${A:-y}")
    assert task.resources.candidates[0].labels == {"a": "$A"}
    assert task.service.readiness_probe.path == "/x"
    assert task.service.readiness_probe.post_data == {"m": ["x", {"k": "x"}]}


@pytest.mark.parametrize("text", ["${A:-x}", "${A:=x}", "${A#x}", "${A", "${B:-x}", "${A }"])
def test_shell_syntax_is_refused(text):
    findings = task_findings(f"envs: {{A: x}}\nfile_mounts: {{/d: '{text}'}}")
    assert findings == ["2:19 substitution-default"]


def test_a_result_is_checked_again_and_numbers_stay_text():
    text = "envs: {N: 2}\nresources: {ports: 80}\nservice: {readiness_probe: /h, replicas: $N}"
    assert task_findings(text) == ["3:42 wrong-type"]
    good = "envs: {S: s3, B: abc}\nfile_mounts: {/d: {name: $B, store: $S}}"
    assert task_of(good).storage[0].store == "S3"
    assert task_findings(good.replace("S: s3", "S: floppy")) == ["2:37 invalid-value"]


def test_a_result_is_held_to_the_rules():
    text = "envs: {A: /x/}\nfile_mounts: {$A: ./y, /z: '${A}'}"
    assert task_findings(text) == ["2:15 mount-slash", "2:28 mount-slash"]


def test_two_keys_that_become_one():
    text = "envs: {A: /x}\nfile_mounts: {/x: ./a, $A: ./b}"
    assert task_findings(text) == ["2:24 substitution-duplicate"]


def test_a_missing_value_is_the_error_and_not_what_needs_it():
    text = "envs: {A: null}\nworkdir: $A\nfile_mounts: {/a: $A, /b: {source: $A}, /c: ./nowhere}\n"
    assert task_findings(text, check_files=True) == [
        "1:8 env-required",
        "3:45 mount-source-missing",
    ]


@pytest.mark.parametrize("value", ["null", "hunter2"])
def test_secrets_are_never_put_in(value):
    text = f"secrets: {{T: {value}}}\nfile_mounts: {{/d: 's3://$T', /$T: ./x}}"
    assert task_findings(text) == ["2:19 secret-substituted", "2:30 secret-substituted"]


@pytest.mark.parametrize("value", ["null", "hunter2"])
def test_a_probe_keeps_the_names_of_secrets(value):
    text = (
        f"secrets: {{T: {value}}}\nresources: {{ports: 80}}\n"
        "service: {readiness_probe: {path: /h, headers: {Authorization: Bearer $T}}}\n"
    )
    probe = task_of(text).service.readiness_probe
    assert probe.headers == {"Authorization": "Bearer $T"}
    assert "hunter2" not in repr(task_of(text))


def test_values_of_the_command_line_are_used():
    task, diagnostics = built_task(
        "envs: {B: null}\nsecrets: {S: null}\nfile_mounts: {/d: s3://$B}",
        overrides=Overrides(env=(("B", "given"),)),
    )
    assert not diagnostics.has_errors
    assert task.file_mounts == (FileMount("/d", "s3://given", task.origin),)
    assert task.secrets == {"S": Secret("S")}
