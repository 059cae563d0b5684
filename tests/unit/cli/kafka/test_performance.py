"""What the performance tools count and print."""

import re
from pathlib import Path

import pytest

from ottla.cli.kafka import producer_perf_test
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.e2e_latency import Payload, validate
from ottla.cli.kafka.output.java_date import DateFormat
from ottla.cli.kafka.output.send_statistic import SendStatistic, now_ms
from ottla.cli.kafka.output.table import metric_lines
from ottla.client.consumer.fetch.record import Record
from ottla.client.metric.metric_name import MetricName


def test_percentiles_of_all_records() -> None:
    statistic = SendStatistic(1000, 1_000_000, is_steady_state=True)
    for latency in range(1000):
        statistic.record(latency, 100, now_ms())
    text = statistic.total_text()
    assert re.match(r"1000 steady state records sent, \d+\.\d{6} records/sec \(\d+\.\d\d MB/sec\), ", text)
    assert text.endswith(
        "499.50 ms avg latency, 999.00 ms max latency, 500 ms 50th, 950 ms 95th, 990 ms 99th, 999 ms 99.9th."
    )


def test_a_window_ends_after_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    statistic = SendStatistic(10, 1000, is_steady_state=False)
    statistic.record(4, 100, now_ms())
    assert capsys.readouterr().out == ""
    statistic.record(8, 100, now_ms() + 1000)
    assert re.fullmatch(
        r"2 records sent, \d+\.\d records/sec \(\d+\.\d\d MB/sec\), 6\.0 ms avg latency, 8\.0 ms max latency\.\n",
        capsys.readouterr().out,
    )
    statistic.record(2, 100, now_ms())
    assert statistic.window_text().startswith("1 records sent, ")


def test_a_run_without_any_acknowledged_record() -> None:
    assert "0 records sent" in SendStatistic(5, 1000, is_steady_state=False).total_text()


def test_dates_by_javas_patterns() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:789", DateFormat("yyyy-MM-dd HH:mm:ss:SSS").text(123_789))
    assert re.fullmatch(r"\d\d o'clock \d+", DateFormat("yy 'o''clock' s").text(0))
    for wrong in ("QQ", "yyyy 'open"):
        with pytest.raises(ToolError):
            DateFormat(wrong)


def test_metrics_stand_in_two_columns() -> None:
    metrics = {
        MetricName.of("b", "group", {"client-id": "c"}): 1.5,
        MetricName.of("a", "group", {}): 2.0,
    }
    assert list(metric_lines(metrics)) == [
        "",
        "Metric Name             Value",
        "group:a:{}            : 2.000",
        "group:b:{client-id=c} : 1.500",
    ]
    assert list(metric_lines({})) == []


def test_payloads_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines"
    path.write_text("one;two;")
    payloads = producer_perf_test.file_payloads(str(path), ";")
    assert {next(payloads) for _ in range(50)} == {b"one", b"two"}
    assert capsys.readouterr().out.endswith("Number of records read: 2\n")


def testrandom_payloads_are_letters_and_repeatable() -> None:
    first, second = (producer_perf_test.random_payloads(20) for _ in range(2))
    value = next(first)
    assert re.fullmatch(rb"[A-Z]{20}", value)
    assert value == next(second) != next(second)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "timed out before finding a result"),
        ([Record("t", 0, 0, b"k", b"other")], "The message value read"),
        ([Record("t", 0, 0, b"other", b"v")], "The message key read"),
        ([Record("t", 0, 0, b"k", b"v")], "The message headers read"),
        ([Record("t", 0, 0, b"k", b"v", headers=[("h", b"1")])] * 2, "Only one result was expected"),
    ],
)
def test_what_was_read_must_be_what_was_sent(records: list[Record], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        validate(Payload(b"k", b"v", (("h", b"1"),)), records)
