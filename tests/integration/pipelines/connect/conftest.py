"""A broker that does not wait for more members when a group begins: tests of sinks have one task or two."""

from collections.abc import Iterator

import pytest

from ottla.client.admin.blocking_admin import Admin
from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.kafka.server import Server


@pytest.fixture(scope="session", params=kinds())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in a process of its own; `bootstrap` is what clients connect to."""
    settings = {"group_initial_rebalance_delay_ms": "0", **OLD_RECORDS_STAY}
    server = start_server(request.param, tmp_path_factory.mktemp("connect-server") / request.param, **settings)
    yield server
    server.kill()


@pytest.fixture(scope="session")
def admin(broker: Server) -> Iterator[Admin]:
    """An admin client of this server: pytest would share that of the folder above, which is another's."""
    with Admin(bootstrap_servers=broker.bootstrap) as client:
        yield client
