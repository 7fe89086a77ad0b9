"""Each code of reading, with its exact place."""

from __future__ import annotations

import pytest

from compiler.diagnostics import Code, Diagnostics
from compiler.diagnostics.codes import source as codes
from compiler.source import detect, read_text

# text -> (code, line, column, end column) of each finding, in order
CASES: dict[str, list[tuple[str, int, int, int]]] = {
    "": [("empty-document", 1, 1, 2)],
    "# comment\n---\n~\n": [("empty-document", 1, 1, 10)],
    "just text\n": [("not-a-map", 1, 1, 10)],
    "name:x\n": [("not-a-map", 1, 1, 7)],
    "- a\n- b\n": [("not-a-map", 1, 1, 4)],
    "12\n": [("not-a-map", 1, 1, 3)],
    "a: [1, 2\nb: 3\n": [("yaml-syntax", 2, 2, 3)],
    "a: {b: 1\n": [("yaml-syntax", 1, 9, 10)],
    "run: echo: x\n": [("yaml-syntax", 1, 10, 11)],
    "a: 'x\n": [("yaml-syntax", 1, 6, 7)],
    'a: "\\q"\n': [("yaml-syntax", 1, 5, 6)],
    "a: @x\n": [("yaml-syntax", 1, 4, 5)],
    "a: 1\nb\nc: 2\n": [("yaml-syntax", 3, 1, 2)],
    "a: &x 1\nb: &x 2\n": [("yaml-syntax", 2, 4, 5)],
    "a: !x!y 1\n": [("yaml-syntax", 1, 4, 5)],
    "a: |x\n  b\n": [("yaml-syntax", 1, 5, 6)],
    "resources:\n\tcpus: 4\n": [("tab-indentation", 2, 1, 2)],
    "resources:\n  a: 1\n  \tcpus: 4\n": [("tab-indentation", 3, 3, 4)],
    "a: *nothing\n": [("unknown-alias", 1, 4, 12)],
    "a: &x [1, *x]\n": [("recursive-alias", 1, 4, 5)],
    "a: &x\n  b: {c: *x}\n": [("recursive-alias", 1, 4, 5)],
    "a: &x\n  <<: *x\n": [("recursive-alias", 1, 4, 5)],
    "a: 1\nb: 2\na: 3\n": [("duplicate-key", 3, 1, 2)],
    "a: {x: 1, y: 2, 'x': 3, x: 4}\n": [
        ("duplicate-key", 1, 17, 20),
        ("duplicate-key", 1, 25, 26),
    ],
    "b: &b {x: 1}\na: {<<: *b, x: 2, x: 3}\n": [("duplicate-key", 2, 19, 20)],
    "a: {<<: {x: 1, x: 2}}\n": [("duplicate-key", 1, 16, 17)],
    "b: &b {x: 1, x: 2}\nc: {<<: *b}\n": [("duplicate-key", 1, 14, 15)],
    "a: {<<: &b {x: 1, x: 2}}\nc: *b\n": [("duplicate-key", 1, 19, 20)],
    "a:\n  <<:\n    <<: {z: 1, z: 1}\n    x: 1\n": [("duplicate-key", 3, 16, 17)],
    "a: {<<: [{x: 1, x: 2}, {x: 3}]}\n": [("duplicate-key", 1, 17, 18)],
    "name: g\nexecution: parallel\nname: h\n---\nname: a\nrun: x\n": [("duplicate-key", 3, 1, 5)],
    "envs: {on: 1}\n": [("key-not-text", 1, 8, 10)],
    "envs: {8080: 1}\n": [("key-not-text", 1, 8, 12)],
    "envs: {~: 1, 2024-01-01: 2}\n": [("key-not-text", 1, 8, 9), ("key-not-text", 1, 14, 24)],
    "run: {{ cmd }}\n": [("key-not-text", 1, 7, 14)],
    "? [a]\n: 1\n": [("key-not-text", 1, 3, 6)],
    "a: {<<: 1}\n": [("bad-merge", 1, 9, 10)],
    "a: {<<: [1, {b: 2}]}\n": [("bad-merge", 1, 10, 11)],
    "run: !include run.sh\n": [("unknown-tag", 1, 6, 21)],
    "a: !Ref x\nb: !Sub [y]\n": [("unknown-tag", 1, 4, 10), ("unknown-tag", 2, 4, 12)],
    "a: =\n": [("unknown-tag", 1, 4, 5)],
    "a: <<\n": [("unknown-tag", 1, 4, 6)],
    "a: !!set {x, y}\n": [("unsupported-tag", 1, 4, 16)],
    "a: !!binary aGk=\n": [("unsupported-tag", 1, 4, 17)],
    "a: !!omap [{b: 1}]\n": [("unsupported-tag", 1, 4, 19)],
    "name: 2024-01-01\n": [("date-value", 1, 7, 17)],
    "name: 2024-01-01 10:00:00\n": [("date-value", 1, 7, 26)],
    "envs: {D: 2024-13-45}\n": [("date-value", 1, 11, 21)],
    "envs: {D: 2024-01-01T10:00:00Z}\n": [("date-value", 1, 11, 31)],
    # SkyPilot makes the same text of this one.
    "envs: {D: 2024-01-01}\n": [("yaml-1-2-differs", 1, 11, 21)],
    "a: .nan\n": [("invalid-number", 1, 4, 8)],
    "a: -.inf\n": [("invalid-number", 1, 4, 9)],
    "a: 0x_\n": [("invalid-number", 1, 4, 7)],
    "a: 1.0e+999\n": [("invalid-number", 1, 4, 12)],
    "a: !!bool maybe\n": [("invalid-number", 1, 4, 16)],
    "a: !!int x\n": [("invalid-number", 1, 4, 11)],
    f"a: {'9' * 301}\n": [("invalid-number", 1, 4, 305)],
    "a: b\x07c\n": [("control-character", 1, 5, 6)],
    "a: 1\nb: \x00\n": [("control-character", 2, 4, 5)],
    "a: x\x0cy\n": [("control-character", 1, 5, 6)],
    "a: \ud800\n": [("control-character", 1, 4, 5)],
    "a: \"x\\0y\"\nb: |\n  tr '\\0' x\n": [("control-character", 1, 4, 10)],
    "a: 12:30\n": [("yaml-1-2-differs", 1, 4, 9)],
    "a:" + " {b:" * 101 + "}" * 101: [("too-deep", 1, 396, 397)],
    "set: {name: a}\n---\nset: {name: b}\n": [("several-documents", 3, 1, 4)],
    "name: v\ntype: k8s-pvc\n---\nname: w\ntype: k8s-pvc\n": [("several-documents", 4, 1, 5)],
    "run: x\n---\ntype: k8s-pvc\nname: v\n": [("mixed-kinds", 3, 1, 5)],
    "name: g\nexecution: parallel\n": [("group-without-tasks", 2, 1, 10)],
}

