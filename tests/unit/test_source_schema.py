"""What the schemas say about documents: codes, exact places, expectations and hints."""

from __future__ import annotations

import subprocess
import sys

import pytest

from compiler.diagnostics import Code, Diagnostics, Severity
from compiler.diagnostics.codes import schema as codes
from compiler.source import (
    check,
    check_value,
    detect,
    field_names,
    field_schema,
    read_text,
    schema,
    schema_for,
    schema_names,
    suggest,
)


def found_in(text: str) -> Diagnostics:
    found = Diagnostics()
    unit = detect(read_text(text, "t.yaml", found), found)
    for document in [unit.header, *unit.documents]:
        if document is not None:
            check(document, schema_for(document.kind), found)
    return found


# text -> (code, line, column, end column, message, expected, hint)
CASES: dict[str, tuple[str, int, int, int, str, str | None, str | None]] = {
    'num_nodes: "2"\n': (
        "wrong-type",
        1,
        12,
        15,
        "`num_nodes` must be a whole number",
        "a whole number from 1 to 1000000",
        "write 2 without quotes",
    ),
    "resources:\n  use_spot: 'true'\n": (
        "wrong-type",
        2,
        13,
        19,
        "`resources.use_spot` must be a boolean",
        "true or false",
        "write true without quotes",
    ),
    "run:\n- a\n- b\n": (
        "wrong-type",
        2,
        1,
        4,
        "`run` must be a text",
        "a text",
        "write one text; several lines go below `|`, indented",
    ),
    "run: on\n": (
        "wrong-type",
        1,
        6,
        8,
        "`run` must be a text",
        "a text",
        'quote it: "on"',
    ),
    "envs: {A: [1]}\n": (
        "wrong-type",
        1,
        11,
        14,
        "`envs.A` must be a text, a number or a boolean",
        "a text, a number, true or false",
        None,
    ),
    "resources: {any_of: [{cpus: {a: 1}}]}\n": (
        "wrong-type",
        1,
        29,
        35,
        "`resources.any_of[0].cpus` must be a text or a number",
        "a number above 0 or a text such as `8+`",
        None,
    ),
    "file_mounts: {/data: 3}\n": (
        "wrong-type",
        1,
        22,
        23,
        '`file_mounts["/data"]` must be a text or a map',
        "a text that matches `[^/\\s]$` or a map",
        'quote it: "3"',
    ),
    "resources:\n  acelerators: H100:8\n": (
        "unknown-field",
        2,
        3,
        14,
        "unknown field `acelerators` in `resources`",
        None,
        "did you mean `accelerators`?",
    ),
    "gpus: H100:8\n": (
        "unknown-field",
        1,
        1,
        5,
        "unknown field `gpus` at the top level of the task",
        None,
        "did you mean `resources.gpus`?",
    ),
    "resources: {envs: {}}\n": (
        "unknown-field",
        1,
        13,
        17,
        "unknown field `envs` in `resources`",
        None,
        "`envs` belongs at the top level",
    ),
    "config: {kubernetes: {autoscaler: gke}}\n": (
        "unknown-field",
        1,
        23,
        33,
        "unknown field `autoscaler` in `config.kubernetes`",
        None,
        None,
    ),
    "file_mounts:\n  /d: {source: s3://b, mode: MONT}\n": (
        "invalid-value",
        2,
        30,
        34,
        '`file_mounts["/d"].mode` cannot be `MONT`',
        "`MOUNT`, `COPY` or `MOUNT_CACHED`",
        "did you mean `MOUNT`?",
    ),
    "resources: {disk_tier: fastest}\n": (
        "invalid-value",
        1,
        24,
        31,
        "`resources.disk_tier` cannot be `fastest`",
        "`low`, `medium`, `high`, `ultra` or `best`",
        None,
    ),
    "resources: {infra: kubernets/prod}\n": (
        "invalid-value",
        1,
        20,
        34,
        "`resources.infra` cannot be `kubernets/prod`",
        "a text such as `k8s`, `k8s/my-context` or `slurm/my-cluster/my-partition`",
        "did you mean `kubernetes/prod`?",
    ),
    "envs: {1A: x}\n": (
        "invalid-value",
        1,
        8,
        10,
        "`1A` cannot be a key in `envs`",
        "a text such as `MODEL_NAME`",
        None,
    ),
    "config: {hooks: [{run: x, events: [down, down]}]}\n": (
        "invalid-value",
        1,
        42,
        46,
        "`config.hooks[0].events` lists the text `down` twice",
        None,
        "remove one of them",
    ),
    "service: {readiness_probe: health}\n": (
        "invalid-value",
        1,
        28,
        34,
        "`service.readiness_probe` cannot be `health`",
        "a text such as `/health` or a map",
        "How a replica shows that it is ready: a path, or a map with a path and times.",
    ),
    "num_nodes: 0\n": (
        "out-of-range",
        1,
        12,
        13,
        "`num_nodes` must be at least 1",
        None,
        None,
    ),
    "resources: {accelerators: {A100: -1}}\n": (
        "out-of-range",
        1,
        34,
        36,
        "`resources.accelerators.A100` must be above 0",
        None,
        None,
    ),
    "resources: {priority: 2000}\n": (
        "out-of-range",
        1,
        23,
        27,
        "`resources.priority` must be at most 1000",
        None,
        None,
    ),
    "inputs: {}\n": (
        "out-of-range",
        1,
        9,
        11,
        "`inputs` must not be empty",
        None,
        None,
    ),
    "inputs: {a: 1, b: 2}\n": (
        "out-of-range",
        1,
        9,
        21,
        "`inputs` must have at most 1 key",
        None,
        None,
    ),
    "run: x\nservice:\n  replicas: 2\n": (
        "missing-field",
        2,
        1,
        8,
        "`service` lacks the field `readiness_probe`",
        "a text or a map",
        None,
    ),
    "service: {readiness_probe: {timeout_seconds: 1}}\n": (
        "missing-field",
        1,
        11,
        26,
        "`service.readiness_probe` lacks the field `path`",
        "a text such as `/health`",
        None,
    ),
    "pool: {}\n": (
        "missing-field",
        1,
        1,
        5,
        "`pool` needs `workers` or `max_workers`",
        None,
        None,
    ),
    "pool: {workers: 1, min_workers: 1}\n": (
        "missing-field",
        1,
        20,
        31,
        "`pool.min_workers` needs `max_workers` beside it",
        None,
        None,
    ),
    "name: v\ntype: k8s-pvc\n": (
        "missing-field",
        1,
        1,
        5,
        "the volume lacks the field `size`",
        "a whole number of at least 1 or a text such as `100Gi`",
        None,
    ),
    "resources: {accelerators: A100, gpus: A100}\n": (
        "refused-field",
        1,
        13,
        25,
        "`resources.accelerators` cannot be given here",
        None,
        "`gpus` is another name for `accelerators`; give one of the two.",
    ),
    "name: a.b\nexecution: parallel\n---\nname: x\n": (
        "invalid-value",
        1,
        7,
        10,
        "`name` cannot be `a.b`",
        "a text such as `rlhf`",
        "Name of the group or pipeline. A group's may hold letters, digits, `-` and `_`, because "
        "host names are made from it.",
    ),
    "set: {name: s}\ntargets: {a: {kind: slurm, port: 22, version: 23.11}}\n": (
        "wrong-type",
        2,
        47,
        52,
        "`targets.a.version` must be a text",
        "a text such as `1.34` or `23.11`",
        'quote it: "23.11"',
    ),
    "set: {name: s}\ntargets: {a: {kind: slurms}}\n": (
        "invalid-value",
        2,
        21,
        27,
        "`targets.a.kind` cannot be `slurms`",
        "`kubernetes`, `slurm` or `aws`",
        "did you mean `slurm`?",
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_codes_places_and_words(text: str) -> None:
    code, line, column, end_column, message, expected, hint = CASES[text]
    (item,) = [item for item in found_in(text) if item.severity is Severity.ERROR]
    assert item.span is not None
    assert (item.code, item.span.line, item.span.column) == (code, line, column)
    if item.span.end_line == line:
        assert item.span.end_column == end_column
    assert (item.message, item.expected, item.hint) == (message, expected, hint)


def test_every_code_of_the_schema_stage_is_in_a_table() -> None:
    defined = {code.name for code in vars(codes).values() if isinstance(code, Code)}
    assert {case[0] for case in CASES.values()} | {"conflicting-fields"} == defined


def test_all_errors_of_a_document_at_once() -> None:
    text = (
        "num_nodes: 0\n"
        "resources:\n  cpu: 4\n  any_of:\n    - cloud: awz\n    - {cpus: 4++}\n"
        "envs: [A]\n"
        "service: {readiness_probe: /x, replicas: two, tls: {keyfile: a}}\n"
    )
    assert [(item.code, item.span.location) for item in found_in(text).sorted() if item.span] == [
        ("out-of-range", "t.yaml:1:12"),
        ("unknown-field", "t.yaml:3:3"),
        ("invalid-value", "t.yaml:5:14"),
        ("invalid-value", "t.yaml:6:14"),
        ("wrong-type", "t.yaml:7:7"),
        ("wrong-type", "t.yaml:8:42"),
        ("missing-field", "t.yaml:8:47"),
    ]


def test_valid_documents_have_nothing_reported() -> None:
    text = (
        "name: train\nnum_nodes: 2\nsetup:\n"
        "resources: {infra: K8S/prod, accelerators: {H100: 8}, cpus: 64+, disk_tier: BEST}\n"
        "file_mounts: {/data: s3://b, /c: {source: $BUCKET, mode: $MODE}}\n"
        "envs: {A: 1, B: null}\nrun: echo\n"
    )
    found = Diagnostics()
    (document,) = read_text(text, "t.yaml", found)
    assert check(document, "task", found)
    assert not list(found)


def test_a_key_without_a_value_counts_as_absent_at_the_top_only() -> None:
    assert not list(found_in("run: x\npool:\nservice:\n"))
    assert found_in("resources: {any_of: [{labels: }], autostop: {down: }}\n").has_errors


def test_the_context_leads_to_the_enclosing_field() -> None:
    (item,) = found_in("run: x\nresources:\n  cpus: 4\n  memry: 8\n")
    assert item.context is not None
    assert (item.context.line, item.context.end_line) == (2, 4)


def test_unknown_fields_of_a_volume_are_warnings() -> None:
    found = found_in("name: v\ntype: k8s-pvc\nsize: 1Gi\nlabls: {}\nconfig: {acces_mode: x}\n")
    assert [(item.code, item.severity, item.hint) for item in found] == [
        ("unknown-field", Severity.WARNING, "did you mean `labels`?"),
        ("unknown-field", Severity.WARNING, "did you mean `access_mode`?"),
    ]


def test_errors_about_values_from_the_command_line_point_there() -> None:
    from compiler.diagnostics import SourceText, Span

    found = Diagnostics()
    (document,) = read_text("run: x\n", "t.yaml", found)
    span = Span(SourceText("<command line>", "--num-nodes 0"), 1, 13, 1, 14)
    assert not check(document.overlaid(("num_nodes",), 0, span), "task", found)
    assert [item.span for item in found] == [span]


def test_a_part_after_substitution_is_checked_by_the_strict_schema() -> None:
    text = "envs: {M: MONT}\nfile_mounts:\n  /d: {source: s3://b, mode: $M}\n"
    found = Diagnostics()
    (document,) = read_text(text, "t.yaml", found)
    assert check(document, "task", found)
    value = {"/d": {"source": "s3://b", "mode": "MONT"}}
    assert not check_value(document, ("file_mounts",), value, "task", "fileMounts", found)
    (item,) = found
    assert item.span is not None
    assert (item.span.location, item.message) == (
        "t.yaml:3:30",
        '`file_mounts["/d"].mode` cannot be `MONT`',
    )
    assert item.hint == "did you mean `MOUNT`?"


def test_unknown_schemas_and_definitions() -> None:
    (document,) = read_text("run: x\n", "t.yaml", Diagnostics())
    with pytest.raises(KeyError):
        check(document, "nothing", Diagnostics())
    with pytest.raises(KeyError):
        check_value(document, (), {}, "task", "nothing", Diagnostics())
    with pytest.raises(KeyError):
        schema("../task")


def test_schemas_by_name_and_field() -> None:
    assert {"task", "volume", "group", "stack", "config"} <= set(schema_names())
    assert schema("task")["title"] == "Task"
    assert field_schema("task", "num_nodes")["minimum"] == 1
    # References, lists, alternatives, free maps and other files are followed.
    assert "vCPUs" in field_schema("task", "resources.cpus")["description"]
    assert field_schema("task", "resources.any_of[0].cpus")["exclusiveMinimum"] == 0
    assert field_schema("task", "service.readiness_probe.path")["description"]
    assert field_schema("task", "envs.ANY_NAME")["type"]
    assert field_schema("task", "config.kubernetes.kueue.local_queue_name")["type"] == "string"
    assert "Login node" in field_schema("stack", "targets.prod.host")["description"]
    for name in ("resources.nothing", "nothing", "num_nodes.x", ""):
        with pytest.raises(KeyError):
            field_schema("task", name)


def test_every_listed_field_has_a_schema() -> None:
    for name in schema_names():
        assert field_names(name) == sorted(field_names(name))
        for field in field_names(name):
            assert field_schema(name, field)
    assert "resources.accelerators" in field_names("task")
    assert "resources.any_of.infra" in field_names("task")


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("acelerators", "accelerators"),
        ("num-nodes", "num_nodes"),
        ("NUM_NODES", "num_nodes"),
        ("setpu", "setup"),
        ("xyz", None),
        ("", None),
        ("a" * 10_000, None),
    ],
)
def test_suggestions(word: str, nearest: str | None) -> None:
    names = ["setup", "num_nodes", "accelerators", "run"]
    assert suggest(word, names) == nearest
    assert suggest(word, reversed(names)) == nearest


