"""What ours answers is what Apache Kafka answered to the same bytes, or is listed in `difference` with a reason."""

from typing import Any

import pytest

from tests.clients.compatibility import note_answer
from tests.clients.server import APACHE
from tests.kafka.server import Server
from tests.parity.difference import DIFFERENCES, reason
from tests.parity.run import SUBJECTS, differences, recorded, subject_of

RECORDED = recorded()
_FIELDS_SHOWN = 20


def test_every_question_is_recorded(answers: dict[str, Any]) -> None:
    """`make parity` writes the answers down after a change of the questions."""
    assert list(answers) == list(RECORDED)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_same_answers(parity_server: Server, answers: dict[str, Any], subject: str) -> None:
    """A failure lists the questions of the subject that are answered otherwise."""
    may_differ = APACHE not in parity_server.name.lower()
    surprises = []
    for name in (name for name in RECORDED if subject_of(name) == subject):
        surprise = _surprise(name, answers.get(name, "not asked"), may_differ=may_differ)
        note_answer(name, "failed" if surprise else "passed")
        if surprise:
            surprises.append(f"{name}: {surprise}\n  asked {RECORDED[name]['request']}")
    assert not surprises, "\n".join(surprises)


def _surprise(name: str, answer: object, *, may_differ: bool) -> str:
    """How an answer is another than was to be expected, or nothing."""
    expected = RECORDED[name]["answer"]
    if may_differ and reason(name) is not None:
        return "" if answer != expected else "listed as a difference, but there is none"
    if answer == expected:
        return ""
    return "; ".join(list(differences(expected, answer))[:_FIELDS_SHOWN]) or f"{answer}, not {expected}"


def test_differences_are_about_something() -> None:
    for pattern, why in DIFFERENCES.items():
        assert any(reason(name) == why for name in RECORDED), f"{pattern} matches no question"
