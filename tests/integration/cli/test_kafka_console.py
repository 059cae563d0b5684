"""`kafka-console-producer` and `kafka-console-consumer` beside Kafka's own, each reading what the other wrote."""

import json
import re
import signal
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ottla.client import Producer
from tests.clients.client.java import Outcome, ToolHost
from tests.integration.cli.piped_tool import run_piped
from tests.integration.cli.running import running
from tests.kafka.port import free_port
from tests.kafka.server import Server

PRODUCER, CONSUMER = ("ConsoleProducer", "console_producer"), ("consumer.ConsoleConsumer", "console_consumer")
Run = Callable[..., Outcome]
_TIMES = re.compile(r"(?<=CreateTime:)\d+")
_LOGGED = re.compile(r"^(\[.*|\tat .*|\t\.\.\. .*|The consumer rebalance protocol.*)\n", re.MULTILINE)
_TABLE = re.compile(r"^Option +Description.*", re.DOTALL | re.MULTILINE)


class Console:
    """Both tools, twice."""

    def __init__(self, tools: ToolHost, server: Server) -> None:
        self._tools = tools
        self._to = ("--bootstrap-server", server.bootstrap)

    def java(self, tool: tuple[str, str], *arguments: str, stdin: str = "") -> Outcome:
        """What Kafka's tool does."""
        return _tidy(self._tools.run(tool[0], *self._to, *arguments, stdin=stdin))

    def ours(self, tool: tuple[str, str], *arguments: str, stdin: str = "") -> Outcome:
        """What our tool does."""
        return _tidy(run_piped(tool[1], *self._to, *arguments, stdin=stdin))

    def same(self, tool: tuple[str, str], *arguments: str, stdin: str = "") -> Outcome:
        """Both do the same."""
        java, ours = self.java(tool, *arguments, stdin=stdin), self.ours(tool, *arguments, stdin=stdin)
        assert ours == java, arguments
        return ours


def _tidy(outcome: Outcome) -> Outcome:
    err = _TABLE.sub("", _LOGGED.sub("", outcome.err))
    return Outcome(outcome.code, _TIMES.sub("?", outcome.out), err)


@pytest.fixture
def console(java_tools: ToolHost, tool_server: Server) -> Console:
    return Console(java_tools, tool_server)


def test_both_write_and_read_the_same(console: Console) -> None:
    parse = ("--reader-property", "parse.key=true", "--reader-property", "parse.headers=true")
    nulls = ("--reader-property", "null.marker=NULL")
    lines = "a:1,b:2\tk1\tv1\nNULL\tNULL\tgrün\na:NULL\tk\tNULL\n\t\t\n"
    with_ignore = (*parse, *nulls, "--reader-property", "ignore.error=true", "--topic", "console-both")
    for write in (console.java, console.ours):
        assert write(PRODUCER, *with_ignore, "--sync", stdin=lines) == (0, "", "")
    every = [f"print.{field}=true" for field in ("key", "timestamp", "offset", "partition", "headers", "epoch")]
    shown = [part for field in every for part in ("--formatter-property", field)]
    read = console.same(CONSUMER, "--topic", "console-both", "--from-beginning", "--max-messages", "8", *shown)
    assert read.err == "Processed a total of 8 messages\n"
    written = read.out.splitlines()
    assert written[0] == "CreateTime:?\tPartition:0\tOffset:0\tEpoch:NOT_PRESENT\ta:1,b:2\tk1\tv1"
    assert [re.sub(r"Offset:\d", "", line) for line in written[:4]] == [
        re.sub(r"Offset:\d", "", line) for line in written[4:]
    ]


def test_formats(console: Console) -> None:
    console.ours(PRODUCER, "--topic", "console-formats", "--compression-codec", stdin="one\ntwo\nthree\n")
    read = ("--topic", "console-formats", "--from-beginning", "--max-messages", "3")
    prefix = "--formatter-property"
    for properties in (
        ("print.key=true", "null.literal=-", "key.separator=|"),
        ("print.value=false", "print.offset=true"),
        ("print.value=false",),
        ("line.separator=;", "print.partition=TRUE"),
        ("value.deserializer=org.apache.kafka.common.serialization.StringDeserializer",),
    ):
        console.same(CONSUMER, *read, *(part for one in properties for part in (prefix, one)))
    for formatter in ("NoOpMessageFormatter", "LoggingMessageFormatter", "OffsetsMessageFormatter"):
        console.same(CONSUMER, *read, "--formatter", f"org.apache.kafka.tools.consumer.{formatter}")
    for where in (("--offset", "1"), ("--offset", "earliest"), ("--from-beginning",)):
        place = ("--topic", "console-formats", "--partition", "0", *where, "--timeout-ms", "3000")
        console.same(CONSUMER, *place, "--property", "print.offset=true")
    console.same(CONSUMER, "--include", "console-for.*", "--from-beginning", "--timeout-ms", "4000")
    console.same(CONSUMER, "--topic", "console-formats", "--timeout-ms", "1000")


