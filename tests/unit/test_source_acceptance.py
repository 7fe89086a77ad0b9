"""The quick yes never says more than jsonschema does, and says it for what is right."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import pytest

from compiler.diagnostics import Diagnostics
from compiler.source import acceptance
from compiler.source.acceptance import accepts
from compiler.source.reading import read_file
from compiler.source.schemas import schema, validator

ROOT = Path(__file__).parent.parent.parent
ODD = (
    None, True, False, 0, 1, -1, 1.0, 2.5, float("nan"), float("inf"), 10**30, "", "x", "H100:8",
    "8+", "a\n", "${NAME}", "secrets:x", [], {}, [1, True], [[], []], ["a", "a"], {"a": None},
    {"name": "x"}, {"": 1}, b"bytes", ("tuple",),
)  # fmt: skip
DEFINITIONS = [
    (name, definition)
    for name in ("task", "stack", "volume", "group", "config")
    for definition in (None, *schema(name).get("$defs", {}))
]


def documents(kind: str) -> list[dict]:
    pattern = "*/stack.yaml" if kind == "stack" else "*/input/**/*.yaml"
    paths = sorted((ROOT / "tests" / "golden").glob(pattern))
    read = (document for path in paths for document in read_file(path, Diagnostics()))
    # hostile ones take too long to copy
    return [document.data for document in read if len(document.source.text) < 20_000]


def places(value: object, path: tuple = ()) -> list[tuple]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def changed(document: dict, chance: random.Random) -> object:
    """The document with one place replaced, removed or added to."""
    result = copy.deepcopy(document)
    path = chance.choice(places(result))
    if not path:
        result[chance.choice(("run", "config", "nothing", 3))] = chance.choice(ODD)
        return result
    above = result
    for step in path[:-1]:
        above = above[step]
    action = chance.randrange(4)
    if action == 0 and isinstance(above, dict):
        del above[path[-1]]
    elif action == 1 and isinstance(above, dict):
        above[chance.choice(("any_of", "name", "extra", 7))] = above[path[-1]]
    else:
        above[path[-1]] = copy.deepcopy(chance.choice(ODD))
    return result


@pytest.mark.parametrize("kind", ["task", "stack", "volume", "group"])
def test_what_is_accepted_has_no_finding(kind):
    chance = random.Random(7)
    judge = validator(kind)
    accepted = 0
    for document in documents("stack" if kind == "stack" else "task"):
        for variant in (document, *(changed(document, chance) for _ in range(12))):
            if accepts(kind, None, variant):
                accepted += 1
                assert judge.is_valid(variant), variant
    assert accepted


@pytest.mark.parametrize("kind", ["task", "stack"])
def test_what_is_right_is_accepted_at_once(kind):
    judge = validator(kind)
    right = [document for document in documents(kind) if judge.is_valid(document)]
    assert len(right) > 20
    assert [document for document in right if not accepts(kind, None, document)] == []


@pytest.mark.parametrize(("name", "definition"), DEFINITIONS)
def test_odd_values_are_judged_like_jsonschema_judges_them(name, definition):
    judge = validator(name, definition)
    for value in (*ODD, *({key: value} for key in ("name", "kind", "size") for value in ODD)):
        if accepts(name, definition, value):
            assert judge.is_valid(value), value


def test_a_keyword_that_is_not_known_is_left_to_jsonschema(monkeypatch):
    of_text = {"type": "string", "format": "date"}
    of_parts = {"type": "array", "items": {"contains": {"const": 1}}}
    monkeypatch.setattr(acceptance, "schema", lambda name: {"$defs": {"a": of_text, "b": of_parts}})
    assert not accepts("task", "a", "2024-01-01")
    assert not accepts("task", "b", [[1]])
    assert accepts("task", "b", [])


def test_a_schema_that_is_not_there_is_an_error():
    with pytest.raises(KeyError):
        accepts("nothing", None, {})
    with pytest.raises(KeyError):
        accepts("task", "nothing", {})
