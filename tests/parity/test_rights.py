"""Whom ours lets do what is what Apache Kafka's StandardAuthorizer lets them do, and so is what the others are told."""

from pathlib import Path

import pytest

from tests.clients.server import APACHE, kinds, start_server
from tests.parity.rights import AUTHORIZED, DIFFERENCES, ask_everything, names, recorded, surprises


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
