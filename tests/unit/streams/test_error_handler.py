"""What built-in handlers and extractors say, and handlers of the user's that fail themselves."""

import logging
from collections.abc import Callable
from typing import Any, Final

import pytest

from ottla.streams import (
    Consumed,
    ConsumedRecord,
    Produced,
    Serdes,
    StreamsBuilder,
    StreamsError,
    Topology,
    TopologyTestDriver,
    fail_on_invalid_timestamp,
    log_and_continue,
    log_and_skip_on_invalid_timestamp,
    use_partition_time_on_invalid_timestamp,
)
from ottla.streams.engine.error_handler import ErrorContext, ErrorResponse

TEXT: Final = Serdes.string()
NUMBER: Final = Serdes.long()


def twice() -> Topology:
    """Fails on a value that is no number, once at the first step and below a step that is fine."""
    builder = StreamsBuilder()
    stream = builder.stream("in", Consumed.with_(TEXT, TEXT)).peek(lambda key, value: None)
    stream.map_values(int).map_values(lambda number: 2 * number).to("out", Produced.with_(TEXT, NUMBER))
    return builder.build()


def failing(context: ErrorContext, error: Exception) -> ErrorResponse:
    CALLS.append(context.node)
    raise KeyError("handler")


def answers_nothing(context: ErrorContext, error: Exception) -> Any:
    return None


CALLS: Final[list[str]] = []


@pytest.mark.parametrize("handler", [failing, answers_nothing])
def test_a_processing_handler_that_fails_ends_the_task(handler: Callable[..., Any]) -> None:
    CALLS.clear()
    with (
        TopologyTestDriver(twice(), {"processing.exception.handler": handler}) as driver,
        pytest.raises(StreamsError, match="Fatal user code error in processing error callback"),
    ):
        driver.create_input_topic("in", TEXT, TEXT).pipe_input("a", "no number", 1)
    assert len(CALLS) == (handler is failing), "the steps above have not failed: no handler is asked for them"


def test_a_decoding_handler_that_fails_ends_the_task() -> None:
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, NUMBER)).to("out", Produced.with_(TEXT, NUMBER))
    with (
        TopologyTestDriver(builder.build(), {"deserialization.exception.handler": failing}) as driver,
        pytest.raises(StreamsError, match="Fatal user code error in deserialization error callback"),
    ):
        driver.create_input_topic("in", TEXT, TEXT).pipe_input("a", "x", 1)


def test_what_is_left_out_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with TopologyTestDriver(twice(), {"processing.exception.handler": log_and_continue}) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT)
        source.pipe_input("a", "1", 1)
        with caplog.at_level(logging.WARNING):
            source.pipe_input("a", "no number", 2)
        assert driver.create_output_topic("out", TEXT, NUMBER).read_values_to_list() == [2]
    [line] = caplog.records
    assert (
        line.getMessage() == "KSTREAM-MAPVALUES-0000000002 goes on without the record of in-0 at offset 1 in task 0_0"
    )
    assert line.exc_info is not None
    assert isinstance(line.exc_info[1], ValueError)


def record(timestamp: int) -> ConsumedRecord:
    return ConsumedRecord("in", 3, 7, timestamp, "a", "x", ())


def test_a_negative_time_fails_is_left_out_or_is_the_time_of_the_partition(caplog: pytest.LogCaptureFixture) -> None:
    for extractor in (
        fail_on_invalid_timestamp,
        log_and_skip_on_invalid_timestamp,
        use_partition_time_on_invalid_timestamp,
    ):
        assert extractor(record(5), 9) == 5
    with pytest.raises(StreamsError, match=r"Input record of in-3 at offset 7 has invalid \(negative\) timestamp -1"):
        fail_on_invalid_timestamp(record(-1), 9)
    with caplog.at_level(logging.WARNING):
        assert log_and_skip_on_invalid_timestamp(record(-1), 9) == -1
    assert "Input record of in-3 at offset 7 will be dropped" in caplog.text
    assert use_partition_time_on_invalid_timestamp(record(-1), 9) == 9
    with pytest.raises(StreamsError, match="because partition time is unknown"):
        use_partition_time_on_invalid_timestamp(record(-1), -1)


def test_an_extractor_that_fails_says_on_which_record() -> None:
    builder = StreamsBuilder()
    consumed = Consumed.with_(TEXT, TEXT).with_timestamp_extractor(lambda record, time: int(record.value))
    builder.stream("in", consumed).to("out", Produced.with_(TEXT, TEXT))
    with TopologyTestDriver(builder.build()) as driver:
        source = driver.create_input_topic("in", TEXT, TEXT)
        source.pipe_input("a", "7", 1)
        with pytest.raises(StreamsError, match="extractor failed on the record of in-0 at offset 1"):
            source.pipe_input("a", "x", 1)
        assert driver.create_output_topic("out", TEXT, TEXT).read_record().timestamp == 7
