"""Layers of configuration meet as in SkyPilot 0.14.1, and in each scope the same value holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compiler.model import TargetKind
from compiler.model.config import scoped
from compiler.model.config_merge import merge_config
from tests.dialect import environment, layers, recording
from tests.dialect.asking import Question

QUESTIONS = layers.questions()


def _once(value: Any) -> Any:
    """Without the repetitions of list items that each layer adds in SkyPilot (quirk 27)."""
    if isinstance(value, dict):
        return {key: _once(item) for key, item in value.items()}
    if isinstance(value, list):
        items = [_once(item) for item in value]
        return [item for at, item in enumerate(items) if item not in items[:at]]
    return value


def _ours(question: Question) -> Any:
    body = json.loads(question.text)
    if question.kind == "layers":
        return merge_config(body)
    kind = TargetKind(body["cloud"])
    return scoped(
        body["config"], kind, body["region"], body["workspace"], body["task"], body["key"]
    )


def _another_meaning(question: Question) -> bool:
    """A task's own value beats that of a context or cluster here, and loses to it there."""
    if question.kind == "layers":
        return False
    body = json.loads(question.text)
    own, task = body["config"][body["cloud"]], body["task"].get(body["cloud"], {})
    place = "context_configs" if body["cloud"] == "kubernetes" else "cluster_configs"
    at_region = own.get(place, {}).get(body["region"], {})
    return body["key"] in at_region and body["key"] in task


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.id)
def test_layers_and_scopes(question: Question) -> None:
    written = recording.of_layers()[question.id]
    theirs = written if question.kind == "layers" else written["value"]
    if _another_meaning(question):
        body = json.loads(question.text)
        task = body["task"][body["cloud"]][body["key"]]
        if not isinstance(task, dict) or body["key"] == "kueue":
            assert _ours(question) == task
        return
    assert _once(_ours(question)) == _once(theirs)


@pytest.mark.long
def test_skypilot_says_the_same_of_layers() -> None:
    environment.install()
    assert recording.layer_lines() == recording.LAYERS.read_text().splitlines()
