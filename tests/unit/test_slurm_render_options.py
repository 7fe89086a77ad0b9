"""`sbatch_options`, quota and workspaces: what is merged, and what is refused."""

import pytest

from compiler.targets.slurm.options import long_name, parse_version, table
from tests.unit.slurm_jobs import STACK, directives, make_job, render, script


def task(options: str, resources: str = "{infra: slurm/alpha/gpu}") -> str:
    config = f"config: {{slurm: {{sbatch_options: {options}}}}}\n"
    return f"name: x\nresources: {resources}\nrun: x\n{config}"


def codes(text: str, stack: str = STACK) -> list[tuple[str, str]]:
    _, found = render(make_job(text, stack))
    return [(item.code, item.hint or "") for item in found]


def test_options_of_the_user_come_last_and_sorted() -> None:
    options = 'constraint: "a100|h100&ib", exclusive: true, nice: 10, hold: false'
    text = script(task(f'{{time: "1-00:00:00", {options}}}'))
    lines = [line for line in text.split("\n") if line.startswith("#SBATCH")]
    assert lines[-4:] == [
        "#SBATCH --constraint=a100|h100&ib",
        "#SBATCH --exclusive",
        "#SBATCH --nice=10",
        "#SBATCH --time=1-00:00:00",
    ]


def test_short_names_and_underscores_are_the_same_option() -> None:
    assert long_name("t") == "time"
    assert long_name("mail_type") == "mail-type"
    assert long_name("C") == "constraint"
    found = directives(script(task('{t: "10", mail_type: "END,FAIL"}')))
    assert (found["time"], found["mail-type"]) == ("10", "END,FAIL")


SCOPES = """\
set: {name: demo, inputs: []}
targets:
  alpha: {kind: slurm, version: "22.05"}
config:
  active_workspace: research
  slurm:
    sbatch_options: {comment: global, constraint: global, begin: now, nice: 1, wckey: w}
    quota: {queue: global, account: global}
    cluster_configs:
      alpha:
        sbatch_options: {comment: cluster, constraint: cluster, licenses: l, wckey: null}
        partition_configs:
          gpu: {sbatch_options: {comment: partition, nice: 2}, quota: {queue: partition}}
  workspaces:
    research: {slurm: {sbatch_options: {comment: workspace}, quota: {account: workspace}}}
"""


def test_stronger_scopes_win() -> None:
    found = directives(script(task("{C: task, begin: null}"), SCOPES))
    assert found["comment"] == "workspace"
    assert found["constraint"] == "task"
    assert found["nice"] == "2"
    assert found["licenses"] == "l"
    assert "begin" not in found
    assert "wckey" not in found
    assert (found["qos"], found["account"]) == ("partition", "workspace")


def test_other_partitions_have_their_own_values() -> None:
    found = directives(script(task("{}", "{infra: slurm/alpha/cpu}"), SCOPES))
    assert (found["nice"], found["qos"]) == ("1", "global")


def test_quota_of_the_task_is_the_strongest() -> None:
    text = "name: x\nrun: x\nconfig: {slurm: {quota: {queue: mine, account: me}}}\n"
    found = directives(script(text, SCOPES))
    assert (found["qos"], found["account"]) == ("mine", "me")


def test_workspaces_of_the_stack() -> None:
    stack = STACK + (
        "config: {active_workspace: research, slurm: {quota: {queue: q, account: a}}}\n"
        "workspaces: {research: {account: res, alpha: {qos: high, partition: big}}}\n"
    )
    found = directives(script("name: x\nrun: x\n", stack))
    assert (found["account"], found["qos"], found["partition"]) == ("res", "high", "big")
    other = "name: x\nrun: x\nconfig: {active_workspace: nobody}\n"
    found = directives(script(other, stack))
    assert (found["account"], found["qos"]) == ("a", "q")


def test_an_option_that_gives_way_is_said() -> None:
    text = "name: x\nrun: x\nconfig: {slurm: {sbatch_options: {q: low}, quota: {queue: high}}}\n"
    script_text, found = render(make_job(text))
    assert directives(script_text)["qos"] == "high"
    assert [item.code for item in found] == ["sbatch-option-overridden"]
    assert next(iter(found)).message == ("`--qos=low` gives way to `config.slurm.quota.queue`")
    same = text.replace("low", "high")
    assert directives(script(same))["qos"] == "high"


@pytest.mark.parametrize("name", [row.name for row in table().values() if row.role == "task"])
def test_options_of_the_compiler_are_refused_with_both_places(name: str) -> None:
    version = {"container-id": "25.05", "tres-per-task": "25.05"}.get(name, "22.05")
    text = task(f"{{{name}: 1}}")
    _, found = render(make_job(text, STACK.replace("22.05", version)))
    (finding,) = found
    assert finding.code == "sbatch-option-controlled"
    assert f"`--{name}`" in finding.message
    assert f"config.slurm.sbatch_options.{name}" in finding.message
    assert finding.hint and finding.hint.startswith("it comes from: ")
    assert finding.span and (finding.span.line, finding.span.source.path) == (4, "task.yaml")


