"""`kafka-transactions` beside Kafka's own TransactionsCommand."""

import itertools
import re
from collections.abc import Iterator

import pytest

from tests.clients.client import confluent
from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.clients.topic import create
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
_numbers = itertools.count(1)


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "TransactionsCommand", "transactions")


@pytest.fixture
def opened(tool_server: Server) -> Iterator[str]:
    """A topic with an open transaction of the id with the same name."""
    name = f"opened-{next(_numbers)}"
    create(tool_server, name)
    producer = confluent.Producer({"bootstrap.servers": tool_server.bootstrap, "transactional.id": name})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(name, b"v", partition=0)
    producer.flush()
    yield name
    del producer


def test_an_open_transaction(both: SideBySide, opened: str) -> None:
    until(True, lambda: "Ongoing" in both.ours(*TO, "describe", "--transactional-id", opened).out)
    both.same(*TO, "list")
    both.same(*TO, "list", "--transactional-id-pattern", "nothing.*")
    both.same(*TO, "list", "--duration-filter", "600000")
    both.same(*TO, "describe", "--transactional-id", opened, normal=r"(?<=\t)\d{1,6} +(?=\t)")
    where = ("--topic", opened, "--partition", "0")
    both.same(*TO, "describe-producers", *where)
    both.same(*TO, "describe-producers", "--broker-id", "1", *where)
    both.same(*TO, "find-hanging", *where)
    both.same(*TO, "find-hanging", "--broker-id", "1")
    wrong = both.same(*TO, "abort", *where, "--start-offset", "99")
    assert wrong.err.startswith("Could not find any open transactions starting at offset 99")
    assert both.ours(*TO, "abort", *where, "--start-offset", "0") == (0, "", "")
    described = both.ours(*TO, "describe-producers", *where).out
    assert re.search(r"\tNone +\t$", described)


def test_a_transaction_is_ended_by_force(both: SideBySide, opened: str) -> None:
    assert both.ours(*TO, "forceTerminateTransaction", "--transactionalId", opened) == (0, "", "")
    until(False, lambda: "Ongoing" in both.ours(*TO, "describe", "--transactional-id", opened).out)


@pytest.mark.parametrize(
    "wrong",
    [
        "describe --transactional-id unheard-of",
        "abort --topic t --partition 0",
        "abort --topic t --partition 0 --producer-id 1",
        "abort --topic t --partition 0 --producer-id 1 --producer-epoch 0",
        "find-hanging",
        "find-hanging --broker-id 1 --partition 0",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    java, ours = both.java(*TO, *wrong.split()), both.ours(*TO, *wrong.split())
    assert (ours.code, ours.out) == (java.code, java.out) == (1, "")
    assert ours.err.partition(":")[0] == java.err.partition(":")[0]
