"""Apache Kafka's tools with groups and transactions: consumers, the commands to manage them, and the log's decoders."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.clients.client import confluent, java
from tests.clients.client.java import Outcome, ToolHost
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.test_confluent_group import committed, settle
from tests.clients.topic import create
from tests.kafka.server import Server
from tests.kafka.wire import Wire
from tests.parity.batch import batch, patched

pytestmark = pytest.mark.client(java.NAME)
COMMAND = "consumer.group.ConsumerGroupCommand"
TRANSACTIONS = "TransactionsCommand"


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


def fill_minutes(server: Server, topic: str) -> int:
    """A topic with a record for each of the last twenty minutes; the time of the first, in milliseconds."""
    create(server, topic, 2)
    first_ms = int(time.time() * 1000) - 20 * 60_000
    records = [Record(None, b"%d" % minute, (), first_ms + minute * 60_000) for minute in range(20)]
    confluent.write(server.bootstrap, topic, records)
    return first_ms


def commit(server: Server, group: str, topic: str, offset: int) -> None:
    """A group without members that has read up to an offset."""
    client = confluent.consumer(server.bootstrap, group_id=group)
    client.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    client.close()


def table(text: str) -> list[list[str]]:
    """The rows of a table that a tool printed, without its heading."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return rows[1:]


def test_members_are_described(quick: Server, tools: ToolHost, topic: str) -> None:
    """ConsumerGroupCommand describes members, their partitions and the state of groups of both protocols"""
    fill_minutes(quick, topic)
    for group, settings in (
        ("old", {"partition_assignment_strategy": "range"}),
        ("new", {"group_protocol": "consumer"}),
    ):
        client = confluent.consumer(quick.bootstrap, group_id=group, client_id=f"{group}-client", **settings)
        client.subscribe([topic])
        settle([2], client)
        client.commit(offsets=[TopicPartition(topic, 0, 5)], asynchronous=False)
        described = ("--describe", "--group", group)
        [member] = table(run(tools, COMMAND, quick, *described, "--members").out)
        assert (member[0], member[3], member[4]) == (group, f"{group}-client", "2")
        assert f"{topic}:0,1" in run(tools, COMMAND, quick, *described, "--members", "--verbose").out
        [state] = table(run(tools, COMMAND, quick, *described, "--state").out)
        assert state[-2:] == ["Stable", "1"]
        rows = table(run(tools, COMMAND, quick, *described, "--offsets").out)
        assert sorted(row[1:6] for row in rows) == [[topic, "0", "5", "20", "15"], [topic, "1", "-", "0", "-"]]
        assert group in run(tools, COMMAND, quick, "--list", "--state", "Stable").out
        refused = run(tools, COMMAND, quick, "--delete", "--group", group).out
        assert "GroupNotEmptyException" in refused, refused
        unchanged = run(tools, COMMAND, quick, "--reset-offsets", "--group", group, "--all-topics", "--to-earliest")
        assert "current state is Stable" in unchanged.out + unchanged.err
        client.close()
    kinds = run(tools, COMMAND, quick, "--list", "--type").out
    assert ["old", "Classic"] in table(kinds)
    assert ["new", "Consumer"] in table(kinds)


