"""A broker and a registry that the tests of a module share."""

from collections.abc import Iterator

import pytest

from tests.clients.server import kinds_and_peer, start_server
from tests.integration.web.registry_process import RegistryProcess
from tests.kafka.server import Server


@pytest.fixture(scope="module", params=kinds_and_peer())
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A cluster of one node: ours, or Apache Kafka with OTTLA_TEST_PEER."""
    server = start_server(request.param, tmp_path_factory.mktemp("kafka"))
    yield server
    server.kill()


@pytest.fixture(scope="module")
def registry(kafka: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProcess]:
    """One instance, for tests that use subjects of their own."""
    process = RegistryProcess(tmp_path_factory.mktemp("registry"), kafka.bootstrap)
    try:
        yield process.start()
    finally:
        process.kill()
