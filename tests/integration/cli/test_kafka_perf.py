"""The performance tools beside Kafka's own: the same lines and columns, whatever the numbers are."""

import re
from pathlib import Path

import pytest

from tests.clients.client.java import Outcome, ToolHost
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
_NUMBER = re.compile(r"-?\d+(\.\d+)?|NaN")
_MAIN = re.compile(r'^Exception in thread "main" ')


@pytest.fixture
def producer(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "ProducerPerformance", "producer_perf_test")


@pytest.fixture
def consumer(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "ConsumerPerformance", "consumer_perf_test")


@pytest.fixture
def latency(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "EndToEndLatency", "e2e_latency")


def _shape(both: SideBySide, *arguments: str) -> Outcome:
    """Both print the same but for the numbers; ours."""
    java, ours = both.java(*arguments), both.ours(*arguments)
    assert (ours.code, _NUMBER.sub("N", ours.out)) == (java.code, _NUMBER.sub("N", java.out)), (ours, java)
    return ours


def _complaint(outcome: Outcome) -> str:
    """What is said behind the usage; Java breaks its lines, and adds its own exception to a number that is none."""
    text = "".join(_MAIN.sub("", outcome.err).split())
    return text.partition(":error:")[2].partition("(Forinput")[0] or text


def test_sending(producer: SideBySide, tmp_path: Path) -> None:
    send = (*TO, "--topic", "perf-sent", "--throughput", "-1")
    sent = _shape(producer, *send, "--num-records", "300", "--record-size", "50")
    assert sent.out.startswith("300 records sent, ")
    assert sent.out.count("\n") == 1
    lines = tmp_path / "lines"
    lines.write_text("one\ntwo\n")
    _shape(producer, *send, "--num-records", "20", "--payload-file", str(lines))
    warm = ("--num-records", "40", "--payload-monotonic", "--warmup-records", "10")
    assert "30 steady state records sent, " in _shape(producer, *send, *warm).out
    transactions = ("--num-records", "10", "--record-size", "10", "--transactional-id", "perf-{me}")
    _shape(producer, *send, *transactions, "--producer-props", "acks=all", "linger.ms=1")


def test_a_rate_is_kept(producer: SideBySide) -> None:
    arguments = ("--topic", "perf-rate", "--num-records", "200", "--record-size", "10", "--throughput", "100")
    sent = producer.ours(*TO, *arguments)
    [found] = re.findall(r"200 records sent, (\d+\.\d+) records/sec", sent.out)
    assert float(found) < 130


def test_metrics_of_a_producer(producer: SideBySide) -> None:
    arguments = ("--topic", "perf-metrics", "--num-records", "20", "--record-size", "10", "--throughput", "-1")
    java, ours = (run(*TO, *arguments, "--print-metrics").out for run in (producer.java, producer.ours))
    names = [set(re.findall(r"^(producer-metrics:record-\S+)", out, re.MULTILINE)) for out in (java, ours)]
    assert names[0] <= names[1]
    assert re.search(r"^Metric Name +Value$", ours, re.MULTILINE)


@pytest.mark.parametrize(
    "wrong",
    [
        "--topic t --num-records 5 --record-size 1",
        "--topic t --num-records 5 --throughput 1",
        "--topic t --num-records x --throughput 1 --record-size 1",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --payload-file f",
        "--topic t --num-records 0 --throughput 1 --record-size 1",
        "--topic t --num-records 5 --throughput 1 --record-size 0",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --warmup-records 5",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --reporting-interval 0",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --transaction-duration-ms 0",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --command-property a",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --producer-props a=b --command-property a=b",
        "--topic t --num-records 5 --throughput 1 --payload-file /nowhere",
        "--topic t --num-records 5 --throughput 1 --record-size 1 --nonsense",
    ],
)
def test_wrong_calls_of_the_producer(producer: SideBySide, wrong: str) -> None:
    java, ours = producer.java(*TO, *wrong.split()), producer.ours(*TO, *wrong.split())
    assert (ours.code, _complaint(ours)) == (java.code, _complaint(java))


def test_reading(producer: SideBySide, consumer: SideBySide) -> None:
    send = ("--topic", "perf-read", "--num-records", "500", "--record-size", "100", "--throughput", "-1")
    producer.ours(*TO, *send)
    read = (*TO, "--topic", "perf-read")
    total = _shape(consumer, *read, "--num-records", "500")
    assert ", 500, " in total.out
    _shape(consumer, *TO, "--include", "perf-rea.", "--messages", "100", "--hide-header", "--date-format", "HH.mm")
    short = _shape(consumer, *read, "--num-records", "600", "--timeout", "1000")
    assert "WARNING: Exiting before consuming the expected number of records: timeout (1000 ms) exceeded." in short.out
    detailed = ("--num-records", "500", "--show-detailed-stats")
    assert _shape(consumer, *read, *detailed).out.startswith("time, threadId, data.consumed.in.MB, ")


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "--topic t",
        "--topic t --include u --num-records 5",
        "--topic t --num-records 5 --messages 6",
        "--topic t --num-records 5 --consumer.config a --command-config b",
        "--topic t --num-records 5 --nonsense",
        "--help",
        "--version",
    ],
)
def test_wrong_calls_of_the_consumer(consumer: SideBySide, wrong: str) -> None:
    consumer.same(*TO, *wrong.split())


def test_round_trips(latency: SideBySide) -> None:
    measure = (*TO, "--num-records", "20", "--producer-acks", "all", "--record-size", "30")
    headers = ("--num-headers", "2", "--record-header-key-size", "3", "--record-header-size", "-1")
    first = _shape(latency, *measure, "--topic", "latency-{me}")
    assert first.out.startswith('Topic "latency-{me}" does not exist. Will create topic with 1 partition(s)')
    again = _shape(latency, *measure, "--topic", "latency-{me}", "--record-key-size", "4", *headers)
    assert re.fullmatch(
        r"0\t\d+\.\d+\nAvg latency: \d+\.\d{4} ms\nPercentiles: 50th = \d+, 99th = \d+, 99.9th = \d+\n", again.out
    )
    _shape(latency, "{broker}", "latency-{me}", "5", "1", "10")


@pytest.mark.parametrize(
    "wrong",
    [
        "a b c",
        "--topic t",
        "--bootstrap-server b:1 --topic t --num-records 5 --producer-acks 0 --record-size 1",
        "--bootstrap-server b:1 --topic t --num-records 0 --producer-acks 1 --record-size 1",
        "--bootstrap-server b:1 --topic t --num-records 5 --producer-acks 1 --record-size -1",
        "--bootstrap-server b:1 --topic t --num-records 5 --producer-acks 1 --record-size 1 --record-header-size -2",
        "--topic t --nonsense",
    ],
)
def test_wrong_calls_of_the_latency_tool(latency: SideBySide, wrong: str) -> None:
    latency.same(*wrong.split())
