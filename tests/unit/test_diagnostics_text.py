"""Diagnostics for people: what a terminal shows, character for character."""

from __future__ import annotations

import re
import unicodedata

import pytest

from compiler.diagnostics import Diagnostic, Diagnostics, Related, Severity, SourceText, Span
from compiler.diagnostics.code import all_codes
from compiler.diagnostics.renderers import render
from compiler.diagnostics.renderers.display import visible, width

TEXT = """\
name: train
resources:
  # what each node needs
  cpus: 4
  acelerators: H100:8
run: |
  one
  two
  three
  four
  five
  six
"""


def at(line: int, column: int, end_line: int, end_column: int, text: str = TEXT) -> Span:
    return Span(SourceText("task.yaml", text), line, column, end_line, end_column)


def diagnostic(span: Span | None, message: str = "it is wrong", **details: object) -> Diagnostic:
    fields: dict[str, object] = {"code": "some-code", "severity": Severity.ERROR, **details}
    return Diagnostic(message=message, span=span, **fields)  # type: ignore[arg-type]


def shown(span: Span | None, text_width: int = 100, **details: object) -> str:
    return render([diagnostic(span, **details)], width=text_width)


def test_a_complete_block() -> None:
    source = SourceText("task.yaml", TEXT)
    item = Diagnostic(
        code="unknown-field",
        severity=Severity.ERROR,
        message="unknown field `acelerators` in `resources`",
        span=Span(source, 5, 3, 5, 14),
        found="`acelerators`",
        expected="a field of `resources`",
        hint="did you mean `accelerators`?",
        context=Span(source, 2, 1, 5, 14),
        related=(Related("the name is given here", Span(source, 1, 1, 1, 5)), Related("see docs")),
        target="prod",
    )
    assert render([item]) == (
        "error[unknown-field] on prod: unknown field `acelerators` in `resources`\n"
        " --> task.yaml:5:3\n"
        "  |\n"
        "2 | resources:\n"
        "...\n"
        "5 |   acelerators: H100:8\n"
        "  |   ^^^^^^^^^^^\n"
        "  = found: `acelerators`\n"
        "  = expected: a field of `resources`\n"
        "  = hint: did you mean `accelerators`?\n"
        "  = note: the name is given here\n"
        " --> task.yaml:1:1\n"
        "  |\n"
        "1 | name: train\n"
        "  | ----\n"
        "  = note: see docs\n"
    )


def test_without_a_place_and_several_at_once() -> None:
    items = [
        diagnostic(None, "first", severity=Severity.NOTE),
        diagnostic(None, "second", hint="h"),
    ]
    assert render(items) == "note[some-code]: first\n\nerror[some-code]: second\n  = hint: h\n"


def test_nothing_to_say() -> None:
    assert render([]) == render([], "concise") == render([], "github") == ""


def test_a_collection_is_sorted_and_a_list_keeps_its_order() -> None:
    source = SourceText("t", "a\nb\n")
    later = diagnostic(Span(source, 2, 1, 2, 2), "later")
    early = diagnostic(Span(source, 1, 1, 1, 2), "early")
    assert render(Diagnostics([later, early]), "concise").splitlines() == [
        "t:1:1: error[some-code]: early",
        "t:2:1: error[some-code]: later",
    ]
    assert render([later, early], "concise").startswith("t:2:1")


def test_several_lines_are_underlined_and_long_ranges_cut() -> None:
    assert shown(at(7, 3, 9, 8)) == (
        "error[some-code]: it is wrong\n"
        " --> task.yaml:7:3\n"
        "  |\n"
        "7 |   one\n"
        "  |   ^^^\n"
        "8 |   two\n"
        "  |   ^^^\n"
        "9 |   three\n"
        "  |   ^^^^^\n"
    )
    assert shown(at(7, 3, 12, 6)) == (
        "error[some-code]: it is wrong\n"
        "  --> task.yaml:7:3\n"
        "   |\n"
        " 7 |   one\n"
        "   |   ^^^\n"
        " 8 |   two\n"
        "   |   ^^^\n"
        "...\n"
        "12 |   six\n"
        "   |   ^^^\n"
    )


def test_a_range_that_ends_before_a_line_does_not_show_that_line() -> None:
    assert "8 |" not in shown(at(7, 3, 8, 1))


def test_an_empty_range_and_one_behind_the_line_still_have_a_caret() -> None:
    assert "1 | name: train\n  |       ^\n" in shown(at(1, 7, 1, 7))
    assert "1 | name: train\n  |            ^\n" in shown(at(1, 12, 1, 13))


def test_a_place_in_no_text_shows_only_its_location() -> None:
    assert shown(at(1, 1, 1, 2, text="")) == ("error[some-code]: it is wrong\n --> task.yaml:1:1\n")


def test_wide_characters_tabs_and_marks_are_aligned() -> None:
    line = "漢字\tx: e\u0301 \U0001f600 [nvidia.com/gpu]"
    start = line.index("[") + 1
    block = shown(at(1, start, 1, len(line) + 1, text=line)).splitlines()
    text, carets = block[-2].removeprefix("1 | "), block[-1].removeprefix("  | ")
    assert text == "漢字    x: e\u0301 \U0001f600 [nvidia.com/gpu]"
    assert carets.count("^") == len("[nvidia.com/gpu]")
    before = text[: text.index("[")]
    columns = sum(
        0 if unicodedata.combining(char) else 2 if char in "漢字\U0001f600" else 1
        for char in before
    )
    assert carets.index("^") == columns == 16


