"""Where a value stands: exact ranges, for every way of writing it."""

from __future__ import annotations

import pytest

from compiler.diagnostics import Diagnostics, SourceText, Span
from compiler.source import Document, Path, read_text

TEXT = """\
name: train   # a comment
resources: &shared
  cpus: 4+
  labels: {team: 'ml', "tier" : gold}
  any_of:
    - infra: k8s
    - {infra: aws,
       use_spot: true}
setup:
run: |
  first

    second line

envs:
  FOLDED: >-
    a
    b
  PLAIN: one
    two
  QUOTED: "x
    y"
  EMPTY: ""
  KEEP: |+2
     kept
config: *shared
service:
  <<: *shared
  cpus: 8
empty: |
list: []
"""


def document(text: str = TEXT) -> Document:
    found = Diagnostics()
    documents = read_text(text, "t.yaml", found)
    assert not found.has_errors
    return documents[0]


def corners(span: Span) -> tuple[int, int, int, int]:
    return span.line, span.column, span.end_line, span.end_column


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        (("name",), (1, 7, 1, 12), (1, 1, 1, 5)),
        # An anchor belongs to its value; the value ends with its last item.
        (("resources",), (2, 12, 8, 23), (2, 1, 2, 10)),
        (("resources", "cpus"), (3, 9, 3, 11), (3, 3, 3, 7)),
        (("resources", "labels"), (4, 11, 4, 38), (4, 3, 4, 9)),
        (("resources", "labels", "team"), (4, 18, 4, 22), (4, 12, 4, 16)),
        (("resources", "labels", "tier"), (4, 33, 4, 37), (4, 24, 4, 30)),
        (("resources", "any_of", 0), (6, 7, 6, 17), (6, 7, 6, 17)),
        (("resources", "any_of", 1, "use_spot"), (8, 18, 8, 22), (8, 8, 8, 16)),
        # An empty value has the range of its key.
        (("setup",), (9, 1, 9, 6), (9, 1, 9, 6)),
        # Block text: its lines, so that line n of the text is line n of the range.
        (("run",), (11, 3, 13, 16), (10, 1, 10, 4)),
        (("envs", "FOLDED"), (17, 5, 18, 6), (16, 3, 16, 9)),
        (("envs", "PLAIN"), (19, 10, 20, 8), (19, 3, 19, 8)),
        (("envs", "QUOTED"), (21, 11, 22, 7), (21, 3, 21, 9)),
        (("envs", "EMPTY"), (23, 10, 23, 12), (23, 3, 23, 8)),
        (("envs", "KEEP"), (25, 6, 25, 10), (24, 3, 24, 7)),
        (("empty",), (30, 8, 30, 9), (30, 1, 30, 6)),
        (("list",), (31, 7, 31, 9), (31, 1, 31, 5)),
        # Aliases and merges: where the text really stands.
        (("config", "cpus"), (3, 9, 3, 11), (3, 3, 3, 7)),
        (("service", "labels", "team"), (4, 18, 4, 22), (4, 12, 4, 16)),
        (("service", "cpus"), (29, 9, 29, 10), (29, 3, 29, 7)),
        (("service",), (28, 3, 29, 10), (27, 1, 27, 8)),
    ],
)
def test_ranges(path: Path, value: tuple[int, ...], key: tuple[int, ...]) -> None:
    found = document()
    assert corners(found.span(path)) == value
    assert corners(found.key_span(path)) == key


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        (("resources", "memory"), ("resources",)),
        (("resources", "any_of", 7), ("resources", "any_of")),
        (("resources", "any_of", -1), ("resources", "any_of")),
        (("resources", "any_of", "infra"), ("resources", "any_of")),
        (("resources", 0), ("resources",)),
        (("name", "deeper", 3), ("name",)),
        (("nothing", "at", "all"), ()),
    ],
)
def test_what_was_not_written_is_the_nearest_that_was(path: Path, nearest: Path) -> None:
    found = document()
    assert found.span(path) == found.span(nearest)
    assert found.key_span(path) == found.key_span(nearest)


def test_the_whole_document() -> None:
    found = document()
    assert corners(found.span()) == (1, 1, 31, 9)
    assert corners(found.key_span(())) == (1, 1, 1, 5)


def test_lines_of_a_literal_text_are_lines_of_the_file() -> None:
    found = document()
    start = found.span(("run",)).line
    for number, line in enumerate(found.data["run"].splitlines()):
        assert found.source.line(start + number).strip() == line.strip()


