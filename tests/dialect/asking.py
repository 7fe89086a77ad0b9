"""Questions for the oracle, asked in batches."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.dialect import environment

ORACLE = Path(__file__).with_name("oracle.py")


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    kind: str = "task"
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """`error` and `stage` say why SkyPilot refuses; `meaning` is None where it does."""

    ok: bool
    stage: str | None
    error: str | None
    meaning: dict[str, Any] | None


def ask(questions: Iterable[Question]) -> dict[str, Answer]:
    """SkyPilot's answers by id; raises CalledProcessError where the oracle itself fails."""
    lines = [
        json.dumps({"id": q.id, "text": q.text, "kind": q.kind, "env": dict(q.env)})
        for q in questions
    ]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [environment.python(), ORACLE],
            input="\n".join(lines),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            cwd=home,
            env={"HOME": home, "PATH": "/usr/bin:/bin", "NO_PROXY": "*"},
        )
    answers = {}
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        name = answer.pop("id")
        answers[name] = Answer(**answer)
    return answers
