"""triplane takes and refuses what SkyPilot 0.14.1 does, and means the same by what both take.

The answers of SkyPilot were written down (`recording.py`); the long mode asks it anew, and
about more.
"""

from __future__ import annotations

import pytest

from tests.dialect import environment, recording
from tests.dialect.asking import Question, ask
from tests.dialect.bases import bases, mutated
from tests.dialect.compare import differences
from tests.dialect.judging import judge
from tests.dialect.purposes import is_on_purpose

FURTHER = 200
"""Mutations of a case in the long mode, beside those whose answers are written down."""


ANOTHER_MEANING = {
    "by-memory": "tasks[0].resources",
    "service": "tasks[0].service.headers",
}
"""Fields of cases under "Another meaning" in docs/dialect.md."""


LEFT_TO_TARGETS = (
    "labels are invalid",
    "Invalid label key",
    "features are not supported",
    "Invalid instance type",
    "is not of type 'string'. Check problematic field(s): $.size",
)
"""What SkyPilot says of a file that triplane refuses for a target only, or takes on purpose."""


def disagreement(question: Question, verdict: str, error: str = "") -> str | None:
    """What is wrong, in a line; None where both agree, or differ as docs/dialect.md says."""
    ours = judge(question.text, question.env)
    if ours.accepted:
        if verdict != "-" or any(words in error for words in LEFT_TO_TARGETS):
            return None
        return f"{question.id}: taken, and SkyPilot refuses it"
    if verdict != "+" or is_on_purpose(ours.errors):
        return None
    said = "; ".join(f"{error.code}: {error.message}" for error in ours.errors)
    return f"{question.id}: refused, and SkyPilot takes it: {said}"


@pytest.mark.parametrize("base", bases(), ids=lambda base: base.id)
def test_cases_are_right_for_both(base: Question) -> None:
    """Cases that one of the two refuses would make their mutations say little."""
    assert recording.verdicts()[base.id][1] == "+"
    assert judge(base.text, base.env).accepted


@pytest.mark.parametrize("base", bases(), ids=lambda base: base.id)
def test_verdicts_agree(base: Question) -> None:
    known = recording.verdicts()
    found = []
    for what, question in mutated(base):
        checksum, verdict = known[question.id]
        assert checksum == recording.digest(question.text), "run `python -m tests.dialect record`"
        said = disagreement(question, verdict)
        if said:
            found.append(f"{said}\n({what})\n{question.text}")
    assert found == []


def test_there_are_enough_mutations() -> None:
    names = [name for name in recording.verdicts() if "#" in name]
    assert len(names) >= 2000
    accepted = sum(recording.verdicts()[name][1] == "+" for name in names)
    assert accepted > len(names) / 5


@pytest.mark.parametrize(
    "base", [base for base in bases() if base.kind == "task"], ids=lambda base: base.id
)
def test_meaning_agrees(base: Question) -> None:
    meaning = judge(base.text, base.env).meaning
    assert meaning is not None
    found = differences(recording.meanings()[base.id], meaning)
    assert [line for line in found if not line.startswith(ANOTHER_MEANING.get(base.id, "-"))] == []


@pytest.mark.parametrize(
    "base", [base for base in bases() if base.kind == "volume"], ids=lambda base: base.id
)
def test_meaning_of_volumes_agrees(base: Question) -> None:
    meaning = judge(base.text, base.env).meaning
    assert meaning == {"kind": "volume", **recording.meanings()[base.id]}


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_skypilot_says_what_was_written_down_and_agrees_about_more() -> None:
    environment.install()
    more = [question for base in bases() for _, question in mutated(base, FURTHER, seed="/long")]
    renamed = [Question(f"{q.id}/long", q.text, q.kind, q.env) for q in more]
    answers = ask([*recording.questions(), *renamed])
    written = {name: verdict for name, (_, verdict) in recording.verdicts().items()}
    assert {name: recording.verdict(answers[name]) for name in written} == written
    found = []
    for question in [*recording.questions(), *renamed]:
        answer = answers[question.id]
        said = disagreement(question, recording.verdict(answer), answer.error or "")
        ours = judge(question.text, question.env).meaning
        if said:
            found.append(f"{said}\n{answer.error}\n{question.text}")
        elif answer.ok and ours is not None and question.kind == "task":
            assert answer.meaning is not None
            if ours["kind"] in ("task", "pipeline", "group"):
                other = ANOTHER_MEANING.get(question.id.partition("#")[0], "-")
                lines = differences(answer.meaning, ours)
                found += [line for line in lines if not line.startswith(other)]
    assert found == []
