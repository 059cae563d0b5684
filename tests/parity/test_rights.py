"""Whom ours lets do what is what Apache Kafka's StandardAuthorizer lets them do, and so is what the others are told."""

from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.broker.request.api_table import BROKER_SERVED, CONTROLLER_SERVED, ApiTable
from ottla.protocol.api_key import ApiKey
from tests.clients.server import APACHE, kinds, start_server
from tests.parity.right_question import QUESTIONS, Facts, Question
from tests.parity.right_question_controller import CONTROLLER_QUESTIONS
from tests.parity.rights import AUTHORIZED, DIFFERENCES, ask_everything, names, recorded, surprises

_FACTS = Facts(Uuid(bytes(16)), Uuid(bytes(16)), 1)
_LOGGING_IN = {ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE}
_BY_OWNER = {
    ApiKey.CREATE_DELEGATION_TOKEN,
    ApiKey.RENEW_DELEGATION_TOKEN,
    ApiKey.EXPIRE_DELEGATION_TOKEN,
    ApiKey.DESCRIBE_DELEGATION_TOKEN,
}
"""Those who ask have to have logged in: see `tests/integration/security/test_delegation_token.py`."""
_UNANSWERED = {ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS}
"""Apache Kafka leaves those who may not without an answer, so they are asked about at a broker alone."""


@pytest.mark.parametrize(
    ("table", "questions", "others"),
    [
        (BROKER_SERVED, QUESTIONS, _LOGGING_IN | _BY_OWNER | {ApiKey.PUSH_TELEMETRY}),
        (CONTROLLER_SERVED, CONTROLLER_QUESTIONS, _LOGGING_IN | _BY_OWNER | _UNANSWERED),
    ],
    ids=["broker", "controller"],
)
def test_every_call_is_asked_about(table: ApiTable, questions: list[Question], others: set[ApiKey]) -> None:
    assert table.served.keys() - {question.make(_FACTS).api for question in questions} == others


def test_every_question_is_recorded() -> None:
    """`python -m tests.parity.rights --record` writes the answers down after a change of the questions."""
    assert names() == list(recorded())


@pytest.mark.parametrize("kind", kinds())
def test_the_same_answers(kind: str, tmp_path: Path) -> None:
    """A failure lists the questions that are answered otherwise."""
    server = start_server(kind, tmp_path, **AUTHORIZED)
    try:
        answers = ask_everything(server)
    finally:
        server.stop()
    known = recorded()
    different = {name: found for name, answer in answers.items() if (found := surprises(known[name], answer))}
    expected = set() if kind == APACHE else set(DIFFERENCES)
    assert different.keys() == expected, "\n".join(f"{name}: {found}" for name, found in different.items())
