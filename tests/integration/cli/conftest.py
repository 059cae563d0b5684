"""What tests of Kafka's tools share: a server, ours or Apache Kafka's, and Kafka's own tools."""

from collections.abc import Iterator

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.kafka.peer import require_kafka
from tests.kafka.server import Server


@pytest.fixture(scope="session", params=kinds())
def tool_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all tools are tried on."""
    server = start_server(request.param, tmp_path_factory.mktemp("tools"), **OLD_RECORDS_STAY)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def java_tools() -> Iterator[ToolHost]:
    """Apache Kafka's command-line tools, in one JVM."""
    require_kafka()
    host = ToolHost()
    yield host
    host.close()
