"""Apache Kafka's console and load tools: producer, consumer, performance, verification."""

import json
import subprocess

import pytest

from tests.clients.client import confluent, java
from tests.clients.client.java import ToolHost
from tests.clients.record import CODECS, Record
from tests.clients.topic import create
from tests.kafka.peer import command
from tests.kafka.server import Server

pytestmark = [pytest.mark.client(java.NAME), pytest.mark.long]


def consume(tools: ToolHost, server: Server, topic: str, *arguments: str) -> list[str]:
    """Lines that ConsoleConsumer prints of partition 0."""
    partition = ("--topic", topic, "--partition", "0", "--timeout-ms", "15000")
    outcome = tools.run("consumer.ConsoleConsumer", "--bootstrap-server", server.bootstrap, *partition, *arguments)
    assert outcome.code == 0, outcome
    return outcome.out.splitlines()


@pytest.mark.parametrize("codec", CODECS)
def test_console(server: Server, tools: ToolHost, topic: str, codec: str) -> None:
    """ConsoleProducer and ConsoleConsumer with keys and headers, every codec"""
    create(server, topic)
    properties = ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true")
    lines = [f"h1:{number},h2:x\tkey{number}\tvalue {number}" for number in range(50)]
    to = ("--bootstrap-server", server.bootstrap, "--topic", topic, "--compression-codec", codec)
    produced = tools.run("ConsoleProducer", *to, *properties, stdin="\n".join(lines) + "\n")
    assert produced.code == 0, produced
    shown = ("--formatter-property", "print.key=true", "--formatter-property", "print.headers=true")
    assert consume(tools, server, topic, "--offset", "earliest", "--max-messages", "50", *shown) == lines


def test_console_consumer_from_an_offset(server: Server, tools: ToolHost, topic: str) -> None:
    """ConsoleConsumer from an offset, with time, partition and offset shown"""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"%d" % number, (), 7_000 + number) for number in range(9)])
    shown = [f"print.{name}=true" for name in ("timestamp", "partition", "offset")]
    arguments = [part for name in shown for part in ("--formatter-property", name)]
    lines = consume(tools, server, topic, "--offset", "7", "--max-messages", "2", *arguments)
    assert lines == ["CreateTime:7007\tPartition:0\tOffset:7\t7", "CreateTime:7008\tPartition:0\tOffset:8\t8"]


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_producer_performance(server: Server, tools: ToolHost, topic: str, isolation: str) -> None:
    """ProducerPerformance writes 50,000 records; ConsoleConsumer counts them in both isolation levels"""
    create(server, topic)
    load = ("--num-records", "50000", "--record-size", "100", "--throughput", "-1")
    outcome = tools.run("ProducerPerformance", "--bootstrap-server", server.bootstrap, "--topic", topic, *load)
    assert "50000 records sent" in outcome.out, outcome
    lines = consume(
        tools, server, topic, "--offset", "earliest", "--max-messages", "50000", "--isolation-level", isolation
    )
    assert [len(line) for line in lines] == [100] * 50_000


def test_verifiable_producer(server: Server, tools: ToolHost, topic: str) -> None:
    """VerifiableProducer: every record acknowledged"""
    create(server, topic)
    arguments = ("--bootstrap-server", server.bootstrap, "--topic", topic, "--max-messages", "100", "--acks", "-1")
    # What it has to say it says when the JVM ends, so it gets one of its own.
    run = command("org.apache.kafka.tools.VerifiableProducer", arguments)
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    sent = [event["offset"] for event in events if event["name"] == "producer_send_success"]
    assert sent == list(range(100))
    [summary] = [event for event in events if event["name"] == "tool_data"]
    assert (summary["sent"], summary["acked"]) == (100, 100)


def test_replica_verification(server: Server, tools: ToolHost, topic: str) -> None:
    """ReplicaVerificationTool reads every replica and finds no lag"""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), 1)] * 100)
    arguments = ("--broker-list", server.bootstrap, "--topics-include", topic, "--report-interval-ms", "200")
    run = command("org.apache.kafka.tools.ReplicaVerificationTool", arguments)
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            lines = [line for line, _ in zip(process.stdout, range(2), strict=False)]
        finally:
            process.kill()
    assert lines[0].rstrip().endswith("verification process is started")
    assert f"max lag is 0 for partition {topic}-0 at offset 100 among 1 partitions" in lines[1]