# Codes that need files or are bounds of their own: test_source_discovery.py, test_source_hostile.py
ELSEWHERE = {
    "not-ours",
    "file-not-found",
    "file-unreadable",
    "no-regular-file",
    "file-too-large",
    "no-input-files",
    "not-utf-8",
    "too-many-values",
    "more-findings",
}


def found_in(text: str) -> Diagnostics:
    found = Diagnostics()
    detect(read_text(text, "t.yaml", found), found)
    return found


@pytest.mark.parametrize("text", CASES)
def test_codes_and_places(text: str) -> None:
    places = [
        (item.code, item.span.line, item.span.column, item.span.end_column)
        for item in found_in(text).sorted()
        if item.span is not None
    ]
    assert places == CASES[text]


def test_every_code_of_reading_is_in_a_table() -> None:
    defined = {code.name for code in vars(codes).values() if isinstance(code, Code)}
    seen = {name for places in CASES.values() for name, *_ in places}
    assert seen | ELSEWHERE == defined


@pytest.mark.parametrize("text", CASES)
def test_messages_are_short_and_hints_say_what_to_do(text: str) -> None:
    for item in found_in(text):
        assert len(item.message) < 110
        assert item.message[0].islower() or item.message[0] in "`'\""
        assert not item.message.endswith(".")
        assert item.hint or item.expected


def test_all_faults_of_all_documents_at_once() -> None:
    text = "a: [1\n---\nb: 1\nb: 2\n---\nc: 'x\n---\nd: !x 1\n--- [\n---\ne: 1\n"
    found = Diagnostics()
    documents = read_text(text, "t.yaml", found)
    assert [(item.code, item.span.line) for item in found.sorted() if item.span] == [
        ("yaml-syntax", 2),
        ("duplicate-key", 4),
        ("yaml-syntax", 7),
        ("unknown-tag", 8),
        ("yaml-syntax", 10),
    ]
    assert [document.index for document in documents] == [1, 3, 5]
    assert documents[2].span(("e",)).line == 11


def test_a_duplicate_names_the_first_place() -> None:
    (item,) = found_in("a: 1\nb: 2\na: 3\n")
    (first,) = item.related
    assert first.span is not None
    assert (first.message, first.span.line, first.span.column) == ("first given here", 1, 1)


def test_an_unclosed_bracket_names_where_it_starts() -> None:
    (item,) = found_in("a: [1,\n  2\nb: 3\n")
    assert item.message == "the list that starts with `[` is not closed"
    assert item.related[0].span is not None
    assert item.related[0].span.location == "t.yaml:1:4"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "a:\n\tb: 1\n",
            "a tab cannot be used to indent",
            "replace the tab by blanks",
        ),
        (
            "run: {{ cmd }}\n",
            "a map cannot be a key",
            "quote text that starts with `{{`",
        ),
        (
            "envs: {on: 1}\n",
            "`on` is read as a boolean; a key must be a text",
            'quote it: "on"',
        ),
        (
            "name: 2024-01-01\n",
            "`2024-01-01` is read as a date, and no field holds dates",
            'quote it: "2024-01-01"',
        ),
        (
            "run: !include run.sh\n",
            "unknown tag `!include`",
            "remove the tag, or quote a text that starts with `!`",
        ),
        (
            "name:x\n",
            "a document must be a map of fields, this one is a text",
            "write `field: value`, with a blank after the colon",
        ),
    ],
)
def test_wording(text: str, message: str, hint: str) -> None:
    (item,) = found_in(text)
    assert (item.message, item.hint) == (message, hint)


def test_a_document_with_findings_keeps_its_other_values() -> None:
    found = Diagnostics()
    (document,) = read_text("a: 1\non: x\nb: 2024-01-01\nc: .inf\nd: !x y\na: 2\n", "t.yaml", found)
    assert document.data == {"a": 2, "on": "x", "b": "2024-01-01", "c": ".inf", "d": "y"}
    assert len(found) == 5
