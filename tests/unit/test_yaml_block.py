"""Canonical YAML: what is written is what is read, by every reader, and nothing else."""

import random

import pytest
import ruamel.yaml
import yaml

from compiler.rendering.yaml_block import block, document

ODD = [
    "",
    " ",
    "on",
    "No",
    "y",
    "null",
    "~",
    "true",
    "1e3",
    "1_000",
    "0o17",
    "0777",
    "12:30",
    "2026-01-02",
    ".inf",
    "=",
    "<<",
    "a: b",
    "a:",
    "a #b",
    "#",
    "- a",
    "? a",
    "! a",
    "&a",
    "*a",
    "%a",
    "@a",
    "`a",
    "|",
    ">-",
    "{a}",
    "[a]",
    "a,b",
    "'",
    '"',
    "\\n",
    "---",
    "...",
    "a\tb",
    "\ta",
    "a ",
    " a",
    "a\n",
    "a\nb",
    "\na",
    "a\n\n\n",
    "  a\n b\n",
    "a\n  \n",
    "a \nb\t\n",
    "\n",
    " \n",
    "---\na: b\n",
    "a\r\nb",
    "é",
    "日本",
    "😀",
    "\x1b[0m",
    "\x7f",
    "\x85",
    "\u2028",
    "\ufeff",
    "{{ jinja }}",
    "${HOME}",
    "nvidia.com/gpu",
]


def in_every_place(text: str) -> dict:
    return {
        "value": text,
        "map": {text or "empty": text},
        "list": [text, [text, {"inner": text}], {"first": text, "second": [text]}],
    }


@pytest.mark.parametrize("text", ODD)
def test_odd_strings_come_back(text):
    data = in_every_place(text)
    written = document(data)
    assert yaml.load(written, Loader=yaml.CSafeLoader) == data
    assert yaml.load(written, Loader=yaml.SafeLoader) == data
    assert ruamel.yaml.YAML(typ="safe", pure=True).load(written) == data


def test_any_mixture_of_odd_strings_comes_back():
    choose = random.Random(20261130)
    for _ in range(1500):
        text = "".join(choose.choices(ODD, k=choose.randint(1, 5)))
        data = in_every_place(text)
        assert yaml.load(document(data), Loader=yaml.CSafeLoader) == data, repr(text)


@pytest.mark.parametrize(
    "value", [0, -5, 1.5, 0.1, 1e22, 1.5e-7, 3.0, True, False, None, [], {}, [[]], [{}], {"a": {}}]
)
def test_other_values_come_back(value):
    assert yaml.safe_load(document({"value": value})) == {"value": value}


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", float("nan"), float("inf"), object()])
def test_what_a_manifest_cannot_hold_is_refused(bad):
    with pytest.raises(ValueError):
        document({"value": bad})


def test_keys_have_one_order_whatever_order_they_came_in():
    names = ["spec", "kind", "zebra", "metadata", "apiVersion", "alpha"]
    expected = ["apiVersion", "kind", "metadata", "spec", "alpha", "zebra"]
    for seed in range(5):
        shuffled = random.Random(seed).sample(names, len(names))
        lines = document(dict.fromkeys(shuffled, "x")).splitlines()
        assert [line.partition(":")[0] for line in lines] == expected


def test_scripts_are_literal_blocks_and_words_are_plain():
    text = block({"run.sh": "echo a\necho b\n", "image": "docker.io/library/python:3.12"}, 2)
    assert text == ("  image: docker.io/library/python:3.12\n  run.sh: |\n    echo a\n    echo b")
