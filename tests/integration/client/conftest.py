"""What all tests of our own clients share: one server for all of them, and topics of their own on it.

`OTTLA_TEST_PEER=1` runs every test on Apache Kafka, too, `OTTLA_TEST_PEER=only` on it alone.
"""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.shared_server import kind, lone_server, server, shared_server, show_server, topic
from tests.kafka.server import Server

__all__ = ["kind", "lone_server", "server", "shared_server", "topic"]


@pytest.fixture
def bootstrap(server: Server) -> str:
    """What clients connect to."""
    return server.bootstrap


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """A test that closes its clients leaves no thread behind.

    A broker in this process that other tests share starts its workers, `log-…`, with the first job of each.
    """
    before = set(threading.enumerate())
    yield
    left = [
        thread.name
        for thread in threading.enumerate()
        if thread not in before and thread.is_alive() and not thread.name.startswith("log-")
    ]
    assert not left, f"threads were left behind: {left}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failure shows what the server said last."""
    outcome: Any = yield
    report = outcome.get_result()
    show_server(item, report)