@pytest.mark.parametrize(
    ("part", "value", "code", "message", "expected"),
    [
        (
            {"not": {"required": ["a", "b"]}},
            "{a: 1, b: 2}",
            "conflicting-fields",
            "`a` and `b` exclude each other",
            None,
        ),
        ({"const": "x"}, "y", "invalid-value", "`f` cannot be `y`", "`x`"),
        (
            {"enum": [1, "two", None]},
            "3",
            "invalid-value",
            "`f` cannot be the number 3",
            "`1` or `two`",
        ),
        # jsonschema does not say where; our schemas write `not: {}` instead.
        (False, "1", "invalid-value", "the task cannot be the number 1", None),
        (
            {"type": "number", "exclusiveMaximum": 5},
            "5",
            "out-of-range",
            "`f` must be below 5",
            None,
        ),
        ({"multipleOf": 8}, "9", "out-of-range", "`f` must be a multiple of 8", None),
        ({"minLength": 3}, "ab", "out-of-range", "`f` must have at least 3 characters", None),
        ({"maxLength": 1}, "ab", "out-of-range", "`f` must have at most 1 character", None),
        ({"minItems": 1}, "[]", "out-of-range", "`f` must not be empty", None),
        ({"maxItems": 1}, "[a, b]", "out-of-range", "`f` must have at most 1 item", None),
        (
            {"anyOf": [{"const": "a"}, {"type": "string", "pattern": "^b"}]},
            "c",
            "invalid-value",
            "`f` cannot be `c`",
            "`a` or a text that matches `^b`",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "string", "minLength": 1}]},
            "c",
            "invalid-value",
            "`f` cannot be `c`",
            "a text or a text that is not empty",
        ),
        (
            {"anyOf": [{"type": "integer"}, {"anyOf": [{"type": "array"}, {"type": "null"}]}]},
            "text",
            "wrong-type",
            "`f` must be a whole number or a list",
            "a whole number or a list",
        ),
        ({"type": "null"}, "1", "wrong-type", "`f` must be nothing", ""),
        (
            {"contains": {"const": 1}},
            "[2]",
            "invalid-value",
            "`f` cannot be a list of 1 item",
            None,
        ),
    ],
)
def test_keywords_that_the_schemas_may_come_to_use(
    part: object, value: str, code: str, message: str, expected: str | None
) -> None:
    from jsonschema import Draft202012Validator

    from compiler.source.violations import Violations

    (document,) = read_text(f"f: {value}\n", "t.yaml", Diagnostics())
    root = {"properties": {"f": part}}
    errors = Draft202012Validator(root).iter_errors(document.data)
    (item,) = Violations(document, ("task", root)).translate(errors)
    assert (item.code, item.message) == (code, message)
    assert (item.expected or None) == (expected or None)


def test_jsonschema_is_not_loaded_before_a_check() -> None:
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from compiler.diagnostics import Diagnostics\n"
        "from compiler.source import read_text, field_schema\n"
        "read_text('run: x', 't.yaml', Diagnostics()); field_schema('task', 'run')\n"
        "print([name for name in ('jsonschema', 'referencing', 'difflib', 'ruamel')"
        " if name in sys.modules])\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert answer.stdout == "[]\n"
