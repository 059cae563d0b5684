"""A registry for each test, and clients of it: ours and confluent-kafka's."""

from collections.abc import Iterator

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from ottla.client.registry.registry import SchemaRegistry
from tests.integration.client.serde.registry_server import State, registry_server


@pytest.fixture
def running() -> Iterator[tuple[str, State]]:
    with registry_server() as started:
        yield started


@pytest.fixture
def state(running: tuple[str, State]) -> State:
    return running[1]


@pytest.fixture
def registry(running: tuple[str, State]) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(url=running[0], retries_wait_ms=1) as client:
        yield client


@pytest.fixture
def theirs(running: tuple[str, State]) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": running[0]}) as client:
        yield client


@pytest.fixture
def their_reader(running: tuple[str, State]) -> Iterator[SchemaRegistryClient]:
    """A client that registered nothing: one that did takes the answer's text for the `serialized` form it sent."""
    with SchemaRegistryClient({"url": running[0]}) as client:
        yield client
