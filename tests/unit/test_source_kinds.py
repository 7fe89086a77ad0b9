"""What a file is: task, pipeline, group, volume or stack."""

from __future__ import annotations

import pytest

from compiler.diagnostics import Diagnostics
from compiler.source import Kind, check, detect, read_text, schema_for
from compiler.source.kinds import classify

GROUP = "name: g\nexecution: parallel\n---\nname: a\nrun: x\n"


@pytest.mark.parametrize(
    ("text", "kind", "header", "tasks"),
    [
        ("run: x\n", Kind.TASK, False, 1),
        ("{}\n---\nrun: x\n", Kind.PIPELINE, False, 2),
        ("name: a\nexecution:\n", Kind.TASK, False, 1),
        ("name: only\n", Kind.TASK, False, 1),
        ("name: only\nexecution: serial\n", Kind.TASK, False, 1),
        ("name: p\n---\nrun: x\n---\nrun: y\n", Kind.PIPELINE, True, 2),
        ("name: p\nexecution: serial\n---\nrun: x\n", Kind.PIPELINE, True, 1),
        ("name: p\nexecution:\n---\nrun: x\n", Kind.PIPELINE, True, 1),
        ("name:\n---\nrun: x\n", Kind.PIPELINE, True, 1),
        ("run: x\n---\nrun: y\n", Kind.PIPELINE, False, 2),
        ("name: a\nrun: x\n---\nname: b\n", Kind.PIPELINE, False, 2),
        (GROUP, Kind.GROUP, True, 1),
        ("execution: parallel\n---\nrun: x\n", Kind.GROUP, True, 1),
        # A comment or an empty document before the header changes nothing.
        ("# header follows\n" + GROUP, Kind.GROUP, True, 1),
        ("---\n# nothing\n---\n" + GROUP, Kind.GROUP, True, 1),
        ("---\n---\nname: p\n---\n---\nrun: x\n---\n", Kind.PIPELINE, True, 1),
        # A field of tasks beside `execution`: its schema will refuse the field.
        ("name: a\nexecution: serial\nrun: x\n---\nrun: y\n", Kind.PIPELINE, False, 2),
        ("type: k8s-pvc\nname: v\nsize: 1Gi\n", Kind.VOLUME, False, 1),
        ("name: v\nsize: 10\n", Kind.VOLUME, False, 1),
        ("name: v\nuse_existing: true\n", Kind.VOLUME, False, 1),
        ("name: x\ntype: k8s-pvc\nrun: x\n", Kind.TASK, False, 1),
        ("set: {name: s}\ntargets: {}\n", Kind.STACK, False, 1),
        ("targets:\n  a: {kind: slurm}\nconfig: {}\nsecrets: {}\n", Kind.STACK, False, 1),
        ("targets: {}\nresources: {}\n", Kind.TASK, False, 1),
        ("config: {}\nsecrets: {}\n", Kind.TASK, False, 1),
    ],
)
def test_kinds(text: str, kind: Kind, header: bool, tasks: int) -> None:
    found = Diagnostics()
    unit = detect(read_text(text, "t.yaml", found), found)
    assert not found.has_errors
    assert (unit.kind, unit.header is not None, len(unit.documents)) == (kind, header, tasks)
    assert unit.source.path == "t.yaml"
    if unit.header is not None:
        assert unit.header.kind is kind
    elif kind is not Kind.PIPELINE:
        assert unit.documents[0].kind is kind
    if kind in (Kind.PIPELINE, Kind.GROUP):
        assert {document.kind for document in unit.documents} == {Kind.TASK}


def test_nothing_at_all_is_a_task_without_documents() -> None:
    unit = detect([], Diagnostics())
    assert (unit.kind, unit.header, unit.documents) == (Kind.TASK, None, ())


def test_fields_without_a_value_do_not_decide() -> None:
    assert classify({"targets": None, "run": "x"}) is Kind.TASK
    assert classify({"run": None, "targets": {}}) is Kind.STACK


@pytest.mark.parametrize(
    ("text", "kind", "code", "hint"),
    [
        (
            "name: g\nexecution: PARALLEL\nprimary_tasks: []\n---\nrun: x\n",
            Kind.GROUP,
            "invalid-value",
            "did you mean `parallel`?",
        ),
        (
            "name: g\nexecution: paralel\n---\nrun: x\n",
            Kind.GROUP,
            "invalid-value",
            "did you mean `parallel`?",
        ),
        (
            "name: g\nexecution: seriell\n---\nrun: x\n",
            Kind.PIPELINE,
            "invalid-value",
            "did you mean `serial`?",
        ),
    ],
)
def test_misspelt_execution_is_reported_by_the_schema_of_headers(
    text: str, kind: Kind, code: str, hint: str
) -> None:
    found = Diagnostics()
    unit = detect(read_text(text, "t.yaml", found), found)
    assert unit.kind is kind
    assert unit.header is not None
    assert not check(unit.header, schema_for(unit.header.kind), found)
    first = found.sorted()[0]
    assert (first.code, first.hint) == (code, hint)


def test_a_lone_execution_that_is_no_word_of_ours_is_an_unknown_field() -> None:
    found = Diagnostics()
    unit = detect(read_text("name: g\nexecution: soon\n", "t.yaml", found), found)
    assert unit.kind is Kind.TASK
    check(unit.documents[0], "task", found)
    assert [item.code for item in found] == ["unknown-field"]


def test_a_group_whose_tasks_are_broken_is_not_called_empty() -> None:
    found = Diagnostics()
    unit = detect(read_text("name: g\nexecution: parallel\n---\nrun: [\n", "t.yaml", found), found)
    assert unit.kind is Kind.GROUP
    assert [item.code for item in found] == ["yaml-syntax"]


def test_documents_of_other_kinds_are_left_out() -> None:
    found = Diagnostics()
    text = "run: x\n---\ntype: k8s-pvc\nname: v\n---\nrun: y\n"
    unit = detect(read_text(text, "t.yaml", found), found)
    assert unit.kind is Kind.PIPELINE
    assert [document.data for document in unit.documents] == [{"run": "x"}, {"run": "y"}]
    assert [item.code for item in found] == ["mixed-kinds"]
