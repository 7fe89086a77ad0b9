"""Folded lines fit, and joined they are what they were."""

import random

import pytest

from compiler.diagnostics.renderers.display import width as columns
from compiler.planning.views.folding import folded

WORDS = [
    "a",
    "task",
    "namespace",
    "日本語の文",
    "spec.template.spec.containers[name=task].image",
    "  ",
]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_and_everything_fits(seed):
    some = random.Random(seed)
    text = " ".join(some.choices(WORDS, k=some.randrange(1, 40)))
    width, taken = some.randrange(30, 120), some.randrange(0, 9)
    parts = folded(text, width, taken)
    assert "".join(parts) == text
    assert all(columns(part.rstrip()) <= width - taken for part in parts)
    assert all(parts)


def test_lines_break_between_words():
    assert folded("one two three four five six", 20) == ["one two three four ", "five six"]
    assert folded("x" * 45, 20) == ["x" * 20, "x" * 20, "x" * 5]
    assert folded("any length", None) == ["any length"]
    assert folded("", 20) == [""]
