"""Values of secrets never show: not in messages, not in quoted lines, in no format."""

from __future__ import annotations

import pytest

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.renderers import FORMATS, render
from compiler.source import check, detect, read_text, schema, schema_for
from compiler.source.hiding import seems_secret

SECRET = "hunter2"

TEXTS = {
    "wrong type below": "secrets:\n  TOKEN: [hunter2]\n",
    "map below": "secrets:\n  TOKEN: {value: hunter2}\n",
    "on the line of an error": "secrets: {TOKEN: hunter2, 1X: a}\n",
    "neighbour of an error": "secrets: {TOKEN: hunter2, OTHER: [x]}\n",
    "list of values": "secrets: [hunter2]\n",
    "list of assignments": "secrets:\n  - TOKEN=hunter2\n",
    "assignment as a key": "secrets:\n  TOKEN=hunter2:\n",
    "plain text": "secrets: hunter2\n",
    "unknown tag": "secrets:\n  TOKEN: !hunter2 x\n",
    "tag as value": "secrets:\n  TOKEN: !hunter2\n",
    "alias as value": "secrets:\n  TOKEN: *hunter2\n",
    "duplicate": "secrets:\n  TOKEN: hunter2\n  TOKEN: hunter2\n",
    "quoted": "secrets:\n  TOKEN: 'hunter2\n",
    "block text": "secrets:\n  TOKEN: |\n    a\n    hunter2\n  X: [1]\n",
    "broken block text": "secrets:\n  TOKEN: |\n    hunter2\n   b: [\n",
    "tab": "secrets:\n\tTOKEN: hunter2\n",
    "broken flow map": "secrets: {TOKEN: hunter2\nrun: x\n",
    "broken later": "secrets:\n  TOKEN: hunter2\n  OTHER: a: hunter2\n",
    "second document": "run: x\n---\nsecrets:\n  TOKEN: hunter2 [\n  B: [hunter2]\n",
    "merged": "x-base: &base {TOKEN: [hunter2]}\nsecrets: {<<: *base}\n",
    "registry password": "envs: {SKYPILOT_DOCKER_PASSWORD: [hunter2]}\n",
    "misspelt": "secret: {TOKEN: hunter2}\n",
    "misspelt with letters left out": "secrts:\n  TOKEN: hunter2\n  A: [hunter2]\n",
    "in upper case": "Secrets: {TOKEN: {a: hunter2}}\n",
    "called by another word": "db_password: hunter2\nCREDENTIALS: [hunter2]\n",
    "misspelt variables": "env: {TOKEN: hunter2}\nenvironment: {TOKEN: hunter2}\n",
    "misspelt list": "secrest: [TOKEN=hunter2]\n",
    "misspelt, a date": "secret: {TOKEN: 2023-03-04, B: hunter2}\n",
    "misspelt and broken": "secretes:\n  TOKEN: hunter2\n  b: [x\nrun: a: b\n",
    "misplaced": "resources: {secrets: {TOKEN: hunter2}}\n",
    "misplaced and misspelt": "resources: {secret: {TOKEN: hunter2}, env: {A: hunter2}}\n",
    "managed, with a value": "managed_secrets: {TOKEN: hunter2}\n",
    "list of managed ones": "managed_secrets: [TOKEN=hunter2, 5]\n",
    "in a stack": "set: {name: s}\ntargets: {}\nsecrets: {TOKEN: hunter2}\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("format", FORMATS)
def test_secrets_are_never_shown(name: str, format: str) -> None:
    found = Diagnostics()
    unit = detect(read_text(TEXTS[name], "t.yaml", found), found)
    for document in unit.documents:
        check(document, schema_for(document.kind), found)
    assert found.has_errors
    assert SECRET not in render(found, format)


def test_scalars_that_yaml_1_2_reads_otherwise_are_not_quoted() -> None:
    found = Diagnostics()
    read_text("secrets: {PIN: 11:22, DAY: 2023-03-04, N: 1.0e+987}\n", "t.yaml", found)
    assert len(found) == 3
    for format in FORMATS:
        shown = render(found, format)
        assert not any(text in shown for text in ("11:22", "682", "2023-03-04", "987"))


def test_the_text_around_stays_readable() -> None:
    found = Diagnostics()
    (document,) = read_text(TEXTS["neighbour of an error"], "t.yaml", found)
    check(document, "task", found)
    assert render(found) == (
        "error[wrong-type]: `secrets.OTHER` must be a text, a number or a boolean\n"
        " --> t.yaml:1:34\n"
        "  |\n"
        "1 | secrets: {TOKEN: ***, OTHER: ***}\n"
        "  |                              ^^^\n"
        "  = found: a list\n"
        "  = expected: a text, a number, true or false\n"
    )


def test_no_field_is_taken_for_a_misspelt_one() -> None:
    for kind in ("task", "volume", "group", "stack"):
        assert [name for name in schema(kind)["properties"] if seems_secret(name)] == []


def test_what_is_called_like_secrets_is_masked_value_by_value() -> None:
    found = Diagnostics()
    (document,) = read_text("env: {A: hunter2, B: c}\nrun: x\n", "t.yaml", found)
    check(document, "task", found)
    assert "1 | env: {A: ***, B: ***}\n" in render(found)


def test_where_a_stack_keeps_its_secrets_is_no_secret() -> None:
    text = "set: {name: s}\ntargets: {a: {kind: slurm}}\nsecrets: {TOKEN: {a: {fil: ~/.hf}}}\n"
    found = Diagnostics()
    (document,) = read_text(text, "t.yaml", found)
    check(document, "stack", found)
    assert "{fil: ~/.hf}" in render(found)


def test_names_and_references_stay_visible() -> None:
    text = "secrets: ['secrets:HF_TOKEN', 'secrets:bad name']\n"
    found = Diagnostics()
    (document,) = read_text(text, "t.yaml", found)
    check(document, "task", found)
    shown = render(found)
    assert "secrets:HF_TOKEN" in shown
    assert "bad name" not in shown
