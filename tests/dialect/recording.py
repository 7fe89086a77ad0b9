"""What SkyPilot says about the texts of `bases.py`, written down for machines without it.

    python -m tests.dialect record       asks it and writes recorded/

`verdicts.txt` has a line for each text (its name, the start of its sha256, `+` accepted, `-`
refused, `!` SkyPilot itself breaks down), `meanings.json` what it means by the unchanged cases,
`layers.jsonl` what it makes of layers of configuration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.dialect import layers
from tests.dialect.asking import Answer, Question, ask
from tests.dialect.bases import bases, mutated

FOLDER = Path(__file__).with_name("recorded")
VERDICTS = FOLDER / "verdicts.txt"
MEANINGS = FOLDER / "meanings.json"
LAYERS = FOLDER / "layers.jsonl"
# What Python raises in code that did not expect the value: no rule of the dialect.
_BREAKDOWNS = ("AttributeError", "TypeError", "KeyError", "IndexError", "NotImplementedError")
_BREAKDOWNS += ("AssertionError: ", "UnboundLocalError", "RecursionError", "JSONDecodeError")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def verdict(answer: Answer) -> str:
    if answer.ok:
        return "+"
    return "!" if (answer.error or "").startswith(_BREAKDOWNS) else "-"


def questions() -> list[Question]:
    """Every case and its mutations."""
    every = []
    for base in bases():
        every += [base, *(question for _, question in mutated(base))]
    return every


def record() -> None:
    """Ask SkyPilot and write down what it says."""
    every = questions()
    answers = ask(every)
    FOLDER.mkdir(exist_ok=True)
    lines = [f"{q.id} {digest(q.text)} {verdict(answers[q.id])}\n" for q in every]
    VERDICTS.write_text("".join(lines))
    meanings = {base.id: answers[base.id].meaning for base in bases()}
    MEANINGS.write_text(json.dumps(meanings, indent=1, sort_keys=True) + "\n")
    LAYERS.write_text("".join(f"{line}\n" for line in layer_lines()))


def layer_lines() -> list[str]:
    """What SkyPilot makes of the questions of `layers.py`, a line of JSON each."""
    every = layers.questions()
    answers = ask(every)
    return [json.dumps([item.id, answers[item.id].meaning], sort_keys=True) for item in every]


@cache
def of_layers() -> Mapping[str, Any]:
    """What was written down of that, by name."""
    return dict(json.loads(line) for line in LAYERS.read_text().splitlines())


def verdicts() -> Mapping[str, tuple[str, str]]:
    """The digest and the verdict that were written down, by name."""
    found = {}
    for line in VERDICTS.read_text().splitlines():
        name, checksum, answer = line.split(" ")
        found[name] = checksum, answer
    return found


def meanings() -> Mapping[str, dict[str, Any]]:
    return json.loads(MEANINGS.read_text())