def test_tabs_go_to_the_next_stop() -> None:
    assert "1 | a   b   c\n  |     ^\n" in shown(at(1, 3, 1, 4, text="a\tb\tc"))


def test_control_and_reordering_characters_are_made_visible() -> None:
    text = "a: \x1b[31mred\u202e\x07\u2066"
    block = shown(
        at(1, 4, 1, len(text) + 1, text=text),
        message="bad \x1b[0m\nvalue\r\t",
        hint="\u200fsee",
    )
    assert "error[some-code]: bad \\x1b[0m\\nvalue\\r\\t\n" in block
    assert "1 | a: \\x1b[31mred\\u202e\\x07\\u2066\n" in block
    assert "= hint: \\u200fsee\n" in block
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", block)


@pytest.mark.parametrize(
    ("text", "result", "columns"),
    [
        ("plain", "plain", 5),
        ("é漢", "é漢", 3),
        ("a\x00b\x7f", "a\\x00b\\x7f", 10),
        ("\ud800", "\\ud800", 6),
        ("x\u2028y", "x\\u2028y", 8),
        ("e\u0301", "e\u0301", 1),
    ],
)
def test_visible_text_and_its_columns(text: str, result: str, columns: int) -> None:
    assert visible(text) == result
    assert width(result) == columns


@pytest.mark.parametrize("start", [1, 50, 300, 2000, 3990])
@pytest.mark.parametrize("length", [1, 12, 400])
@pytest.mark.parametrize("columns", [40, 80])
def test_long_lines_are_cut_around_the_range(start: int, length: int, columns: int) -> None:
    line = "".join(chr(97 + n % 26) for n in range(4000))
    block = shown(at(1, start, 1, min(start + length, 4001), text=line), columns).splitlines()
    text, carets = block[-2].removeprefix("1 | "), block[-1].removeprefix("  | ")
    assert all(len(row) <= columns for row in block)
    under = text[carets.index("^") : carets.rindex("^") + 1].rstrip("…")
    assert under
    assert line[start - 1 :].startswith(under)
    assert min(length, 4001 - start, columns // 3) <= len(under) <= length


def test_long_notes_are_wrapped_below_themselves() -> None:
    block = shown(None, 40, hint="one two three four five six seven eight nine ten")
    assert block == (
        "error[some-code]: it is wrong\n"
        "  = hint: one two three four five six\n"
        "          seven eight nine ten\n"
    )


def test_colours_are_only_added_when_asked_for() -> None:
    item = diagnostic(at(1, 1, 1, 5), hint="do it", related=(Related("here", at(2, 1, 2, 2)),))
    for severity in Severity:
        painted = render([diagnostic(at(1, 1, 1, 5), severity=severity)], color=True)
        assert "\x1b[" in painted
    painted = render([item], color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render([item])
    assert painted.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9][0-9;]*m", painted))


def test_markup_of_other_libraries_is_plain_text() -> None:
    text = "resources: {labels: {'[red]x[/red]': '{{y}}'}}  # <b>&amp; %s {0}"
    block = shown(at(1, 1, 1, 10, text=text), message="[bold]no[/bold] %d {x}")
    assert text in block
    assert "error[some-code]: [bold]no[/bold] %d {x}\n" in block


def test_hidden_ranges_are_masked_without_telling_their_length() -> None:
    def block(secret: str) -> str:
        source = SourceText("t.yaml", f"A: {secret} # note\nB: x")
        source.hide(Span(source, 1, 4, 1, 4 + len(secret)))
        return shown(Span(source, 1, 4 + len(secret) + 1, 1, 4 + len(secret) + 7))

    assert "1 | A: *** # note\n  |        ^^^^^^\n" in block("x")
    assert "1 | A: *** # note\n  |        ^^^^^^\n" in block("a much longer secret")


def test_hidden_ranges_over_several_lines_and_in_long_lines() -> None:
    source = SourceText("t.yaml", "A: |\n  first\n  second\nB: x")
    source.hide(Span(source, 2, 3, 3, 9))
    block = shown(Span(source, 1, 1, 4, 2))
    assert "first" not in block
    assert "second" not in block
    assert "2 |   ***\n" in block
    assert "3 | ***\n" in block
    long = "A: " + "s3cr3t" * 100 + ", B: x"
    source = SourceText("t.yaml", long)
    source.hide(Span(source, 1, 4, 1, 604))
    for start in (1, 300, 606):
        assert "s3cr3t" not in shown(Span(source, 1, start, 1, start + 1), 60)


def test_unknown_formats() -> None:
    with pytest.raises(ValueError, match="unknown format 'xml'; there are text, concise, json"):
        render([], "xml")


def test_what_is_quoted_at_great_length_is_cut() -> None:
    code = next(iter(all_codes().values()))
    name = "a" * 500
    found = code.at(None, f"the value of `{name}` is a list in `{'b' * 120}`")
    assert found.message == f"the value of `{'a' * 119}…` is a list in `{'b' * 120}`"
    assert code.at(None, "x", hint=f"give `--env {name}=VALUE`").hint == (
        f"give `--env {'a' * 113}…`"
    )
    assert code.at(None, f"{name} without quotes").message == f"{name} without quotes"
