"""What ours answers is what Apache Kafka answered to the same bytes, or is listed in `difference` with a reason."""

from typing import Any

import pytest

from tests.clients.server import APACHE
from tests.kafka.server import Server
from tests.parity.difference import DIFFERENCES, reason
from tests.parity.run import recorded

RECORDED = recorded()


def test_every_question_is_recorded(answers: dict[str, Any]) -> None:
    """`make parity` writes the answers down after a change of the questions."""
    assert list(answers) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_the_same_answer(parity_server: Server, answers: dict[str, Any], name: str) -> None:
    expected = RECORDED[name]["answer"]
    if reason(name) is None or APACHE in parity_server.name.lower():
        assert answers[name] == expected, RECORDED[name]["request"]
    else:
        assert answers[name] != expected, "listed as a difference, but there is none"


def test_differences_are_about_something() -> None:
    for pattern, why in DIFFERENCES.items():
        assert any(reason(name) == why for name in RECORDED), f"{pattern} matches no question"
