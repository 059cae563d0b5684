"""What all tests with foreign clients share: one server for all of them, and topics of their own on it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.compatibility import note, write_if_wanted
from tests.clients.shared_server import kind, lone_server, server, shared_server, show_server, topic
from tests.kafka.peer import require_kafka

__all__ = ["kind", "lone_server", "server", "shared_server", "topic"]


def pytest_configure(config: pytest.Config) -> None:
    """Warnings are errors where they are ours: these clients' own habits are not."""
    config.addinivalue_line("markers", "client(name): which foreign client the tests of a module try")
    for module in ("kafka", "aiokafka", "importlib.resources"):
        config.addinivalue_line("filterwarnings", f"ignore::DeprecationWarning:{module}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failure shows what the server said last."""
    outcome: Any = yield
    report = outcome.get_result()
    note(item, report)
    show_server(item, report)


def pytest_sessionfinish() -> None:
    """The page about compatibility is written by the run."""
    write_if_wanted()


@pytest.fixture(scope="session")
def tools() -> Iterator[ToolHost]:
    """Apache Kafka's command-line tools, in one JVM."""
    require_kafka()
    host = ToolHost()
    yield host
    host.close()
