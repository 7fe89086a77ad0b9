"""Diagnostics for machines: JSON, SARIF, GitHub workflow commands, and one line each."""

from __future__ import annotations

import json

from compiler.diagnostics import Diagnostic, Related, Severity, SourceText, Span, all_codes
from compiler.diagnostics.renderers import render

SOURCE = SourceText("dir one/täsk.yaml", "name: x\nrun: |\n  a\n  b\n")
ERROR = Diagnostic(
    code="wrong-type",
    severity=Severity.ERROR,
    message="`run` is 100% wrong,\nreally: yes",
    span=Span(SOURCE, 1, 7, 1, 8),
    found="a list",
    expected="a text",
    hint="quote it",
    related=(Related("first here", Span(SOURCE, 2, 1, 2, 4)), Related("no place")),
    target="prod",
)
WARNING = Diagnostic(
    code="yaml-1-2-differs",
    severity=Severity.WARNING,
    message="differs",
    span=Span(SOURCE, 3, 3, 4, 4),
)
NOTE = Diagnostic(code="made-up", severity=Severity.NOTE, message="no place", span=None)
STDIN = Diagnostic(
    code="wrong-type",
    severity=Severity.ERROR,
    message="from a pipe",
    span=Span(SourceText("<stdin>", "x"), 1, 1, 1, 2),
)
ALL = [ERROR, WARNING, NOTE, STDIN]


def test_json_has_a_version_and_every_field() -> None:
    document = json.loads(render(ALL, "json"))
    assert document["format_version"] == "1.0"
    first, second, third, fourth = document["diagnostics"]
    assert first == {
        "code": "wrong-type",
        "severity": "error",
        "message": "`run` is 100% wrong,\nreally: yes",
        "span": {
            "file": "dir one/täsk.yaml",
            "line": 1,
            "column": 7,
            "end_line": 1,
            "end_column": 8,
        },
        "found": "a list",
        "expected": "a text",
        "hint": "quote it",
        "target": "prod",
        "related": [
            {
                "message": "first here",
                "span": {
                    "file": "dir one/täsk.yaml",
                    "line": 2,
                    "column": 1,
                    "end_line": 2,
                    "end_column": 4,
                },
            },
            {"message": "no place", "span": None},
        ],
    }
    assert (second["severity"], second["found"], second["related"]) == ("warning", None, [])
    assert (third["severity"], third["span"]) == ("note", None)
    assert fourth["span"]["file"] == "<stdin>"
    assert json.loads(render([], "json")) == {"format_version": "1.0", "diagnostics": []}


def test_sarif_has_the_shape_of_2_1_0() -> None:
    log = json.loads(render(ALL, "sarif"))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert driver["name"] == "triplane"
    assert [rule["id"] for rule in driver["rules"]] == list(all_codes())
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in ("error", "warning", "note")
    error, warning, note, stdin = run["results"]
    assert driver["rules"][error["ruleIndex"]]["id"] == error["ruleId"] == "wrong-type"
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note", "error"]
    assert error["message"]["text"].startswith("prod: `run` is 100% wrong,")
    assert "hint: quote it" in error["message"]["text"]
    place = error["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "dir%20one/t%C3%A4sk.yaml"
    assert place["region"] == {"startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 8}
    (related,) = error["relatedLocations"]
    assert related["message"]["text"] == "first here"
    assert related["physicalLocation"]["region"]["startLine"] == 2
    assert warning["locations"][0]["physicalLocation"]["region"]["endLine"] == 4
    assert "locations" not in note
    assert "ruleIndex" not in note
    assert stdin["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "%3Cstdin%3E"


def test_sarif_of_an_absolute_path_is_a_file_address() -> None:
    span = Span(SourceText("/etc/a b.yaml", "x"), 1, 1, 1, 2)
    item = Diagnostic(code="wrong-type", severity=Severity.ERROR, message="m", span=span)
    result = json.loads(render([item], "sarif"))["runs"][0]["results"][0]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "file:///etc/a%20b.yaml"


def test_github_commands_are_one_line_each_and_escaped() -> None:
    assert render(ALL, "github").splitlines() == [
        "::error file=dir one/täsk.yaml,line=1,endLine=1,col=7,endColumn=7,title=wrong-type::"
        "prod: `run` is 100%25 wrong,\\nreally: yes%0Afound: a list%0Aexpected: a text"
        "%0Ahint: quote it",
        "::warning file=dir one/täsk.yaml,line=3,endLine=4,title=yaml-1-2-differs::differs",
        "::notice title=made-up::no place",
        "::error title=wrong-type::from a pipe",
    ]


def test_github_properties_cannot_be_broken_out_of() -> None:
    span = Span(SourceText("a,line=9::x%\n.yaml", "x"), 1, 1, 1, 2)
    item = Diagnostic(code="wrong-type", severity=Severity.ERROR, message="m", span=span)
    assert render([item], "github").startswith(
        "::error file=a%2Cline=9%3A%3Ax%25%0A.yaml,line=1,endLine=1,col=1,"
    )


def test_concise_is_one_line_each() -> None:
    assert render(ALL, "concise").splitlines() == [
        "dir one/täsk.yaml:1:7: error[wrong-type] on prod: `run` is 100% wrong,\\nreally: yes "
        "(quote it)",
        "dir one/täsk.yaml:3:3: warning[yaml-1-2-differs]: differs",
        "note[made-up]: no place",
        "<stdin>:1:1: error[wrong-type]: from a pipe",
    ]


def test_every_code_is_documented() -> None:
    for name, code in all_codes().items():
        assert name == code.name == name.lower()
        assert all(part.isalnum() for part in name.split("-"))
        assert code.what
        assert code.why
        assert code.fix