def test_positions_in_later_documents_and_after_wide_characters() -> None:
    text = "# é\n---\na: 漢字 \U0001f600\nb: x\n---\nc:\n  - 'd'\n"
    found = Diagnostics()
    first, second = read_text(text, "t.yaml", found)
    assert corners(first.span(("a",))) == (3, 4, 3, 8)
    assert corners(first.span(("b",))) == (4, 4, 4, 5)
    assert corners(second.span(("c", 0))) == (7, 5, 7, 8)


def test_a_block_that_ends_in_an_alias_ends_there() -> None:
    found = document("a: &x {k: v}\nb:\n  c: 1\n  d: *x\ne: 1\n")
    assert corners(found.span(("b",))) == (3, 3, 4, 8)
    listed = document("a: &x 1\nb:\n  - 0\n  - *x\n\nc: 1\n")
    assert corners(listed.span(("b",))) == (3, 3, 4, 7)


def test_tag_and_anchor_before_a_block_text() -> None:
    found = document("run: &r !!str |\n  echo\nname: x\n")
    assert corners(found.span(("run",))) == (2, 3, 2, 7)


def test_windows_line_ends_and_byte_order_mark() -> None:
    found = document("\ufeffname: x\r\nrun: |\r\n  echo\r\n")
    assert corners(found.span(("name",))) == (1, 7, 1, 8)
    assert corners(found.span(("run",))) == (3, 3, 3, 7)


def test_values_laid_over_answer_with_their_own_range() -> None:
    base = document()
    flag = SourceText("<command line>", "--cpus 16")
    span = Span(flag, 1, 8, 1, 10)
    over = base.overlaid(("resources", "cpus"), 16, span)
    assert over.data["resources"]["cpus"] == 16
    assert base.data["resources"]["cpus"] == "4+"
    assert over.span(("resources", "cpus")) is span
    assert over.key_span(("resources", "cpus")) is span
    assert over.span(("resources", "cpus", "below")) is span
    assert over.span(("resources", "labels")) == base.span(("resources", "labels"))
    assert over.span(("resources",)) == base.span(("resources",))
    # Aliases share text, not values.
    assert over.data["config"]["cpus"] == "4+"


def test_maps_are_made_on_the_way() -> None:
    base = document("name: x\nsetup:\n")
    span = Span(SourceText("<command line>", "--config a.b=1"), 1, 10, 1, 15)
    over = base.overlaid(("config", "kubernetes", "x"), 1, span)
    assert over.data["config"] == {"kubernetes": {"x": 1}}
    for path in (("config",), ("config", "kubernetes"), ("config", "kubernetes", "x")):
        assert over.span(path) is span
    assert over.span(("name",)) == base.span(("name",))
    # A key without a value becomes a map as well, and stays where it was written.
    over = base.overlaid(("setup", "x"), 1, span)
    assert over.data["setup"] == {"x": 1}
    assert corners(over.span(("setup",))) == (2, 1, 2, 6)


def test_the_last_overlay_wins_and_lists_keep_their_other_items() -> None:
    base = document()
    one, two = base.span(("name",)), base.span(("empty",))
    over = base.overlaid(("resources",), {"cpus": 1}, one)
    over = over.overlaid(("resources", "cpus"), 2, two)
    assert over.data["resources"] == {"cpus": 2}
    assert over.span(("resources", "cpus")) is two
    assert over.span(("resources", "memory")) is one
    over = base.overlaid(("resources", "any_of", 1, "infra"), "slurm", one)
    assert over.data["resources"]["any_of"] == [
        {"infra": "k8s"},
        {"infra": "slurm", "use_spot": True},
    ]
    with pytest.raises(KeyError):
        base.overlaid(("resources", "any_of", 2, "infra"), "x", one)
    with pytest.raises(TypeError):
        base.overlaid(("name", "x"), "x", one)
    with pytest.raises(TypeError):
        base.overlaid(("resources", "any_of", "x"), "x", one)


def test_without_a_field() -> None:
    base = document()
    less = base.without(("resources", "cpus"))
    assert "cpus" not in less.data["resources"]
    assert "cpus" in base.data["resources"]
    assert less.span(("resources", "cpus")) == base.span(("resources",))
    assert less.span(("resources", "labels")) == base.span(("resources", "labels"))
    assert base.without(("resources", "any_of", 0, "infra")).data["resources"]["any_of"][0] == {}
    assert base.without(("resources", "nothing")) is base
    span = base.span(("name",))
    again = less.overlaid(("resources", "cpus"), 2, span)
    assert again.span(("resources", "cpus")) is span
    with pytest.raises(TypeError):
        base.without(("resources", "any_of", 0))
    with pytest.raises(TypeError):
        base.without(())


def test_a_document_can_be_told_apart() -> None:
    assert repr(document()) == "<Document t.yaml#0 task>"