def test_reset_offsets(quick: Server, tools: ToolHost, topic: str, tmp_path: Path) -> None:
    """ConsumerGroupCommand resets offsets in every form, shows what it would do, exports and imports"""
    first_ms = fill_minutes(quick, topic)
    commit(quick, "reset", topic, 10)
    moment = datetime.fromtimestamp((first_ms + 12 * 60_000) / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
    plan = tmp_path / "plan.csv"
    plan.write_text(f"{topic},0,7\n")
    forms = (
        (("--to-earliest",), 0),
        (("--to-latest",), 20),
        (("--to-offset", "8"), 8),
        (("--to-offset", "800"), 20),
        (("--shift-by", "3"), 13),
        (("--shift-by", "-4"), 6),
        (("--shift-by", "-400"), 0),
        (("--to-current",), 10),
        (("--by-duration", "PT5M30S"), 15),
        (("--to-datetime", f"{moment}Z"), 12),
        (("--from-file", str(plan)), 7),
    )
    of_group = ("--reset-offsets", "--group", "reset")
    for form, offset in forms:
        where = () if form[0] == "--from-file" else ("--topic", f"{topic}:0")
        shown = run(tools, COMMAND, quick, *of_group, *where, *form).out
        assert table(shown) == [["reset", topic, "0", str(offset)]], (form, shown)
    assert committed(quick, "reset", topic) == 10
    exported = run(tools, COMMAND, quick, *of_group, "--topic", f"{topic}:0", "--to-offset", "9", "--export").out
    assert f"{topic},0,9" in exported.replace('"', "")
    run(tools, COMMAND, quick, *of_group, "--topic", f"{topic}:0", "--shift-by", "-4", "--execute")
    assert committed(quick, "reset", topic) == 6
    run(tools, COMMAND, quick, *of_group, "--all-topics", "--to-latest", "--execute")
    assert committed(quick, "reset", topic) == 20


def test_offsets_and_groups_are_deleted(quick: Server, tools: ToolHost, topic: str) -> None:
    """ConsumerGroupCommand deletes offsets of a topic, a group, and all groups"""
    fill_minutes(quick, topic)
    for group in ("one", "two", "three"):
        commit(quick, group, topic, 10)
    deleted = run(tools, COMMAND, quick, "--delete-offsets", "--group", "one", "--topic", topic).out
    assert "Request succeed for deleting offsets" in deleted or "Request succeeded for deleting offsets" in deleted
    assert committed(quick, "one", topic) == -1001
    run(tools, COMMAND, quick, "--delete", "--group", "two")
    assert sorted(run(tools, COMMAND, quick, "--list").out.split()) == ["one", "three"]
    unknown = run(tools, COMMAND, quick, "--delete", "--group", "nobody")
    assert "GroupIdNotFoundException" in unknown.out + unknown.err
    run(tools, COMMAND, quick, "--delete", "--all-groups")
    assert run(tools, COMMAND, quick, "--list").out.split() == []


def test_open_transactions(quick: Server, tools: ToolHost, topic: str) -> None:
    """TransactionsCommand lists and describes an open transaction and its producers, and ends it by force"""
    create(quick, topic)
    producer = confluent.producer(quick.bootstrap, transactional_id="open-one")
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"x", partition=0)
    assert producer.flush(30) == 0
    listed = run(tools, TRANSACTIONS, quick, "list").out
    assert [row[0] for row in table(listed)] == ["open-one"]
    assert table(listed)[0][-1] == "Ongoing"
    assert table(run(tools, TRANSACTIONS, quick, "list", "--transactional-id-pattern", "close.*").out) == []
    assert len(table(run(tools, TRANSACTIONS, quick, "list", "--duration-filter", "1").out)) == 1
    [described] = table(run(tools, TRANSACTIONS, quick, "describe", "--transactional-id", "open-one").out)
    assert (described[1], described[4], described[-1]) == ("open-one", "Ongoing", f"{topic}-0")
    where = ("--topic", topic, "--partition", "0")
    [active] = table(run(tools, TRANSACTIONS, quick, "describe-producers", *where).out)
    assert active[-1] == "0"
    run(tools, TRANSACTIONS, quick, "forceTerminateTransaction", "--transactionalId", "open-one")
    until(
        [["None"]],
        lambda: [row[-1:] for row in table(run(tools, TRANSACTIONS, quick, "describe-producers", *where).out)],
    )


def test_hanging_transaction(lone_server: Callable[..., Server], tools: ToolHost, topic: str) -> None:
    """TransactionsCommand finds a transaction that no coordinator knows of, and aborts it"""
    server = lone_server(transaction_partition_verification_enable="false")
    create(server, topic)
    records = patched(batch(b"x", producer=(4_242, 0, 0)), ">h", 21, 16)
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])]
    with Wire(server.address) as wire:
        answer = wire.ask(ProduceRequest(transactional_id="gone", acks=-1, timeout_ms=5_000, topic_data=data), 9)
    assert answer.responses[0].partition_responses[0].error_code == 0
    producer = confluent.producer(server.bootstrap, transactional_id="someone")
    producer.init_transactions(30)
    found = table(run(tools, TRANSACTIONS, server, "find-hanging", "--broker-id", "1").out)
    assert [(row[0], row[1], row[2]) for row in found] == [(topic, "0", "4242")]
    where = ("--topic", topic, "--partition", "0", "--start-offset", "0")
    run(tools, TRANSACTIONS, server, "abort", *where)
    assert table(run(tools, TRANSACTIONS, server, "find-hanging", "--broker-id", "1").out) == []
    reader = confluent.consumer(server.bootstrap, isolation_level="read_committed")
    until((0, 2), lambda: reader.get_watermark_offsets(TopicPartition(topic, 0), timeout=30))
    reader.close()


def test_measuring(quick: Server, tools: ToolHost, topic: str) -> None:
    """ConsumerPerformance reads 10,000 records in a group; EndToEndLatency sends 100 there and back"""
    create(quick, topic)
    create(quick, f"{topic}-latency")
    now_ms = int(time.time() * 1000)
    confluent.write(quick.bootstrap, topic, [Record(None, bytes(100), (), now_ms)] * 10_000)
    read = run(tools, "ConsumerPerformance", quick, "--topic", topic, "--num-records", "10000", "--timeout", "30000")
    assert read.out.splitlines()[-1].split(", ")[4] == "10000", read
    sent = ("--topic", f"{topic}-latency", "--num-records", "100", "--producer-acks", "all", "--record-size", "20")
    measured = run(tools, "EndToEndLatency", quick, *sent)
    assert "Avg latency" in measured.out, measured


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
