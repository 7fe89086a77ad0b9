"""The data is what PyYAML's C safe loader builds, whatever way the text is written."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
import yaml

from compiler.diagnostics import Diagnostics
from compiler.source import read_text
from compiler.source.nodes import compose, pure_loader

SNIPPETS = [
    "a: 1\nb: [1, 2, {c: d}]\n",
    "a: |\n  x\n    y\n\n  z\nb: >-\n  x\n  y\n\n  z\n",
    "a: |+\n  x\n\nb: |2\n    x\n",
    "a: 'it''s'\nb: \"\\t\\x41\\u00e9\\\n  joined\"\nc: plain\n  continued\n",
    "base: &b {x: 1, y: 2}\na: *b\nb: {<<: *b, y: 3}\n",
    "base: &b {x: 1, y: 2}\nother: &o {y: 5, z: 6}\na: {<<: [*b, *o], w: 0}\n",
    "base: &b {x: 1}\nmid: &m {<<: *b, y: 2}\na: {<<: *m, z: 3}\n",
    "a: &list [1, 2]\nb: *list\nc: [*list, *list]\n",
    "a: &text hello\nb: *text\n*text : 1\n",
    "? complex key\n: value\n",
    "a:\n- 1\n- - 2\n  - 3\n-\n",
    "a: {b, c: , d: ~}\n",
    'a: !!str 12\nb: !!int "3"\nc: !!float 1\nd: !!bool "yes"\ne: !!null ""\n',
    "a: ! 12\nb: !!map {c: 1}\nc: !!seq [1]\n",
    "# only\na: 1 # after\n# end\n",
    "%YAML 1.1\n---\na: 1\n...\n",
    '{"a": [true, null, 1.5, "x"], "b": {}}',
    "a: -x\nb: .\nc: a:b\nd: http://x/y#z\ne: '#'\nf: a #b\n",
    "accelerators: {L4:1, L4:4, A100:1}\nother: {L4, A10G, L40S}\n",
    "a: \u00fc\u4e2d\U0001f600\n\u00e9: x\n",
    "a: 0.1\nb: -0.0\nc: +.5e-3\nd: 6.02e+23\ne: 0\nf: -0\n",
]


def theirs(text: str) -> list[object]:
    return [data for data in yaml.load_all(text, Loader=yaml.CSafeLoader) if data is not None]


def ours(text: str) -> list[object]:
    found = Diagnostics()
    documents = read_text(text, "t.yaml", found)
    assert not found.has_errors, [item.message for item in found]
    return [document.data for document in documents]


@pytest.mark.parametrize("text", SNIPPETS)
def test_data_equals_the_safe_loader(text: str) -> None:
    assert ours(text) == theirs(text)
    assert list(ours(text)[0]) == list(theirs(text)[0])


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        ("<<: [*one, *two]", {"name": 1, "only_two": 2, "only_one": 1, "own": 0}),
        ("<<: [*two, *one]", {"name": 2, "only_one": 1, "only_two": 2, "own": 0}),
        ("<<: *one\n  <<: *two", {"name": 2, "only_one": 1, "only_two": 2, "own": 0}),
        ("name: 3\n  <<: [*one, *two]", {"name": 3, "only_two": 2, "only_one": 1, "own": 0}),
    ],
)
def test_precedence_of_merges(merge: str, expected: dict[str, int]) -> None:
    """As PyYAML 6.0.3 and the specification have it; 6.0.4 has a regression (#953)."""
    text = (
        "a: &one {name: 1, only_one: 1}\n"
        "b: &two {name: 2, only_two: 2}\n"
        f"c:\n  {merge}\n  own: 0\n"
    )
    data = ours(text)[0]
    assert isinstance(data, dict)
    assert data["c"] == expected
    assert list(data["c"]) == list(expected)


def test_documents_in_one_text() -> None:
    text = "---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n---\nc: 3\n"
    assert ours(text) == theirs(text) == [{"a": 1}, {"b": 2}, {"c": 3}]
    found = Diagnostics()
    assert [document.index for document in read_text(text, "t.yaml", found)] == [1, 3, 4]


def test_data_of_generated_documents_equals_the_safe_loader() -> None:
    """Random trees dumped in every style of PyYAML's own writer."""
    chance = random.Random(7)
    texts = ["x", "true", "12:30", "a b", "- x", "", "#", "é", "1.5", "~", "line\nline\n", "'", '"']

    def tree(depth: int) -> object:
        kind = chance.randrange(6 if depth else 4)
        if kind == 0:
            return chance.choice(texts)
        if kind == 1:
            return chance.choice([0, 1, -7, 10**12, True, False, None])
        if kind == 2:
            return chance.choice([0.5, -1e-9, 3.0, 1e22])
        if kind == 3:
            return "".join(chance.choice("ab:-# ,[]{}'\"\n\\&*!|>%@`é") for _ in range(12))
        if kind == 4:
            return [tree(depth - 1) for _ in range(chance.randrange(4))]
        return {f"{chance.choice(texts)}k{n}": tree(depth - 1) for n in range(chance.randrange(4))}

    styles = itertools.product((True, False, None), (None, "'", '"', "|", ">"), (20, 100))
    for flow, style, width in styles:
        for _ in range(6):
            data = {f"key{n}": tree(3) for n in range(3)}
            shared = {"again": data["key0"], "and": data["key0"]}  # dumped as an alias
            text = yaml.dump(
                data | shared,
                default_flow_style=flow,
                default_style=style,
                width=width,
                allow_unicode=True,
            )
            assert ours(text) == theirs(text)


def test_the_python_parser_gives_the_same_nodes() -> None:
    """Where PyYAML has no libyaml, files must not change meaning."""

    def shape(node: yaml.Node) -> object:
        if isinstance(node, yaml.MappingNode):
            return node.tag, [(shape(key), shape(value)) for key, value in node.value]
        if isinstance(node, yaml.SequenceNode):
            return node.tag, [shape(item) for item in node.value]
        return node.tag, node.value, node.value and node.start_mark.column

    for text in SNIPPETS:
        with_c = [shape(root) for _, root in compose(text, [])]
        assert with_c == [shape(root) for _, root in compose(text, [], pure_loader())]


def test_the_examples_of_the_repository_read_alike() -> None:
    files = sorted((Path(__file__).parents[2] / "examples").rglob("*.yaml"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert ours(text) == theirs(text)
