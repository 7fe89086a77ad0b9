"""What a plain scalar is in YAML 1.1, and where YAML 1.2 would disagree."""

from __future__ import annotations

import pytest
import yaml

from compiler.diagnostics import Diagnostics
from compiler.source import read_text
from compiler.source.scalars import DIFFERS, SAME, plain_tag

# (text, value here, whether YAML 1.2 reads another value)
SCALARS = [
    ("on", True, True),
    ("yes", True, True),
    ("NO", False, True),
    ("Off", False, True),
    ("true", True, False),
    ("FALSE", False, False),
    ("y", "y", False),
    ("n", "n", False),
    ("~", None, False),
    ("null", None, False),
    ("0", 0, False),
    ("-17", -17, False),
    ("+1", 1, False),
    ("1_000", 1000, True),
    ("014", 12, True),
    ("0777", 511, True),
    ("08", "08", True),
    ("0o14", "0o14", True),
    ("0x1F", 31, False),
    ("-0x1f", -31, True),
    ("0b11", 3, True),
    ("12:30", 750, True),
    ("12:30:45", 45045, True),
    ("-1:30", -90, True),
    ("190:20:30.15", 685230.15, True),
    ("99:99", "99:99", False),
    ("1e3", "1e3", True),
    ("1e-6", "1e-6", True),
    ("1.5e3", "1.5e3", True),
    ("1.0e+3", 1000.0, False),
    ("1.0e-6", 1e-06, False),
    (".5", 0.5, False),
    ("5.", 5.0, False),
    ("-.5", "-.5", True),
    ("1_0.5", 10.5, True),
    ("4+", "4+", False),
    ("1.2.3", "1.2.3", False),
    ("H100:8", "H100:8", False),
    ("12:30pm", "12:30pm", False),
    ("name", "name", False),
]


@pytest.mark.parametrize(("text", "value", "differs"), SCALARS)
def test_value_and_warning_of_a_plain_scalar(text: str, value: object, differs: bool) -> None:
    found = Diagnostics()
    documents = read_text(f"envs: {{A: x}}\nrun: {text}\n", "t.yaml", found)
    assert documents[0].data["run"] == value
    assert type(documents[0].data["run"]) is type(value)
    assert [item.code for item in found] == (["yaml-1-2-differs"] if differs else [])
    if differs:
        span = next(iter(found)).span
        assert (span.line, span.column, span.end_column) == (2, 6, 6 + len(text))


@pytest.mark.parametrize("text", [text for text, *_ in SCALARS])
def test_tags_are_those_of_pyyaml(text: str) -> None:
    theirs = yaml.compose(f"[{text}]", Loader=yaml.CSafeLoader).value[0].tag
    ours = plain_tag(text)
    assert SAME.get(ours, ours) == theirs


def test_the_stand_ins_are_no_tags_that_a_file_can_name() -> None:
    assert not any(tag.startswith(("tag:", "!")) for tag in DIFFERS.values())


@pytest.mark.parametrize(
    "text",
    [
        "run: '12:30'",
        'run: "1e3"',
        "run: |\n  12:30",
        "run: >\n  yes",
        "run: !!str 12:30",
        "run: !!int 014",
    ],
)
def test_quoted_block_and_tagged_scalars_are_not_warned_about(text: str) -> None:
    found = Diagnostics()
    read_text(text, "t.yaml", found)
    assert not list(found)


def test_keys_are_not_warned_about() -> None:
    found = Diagnostics()
    documents = read_text("resources: {1e3: a}", "t.yaml", found)
    assert documents[0].data == {"resources": {"1e3": "a"}}
    assert not list(found)


def test_the_hint_says_how_to_write_either_meaning() -> None:
    found = Diagnostics()
    read_text("envs: {T: 12:30, B: on, E: 1e3}", "t.yaml", found)
    assert [(item.message, item.hint) for item in found] == [
        (
            "`12:30` is read as the number 750; YAML 1.2 reads another value",
            'write 750 for the value, or "12:30" for the text',
        ),
        (
            "`on` is read as the boolean true; YAML 1.2 reads a text",
            'write true for the value, or "on" for the text',
        ),
        (
            "`1e3` is read as a text; YAML 1.2 reads a number",
            'write "1e3" for the text, or a plain decimal number',
        ),
    ]