@pytest.mark.parametrize("key", ["p", "N", "J", "n", "G", "c", "o", "mem_per_cpu", "gpus_per_node"])
def test_no_spelling_slips_through(key: str) -> None:
    assert [code for code, _ in codes(task(f"{{{key}: 1}}"))] == ["sbatch-option-controlled"]


def test_a_comment_belongs_to_the_labels_if_there_are_any() -> None:
    text = task("{comment: mine}", "{infra: slurm/alpha, labels: {team: nlp}}")
    found = codes(text)
    assert ("sbatch-option-controlled", "it comes from: `resources.labels`") in found


@pytest.mark.parametrize("key", ["test_only", "wrap", "wait", "parsable", "uid", "help"])
def test_options_of_the_command_are_refused(key: str) -> None:
    assert [code for code, _ in codes(task(f"{{{key}: true}}"))] == ["sbatch-option-client"]


@pytest.mark.parametrize(
    ("key", "version", "hint"),
    [
        ("constrain", "22.05", "did you mean `constraint`?"),
        ("reservaton", "22.05", "did you mean `reservation`?"),
        ("ear", "22.05", "options of a site's own plug-ins cannot be given here"),
        ("R", "22.05", "options of a site's own plug-ins cannot be given here"),
        ("segment", "23.11", "it came with Slurm 24.05"),
        ("prefer", "20.11", "it came with Slurm 22.05"),
        ("power", "24.05", "Slurm 23.11 was the last to have it"),
    ],
)
def test_unknown_options(key: str, version: str, hint: str) -> None:
    stack = STACK.replace("22.05", version)
    assert codes(task(f"{{{key}: 1}}"), stack) == [("sbatch-option-unknown", hint)]


def test_options_that_this_version_has() -> None:
    stack = STACK.replace("22.05", "24.05")
    assert directives(script(task("{segment: 4}"), stack))["segment"] == "4"
    unknown = STACK.replace(', version: "22.05"', "")
    assert directives(script(task("{segment: 4}"), unknown))["segment"] == "4"


def test_two_spellings_in_one_map() -> None:
    found = codes(task('{time: "10", t: "20"}'))
    assert [code for code, _ in found] == ["sbatch-option-repeated"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("{reservation: true}", "sbatch-option-value"),
        ("{contiguous: 5}", "sbatch-option-value"),
        ("{time: UNLIMITED}", "sbatch-time"),
        ("{time: infinite}", "sbatch-time"),
        ("{time: -1}", "sbatch-time"),
        ("{time: 1h}", "sbatch-time"),
        ("{time: 1.5}", "sbatch-time"),
        ("{time: 24:00:00}", "sbatch-time"),
        ("{time-min: 1:2:3:4}", "sbatch-time"),
    ],
)
def test_values_that_sbatch_would_not_take(options: str, code: str) -> None:
    assert [found for found, _ in codes(task(options))] == [code]


def test_an_unquoted_time_is_shown_as_it_was_written() -> None:
    _, found = render(make_job(task("{time: 24:00:00}")))
    (finding,) = found
    assert finding.found == "24:00:00"
    assert finding.hint == 'write "24:00:00"'


@pytest.mark.parametrize("time", ["90", '"90"', '"1:30"', '"24:00:00"', '"2-12"', '"1-12:30:00"'])
def test_times_that_sbatch_takes(time: str) -> None:
    assert directives(script(task(f"{{time: {time}}}")))["time"] == time.strip('"')


def test_flags_with_an_optional_value() -> None:
    assert directives(script(task("{exclusive: user}")))["exclusive"] == "user"
    assert directives(script(task("{exclusive: true}")))["exclusive"] == ""


def test_faults_of_the_stack_are_shown_in_the_stack() -> None:
    stack = STACK + "config: {slurm: {sbatch_options: {mem: 5G}}}\n"
    _, found = render(make_job("name: x\nrun: x\n", stack))
    (finding,) = found
    assert finding.span and finding.span.source.path == "stack.yaml"


def test_table_is_sound() -> None:
    rows = table().values()
    assert {row.role for row in rows} == {"user", "task", "client", "plugin"}
    assert {row.argument for row in rows} == {"none", "required", "optional"}
    shorts = [row.short for row in rows if row.short]
    assert len(shorts) == len(set(shorts))
    assert all(bool(row.instead) == (row.role == "task") for row in rows)
    assert [row.name for row in rows] == sorted(row.name for row in rows)


def test_versions() -> None:
    assert parse_version("23.11") == parse_version("23.11.4-1") == (23, 11)
    assert parse_version(None) is None
    assert parse_version("latest") is None
