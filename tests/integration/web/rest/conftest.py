"""A broker, a registry and a REST proxy that all tests of the proxy share; each uses topics of its own."""

from collections.abc import Iterator

import pytest

from tests.clients.server import kinds_and_peer, start_server
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.rest_process import RestProcess
from tests.kafka.server import Server


@pytest.fixture(scope="package", params=kinds_and_peer())
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A cluster of one node: ours, or Apache Kafka with OTTLA_TEST_PEER."""
    server = start_server(request.param, tmp_path_factory.mktemp("kafka"), group_initial_rebalance_delay_ms="0")
    yield server
    server.kill()


@pytest.fixture(scope="package")
def registry(kafka: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProcess]:
    """One instance."""
    process = RegistryProcess(tmp_path_factory.mktemp("registry"), kafka.bootstrap)
    try:
        yield process.start()
    finally:
        process.kill()


@pytest.fixture(scope="package")
def rest(kafka: Server, registry: RegistryProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestProcess]:
    """One proxy. What is not there is waited for only shortly."""
    process = RestProcess(
        tmp_path_factory.mktemp("rest"), kafka.bootstrap, "-r", registry.url, producer_max_block_ms="1000"
    )
    try:
        yield process.start()
    finally:
        process.kill()
