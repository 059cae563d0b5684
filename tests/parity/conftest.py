"""One server for all questions, asked once."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.server import kinds, start_server
from tests.kafka.server import Server
from tests.parity.run import SETTINGS, ask_everything


@pytest.fixture(scope="session", params=kinds())
def parity_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that is asked."""
    server = start_server(str(request.param), tmp_path_factory.mktemp("parity"), **SETTINGS)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def answers(parity_server: Server) -> dict[str, Any]:
    """Its answers, by the questions' names."""
    return {name: answer for name, (answer, _) in ask_everything(parity_server).items()}
