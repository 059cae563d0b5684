"""One server for all tests of streams without Spark, and what they read and write with.

`OTTLA_TEST_PEER=1` runs the tests on Apache Kafka, too, `OTTLA_TEST_PEER=only` on it alone.
"""

import itertools
from collections.abc import Callable, Iterator

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.kafka.server import Server

_numbers = itertools.count(1)

CreateTopic = Callable[..., str]


@pytest.fixture(scope="session", params=kinds())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a process of its own; groups do without a first pause, and notice the dead soon."""
    settings = {
        "group_initial_rebalance_delay_ms": "0",
        "group_min_session_timeout_ms": "1000",
        **OLD_RECORDS_STAY,
    }
    server = start_server(request.param, tmp_path_factory.mktemp("server") / request.param, **settings)
    yield server
    # Its data is of no use any more.
    server.kill()


@pytest.fixture(scope="session")
def admin(broker: Server) -> Iterator[Admin]:
    """An admin client of the server."""
    with Admin(bootstrap_servers=broker.bootstrap) as client:
        yield client


@pytest.fixture
def topic(admin: Admin, request: pytest.FixtureRequest) -> CreateTopic:
    """Makes a topic: `topic(partitions=3)` returns its name."""

    def create(*, partitions: int = 1, name: str = "") -> str:
        name = name or f"{request.node.originalname}-{next(_numbers)}"
        admin.create_topics([NewTopic(name, partitions=partitions, replication_factor=1)])
        return name

    return create
