"""A broker, a registry and a REST proxy that the tests of a module share."""

from collections.abc import Iterator

import pytest

from tests.clients.server import kinds, start_server
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.rest_process import RestProcess
from tests.kafka.server import Server


@pytest.fixture(scope="module", params=kinds())
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


@pytest.fixture(scope="module")
def rest(kafka: Server, registry: RegistryProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestProcess]:
    """One proxy, for tests that use topics of their own. What is not there is waited for only shortly."""
    process = RestProcess(
        tmp_path_factory.mktemp("rest"), kafka.bootstrap, "-r", registry.url, producer_max_block_ms="1000"
    )
    try:
        yield process.start()
    finally:
        process.kill()
