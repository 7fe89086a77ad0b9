"""The texts that are mutated, and their mutations: small files of our own, one feature each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from tests.dialect.asking import Question
from tests.dialect.mutations import mutations

CASES = Path(__file__).with_name("cases")
PER_CASE = 100


@cache
def bases() -> tuple[Question, ...]:
    return tuple(question(path.stem, path.read_text()) for path in sorted(CASES.glob("*.yaml")))


def question(name: str, text: str) -> Question:
    """A file as a question: with values for variables that have none, volumes told apart."""
    documents = [item for item in yaml.safe_load_all(text) if isinstance(item, dict)]
    env = {}
    for document in documents:
        envs = document.get("envs")
        if isinstance(envs, dict):
            env |= {key: "given" for key, value in envs.items() if value is None}
    is_volume = len(documents) == 1 and "type" in documents[0] and "run" not in documents[0]
    return Question(name, text, "volume" if is_volume else "task", env)


def mutated(
    base: Question, count: int = PER_CASE, seed: str = ""
) -> Iterator[tuple[str, Question]]:
    """What was done to a base, and the question that it becomes."""
    for number, mutation in enumerate(mutations(base.text, f"{base.id}{seed}", count)):
        name = f"{base.id}#{number}"
        yield mutation.what, Question(name, mutation.text, base.kind, base.env)
