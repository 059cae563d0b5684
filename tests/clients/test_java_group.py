"""Apache Kafka's tools with groups and transactions: consumers, the commands to manage them, and the log's decoders."""

from collections.abc import Callable

import pytest

from tests.clients.client import confluent, java
from tests.clients.client.java import Outcome, ToolHost
from tests.clients.record import Record
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = pytest.mark.client(java.NAME)


@pytest.fixture
def quick(lone_server: Callable[..., Server]) -> Server:
    """A server where a group's first generation begins without delay."""
    return lone_server(group_initial_rebalance_delay_ms="0")


def run(tools: ToolHost, tool: str, server: Server, *arguments: str) -> Outcome:
    """What a tool says of the server; it has to succeed."""
    outcome = tools.run(tool, "--bootstrap-server", server.bootstrap, *arguments)
    assert outcome.code == 0, outcome
    return outcome


def fill(server: Server, topic: str, count: int = 20) -> None:
    """A topic with records in partition 0."""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"%d" % number, (), number) for number in range(count)])


def consume(tools: ToolHost, server: Server, topic: str, count: int, *arguments: str) -> list[str]:
    """What ConsoleConsumer prints as a member of a group."""
    limits = ("--from-beginning", "--max-messages", str(count), "--timeout-ms", "30000")
    return run(tools, "consumer.ConsoleConsumer", server, "--topic", topic, *limits, *arguments).out.splitlines()


def test_console_consumer_in_a_group(quick: Server, tools: ToolHost, topic: str) -> None:
    """ConsoleConsumer commits as it leaves, and goes on from there"""
    fill(quick, topic)
    group = ("--group", "console", "--command-property", "max.poll.records=5")
    assert consume(tools, quick, topic, 10, *group) == [str(number) for number in range(10)]
    assert consume(tools, quick, topic, 10, *group) == [str(number) for number in range(10, 20)]


def test_consumer_group_command(quick: Server, tools: ToolHost, topic: str) -> None:
    """ConsumerGroupCommand lists, describes, resets and deletes groups and their offsets"""
    fill(quick, topic)
    assert consume(tools, quick, topic, 20, "--group", "managed") == [str(number) for number in range(20)]
    command = "consumer.group.ConsumerGroupCommand"
    assert run(tools, command, quick, "--list").out.split() == ["managed"]
    state = run(tools, command, quick, "--describe", "--group", "managed", "--state").out
    assert "Empty" in state, state
    described = run(tools, command, quick, "--describe", "--group", "managed").out
    rows = [line.split() for line in described.splitlines() if topic in line]
    assert [row[1:6] for row in rows] == [[topic, "0", "20", "20", "0"]], described
    reset = ("--reset-offsets", "--group", "managed", "--topic", topic, "--to-offset", "5", "--execute")
    assert "5" in run(tools, command, quick, *reset).out
    assert consume(tools, quick, topic, 15, "--group", "managed") == [str(number) for number in range(5, 20)]
    deleted = run(tools, command, quick, "--delete-offsets", "--group", "managed", "--topic", topic).out
    assert "Successful" in deleted, deleted
    assert "Deletion of requested consumer groups ('managed') was successful" in (
        run(tools, command, quick, "--delete", "--group", "managed").out
    )
    assert run(tools, command, quick, "--list").out.split() == []


def test_transactions(quick: Server, tools: ToolHost, topic: str) -> None:
    """ProducerPerformance writes in transactions of the second version; TransactionsCommand shows and finds them"""
    create(quick, topic)
    load = ("--num-records", "2000", "--record-size", "10", "--throughput", "-1", "--transaction-duration-ms", "20")
    to = ("--bootstrap-server", quick.bootstrap, "--topic", topic, "--transactional-id", "load")
    outcome = tools.run("ProducerPerformance", *to, *load)
    assert "2000 records sent" in outcome.out, outcome
    lines = consume(tools, quick, topic, 2000, "--isolation-level", "read_committed")
    assert [len(line) for line in lines] == [10] * 2000
    listed = run(tools, "TransactionsCommand", quick, "list").out
    assert "load" in listed, listed
    assert "CompleteCommit" in listed, listed
    described = run(tools, "TransactionsCommand", quick, "describe", "--transactional-id", "load").out
    assert "CompleteCommit" in described, described
    hanging = run(tools, "TransactionsCommand", quick, "find-hanging", "--broker-id", "1")
    assert topic not in hanging.out, hanging


def test_decoders(quick: Server, tools: ToolHost, topic: str) -> None:
    """DumpLogSegments decodes groups, offsets and transactions from the files"""
    fill(quick, topic)
    client = confluent.consumer(quick.bootstrap, group_id="dumped")
    client.subscribe([topic])
    while client.poll(1) is None:
        pass
    client.commit(asynchronous=False)
    client.close()
    producer = confluent.producer(quick.bootstrap, transactional_id="dumped-id")
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"x", partition=0)
    producer.commit_transaction(30)
    quick.stop()
    offsets = dump(tools, quick, "__consumer_offsets-0", "--offsets-decoder")
    assert '"group":"dumped"' in offsets, offsets
    assert '"protocolType":"consumer"' in offsets, offsets
    assert f'"topic":"{topic}","partition":0' in offsets, offsets
    transactions = dump(tools, quick, "__transaction_state-0", "--transaction-log-decoder")
    assert "dumped-id" in transactions, transactions


def dump(tools: ToolHost, server: Server, partition: str, decoder: str) -> str:
    """What DumpLogSegments prints of a partition's first segment."""
    path = server.log_directory / partition / "00000000000000000000.log"
    outcome = tools.run("DumpLogSegments", decoder, "--files", str(path))
    assert outcome.code == 0, outcome
    return outcome.out