def test_numbers_are_written_as_java_does(console: Console, tool_server: Server) -> None:
    values = (0.0, 2.5, -1e7, 1.25e-5, 9999999.0, float("nan"), float("-inf"))
    with Producer(bootstrap_servers=tool_server.bootstrap) as producer:
        for value in values:
            producer.send("console-doubles", struct.pack(">d", value)).result(30)
            producer.send("console-floats", struct.pack(">f", value)).result(30)
    for topic, kind in (("console-doubles", "Double"), ("console-floats", "Float")):
        read = ("--topic", topic, "--from-beginning", "--max-messages", str(len(values)))
        deserializer = f"org.apache.kafka.common.serialization.{kind}Deserializer"
        console.same(CONSUMER, *read, "--value-deserializer", deserializer)


def test_offsets_of_a_group(console: Console) -> None:
    console.ours(PRODUCER, "--topic", "console-group", stdin="1\n2\n3\n")
    read = ("--topic", "console-group", "--group", "console-group", "--from-beginning", "--max-messages")
    assert console.ours(CONSUMER, *read, "2").out == "1\n2\n"
    assert console.java(CONSUMER, *read, "1").out == "3\n"
    for formatter in ("OffsetsMessageFormatter", "GroupMetadataMessageFormatter"):
        java, ours = (_records_of_the_group(run, formatter) for run in (console.java, console.ours))
        assert ours == java
        assert ours


def _records_of_the_group(run: Run, formatter: str) -> list[Any]:
    """What an internal topic says about the group; the reader's own group leaves records there as well."""
    internal = ("--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", "5000")
    text = run(CONSUMER, *internal, "--formatter", f"org.apache.kafka.tools.consumer.{formatter}").out
    decoder, found = json.JSONDecoder(), []
    while text:
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return [one for one in found if one["key"]["data"]["group"] == "console-group"]


def test_a_line_that_lacks_its_key_ends_it(console: Console) -> None:
    parse = ("--topic", "console-keys", "--reader-property", "parse.key=true")
    ended = console.same(PRODUCER, *parse, stdin="k\tv\nkeyless\nk\tnever\n")
    assert ended.code == 1
    assert "No key separator found on line number 2: 'keyless'" in ended.err
    read = console.ours(CONSUMER, "--topic", "console-keys", "--from-beginning", "--max-messages", "1")
    assert read.out == "v\n"


def test_nobody_to_send_to() -> None:
    to = ("--bootstrap-server", f"127.0.0.1:{free_port()}", "--topic", "t", "--max-block-ms", "100")
    lost = run_piped("console_producer", *to, stdin="a\nb\n")
    assert lost.code == 0
    assert lost.err.count("Error when sending message to topic t with key: null, value: 1 bytes with error:") == 2
    assert run_piped("console_producer", *to, "--sync", stdin="a\n").code == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "--topic t --command-config a --producer.config b",
        "--topic t --command-property a --producer-property b",
        "--topic t --reader-property a --property b",
        "--topic t --batch-size x",
        "--topic t --nonsense",
        "--topic t --reader-property headers.delimiter=,",
        "--topic t --reader-property null.marker=:",
        "--help",
        "--version",
    ],
)
def test_wrong_calls_of_the_producer(console: Console, wrong: str) -> None:
    console.same(PRODUCER, *wrong.split())


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "--topic t --include u",
        "--include t --partition 0",
        "--topic t --offset 3",
        "--topic t --partition 0 --offset x",
        "--topic t --partition 0 --offset -4",
        "--topic t --partition 0 --offset 1 --from-beginning",
        "--topic t --partition 0 --group g",
        "--topic t --group g --command-property group.id=h",
        "--topic t --from-beginning --command-property auto.offset.reset=latest",
        "--topic t --consumer-property a=b --command-property c=d",
        "--topic t --formatter nonsense",
        "--version",
    ],
)
def test_wrong_calls_of_the_consumer(console: Console, wrong: str) -> None:
    console.same(CONSUMER, *wrong.split())


def test_a_signal_ends_the_reading(console: Console, tool_server: Server, tmp_path: Path) -> None:
    console.ours(PRODUCER, "--topic", "console-signal", stdin="here\n")
    read = ("--bootstrap-server", tool_server.bootstrap, "--topic", "console-signal", "--from-beginning")
    with running("ottla.cli.kafka.console_consumer", *read, "--enable-systest-events", directory=tmp_path) as reading:
        reading.wait_for("here")
        assert reading.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert sorted(reading.lines) == ["Processed a total of 1 messages", "here", "shutdown_complete"]
