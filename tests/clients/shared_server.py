"""Fixtures of tests with clients, foreign ones and ours: one server for all of them, and topics of their own on it."""

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.kafka.server import Server

_numbers = itertools.count(1)


@pytest.fixture(scope="session", params=kinds())
def kind(request: pytest.FixtureRequest) -> str:
    """Which server it is about: `ottla` or `apache`."""
    return str(request.param)


@pytest.fixture(scope="session")
def shared_server(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all tests of a run use, each with topics of its own."""
    settings = {"auto_create_topics_enable": "true", "num_partitions": "2", **OLD_RECORDS_STAY}
    server = start_server(kind, tmp_path_factory.mktemp(kind), **settings)
    yield server
    server.stop()


@pytest.fixture
def server(shared_server: Server) -> Iterator[Server]:
    """The server that all tests share; one that a test brought down fails that test and no other."""
    yield shared_server
    if not shared_server.is_running:
        last_words = shared_server.output()
        shared_server.kill()
        shared_server.start()
        pytest.fail(f"the server ended during the test:\n{last_words}")


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that nobody else uses; the topic itself does not exist."""
    return f"{re.sub('[^A-Za-z0-9]+', '-', request.node.name).strip('-').lower()}-{next(_numbers)}"


@pytest.fixture
def lone_server(kind: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers that only this test uses, to be stopped and killed."""
    started: list[Server] = []

    def start(name: str = "server", **settings: str) -> Server:
        started.append(start_server(kind, tmp_path / name, **settings))
        return started[-1]

    yield start
    for server in started:
        server.kill()


def show_server(item: pytest.Item, report: pytest.TestReport) -> None:
    """A failure shows what the server said last."""
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Server):
        report.sections.append((f"what {server.name} said last", server.output()))
