"""A record's way through converters and transforms, and what becomes of its errors."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from ottla.connect.columns import ColumnKind, SourceColumns
from ottla.connect.data.schema import INT32, STRING
from ottla.connect.errors import ConnectError, DataError, RetriableError, trace
from ottla.connect.harness import WORKER, CountedPause
from ottla.connect.pipeline.dead_letter import ConsumerRecord, DeadLetter, ProducerRecord
from ottla.connect.pipeline.record_pipeline import Dropped, RecordPipeline
from ottla.connect.pipeline.tolerance import ToleranceExceededError
from ottla.connect.record import Header, SinkRecord, SourceRecord
from ottla.connect.transform.header import InsertHeader
from ottla.connect.transform.transform import Transform

JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}
TOLERANT = {"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "dead"}
HEADERS = {**TOLERANT, "errors.deadletterqueue.context.headers.enable": "true"}


def test_a_sinks_record_passes_converters_and_transforms() -> None:
    made = pipeline(JSON, transforms="ts", **{
        "transforms.ts.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.ts.offset.field": "at",
    }).sink(consumed(b'{"a":1}', headers=(("h", b"42"),)))  # fmt: skip
    assert isinstance(made, SinkRecord)
    assert made.value == {"a": 1, "at": 7}
    assert made.key == "key"
    assert made.headers[0].value == 42
    assert made.original_offset == 7


def test_a_sources_record_passes_transforms_and_converters() -> None:
    record = SourceRecord(
        {}, {}, "topic", "text", key=5, key_schema=INT32, value_schema=STRING, partition=1, timestamp=9,
        headers=(Header("h", None, [1, "a"]),),
    )  # fmt: skip
    made = pipeline(
        {}, transforms="r", **{
            "transforms.r.type": "RegexRouter", "transforms.r.regex": "(.*)", "transforms.r.replacement": "$1-out",
        },
    ).source(record)  # fmt: skip
    assert made == ProducerRecord("topic-out", 1, b"5", b"text", (("h", b'[1,"a"]'),), 9)


def test_transforms_that_look_at_no_value_are_applied_to_columns_at_once() -> None:
    settings = {
        "transforms": "h,r,f", "transforms.h.type": "InsertHeader", "transforms.h.header": "h",
        "transforms.h.value.literal": "7", "transforms.r.type": "RegexRouter", "transforms.r.regex": "t(.*)",
        "transforms.r.replacement": "o$1", "transforms.f.type": "Filter", "transforms.f.predicate": "other",
        "predicates": "other", "predicates.other.type": "TopicNameMatches", "predicates.other.pattern": "out",
    }  # fmt: skip
    made = pipeline(settings)
    assert made.passes(ColumnKind.STRING)
    for topic in ("topic", "tut"):
        columns = SourceColumns(topic=topic, values=["a"], source_partition=None, source_offset=None)
        found, row = made.columns(columns), made.source(SourceRecord(None, None, topic, "a", value_schema=STRING))
        if isinstance(row, Dropped):
            assert topic == "tut"
            assert isinstance(found, Dropped)
        else:
            assert isinstance(found, SourceColumns)
            assert isinstance(row, ProducerRecord)
            assert (found.topic, found.headers, found.values) == (row.topic, row.headers, ["a"])
    looking = {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "string"}
    assert not pipeline(looking).passes(ColumnKind.STRING)
    mine = {"transforms": "m", "transforms.m.type": f"{__name__}:Marked", "transforms.m.header": "h",
            "transforms.m.value.literal": "7"}  # fmt: skip
    assert not pipeline(mine).passes(ColumnKind.STRING), "one's own may look at anything"


class Marked(InsertHeader):
    """One of a user's."""


def test_without_tolerance_an_error_is_the_end_and_the_trace_is_kafkas() -> None:
    with pytest.raises(ToleranceExceededError) as raised:
        pipeline(JSON).sink(consumed(b"{"))
    lines = trace(raised.value).splitlines()
    assert lines[0] == "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler"
    assert any(
        line.startswith("Caused by: org.apache.kafka.connect.errors.DataException: Converting byte[]") for line in lines
    )
    assert any(line.startswith("\tat ") for line in lines)


def test_a_dead_letter_is_the_record_as_it_was_read() -> None:
    made = pipeline({**JSON, **TOLERANT}).sink(consumed(b"{", headers=(("h", b"1"),)))
    assert isinstance(made, DeadLetter)
    assert made.record == ProducerRecord("dead", None, b"key", b"{", (("h", b"1"),), 1_000)


@pytest.mark.parametrize(
    ("settings", "stage", "class_name"),
    [
        (JSON, "VALUE_CONVERTER", "org.apache.kafka.connect.json.JsonConverter"),
        ({"key.converter": "LongConverter"}, "KEY_CONVERTER", "org.apache.kafka.connect.converters.LongConverter"),
        (
            {"header.converter": "ShortConverter"},
            "HEADER_CONVERTER",
            "org.apache.kafka.connect.converters.ShortConverter",
        ),
        (
            {"transforms": "c", "transforms.c.type": "Cast$Value", "transforms.c.spec": "int8"},
            "TRANSFORMATION",
            "org.apache.kafka.connect.transforms.Cast$Value",
        ),
    ],
)
def test_context_headers_say_what_failed(settings: Mapping[str, str], stage: str, class_name: str) -> None:
    made = pipeline({**settings, **HEADERS}).sink(consumed(b"{", headers=(("h", b"abc"),)))
    assert isinstance(made, DeadLetter)
    found = dict(made.record.headers)
    assert found["h"] == b"abc"
    told = {name.removeprefix("__connect.errors."): value for name, value in found.items() if name != "h"}
    assert list(told) == [
        "topic", "partition", "offset", "connector.name", "task.id", "stage", "class.name", "exception.class.name",
        "exception.message", "exception.stacktrace",
    ]  # fmt: skip
    assert (told["topic"], told["partition"], told["offset"]) == (b"topic", b"3", b"7")
    assert (told["connector.name"], told["task.id"]) == (b"c", b"2")
    assert (told["stage"], told["class.name"]) == (stage.encode(), class_name.encode())
    assert told["exception.class.name"] == b"org.apache.kafka.connect.errors.DataException"
    assert (told["exception.stacktrace"] or b"").startswith(b"org.apache.kafka.connect.errors.DataException: ")


def test_a_tolerated_error_without_dead_letter_topic_drops_the_record() -> None:
    made = pipeline({**JSON, "errors.tolerance": "all"}).sink(consumed(b"{"))
    assert isinstance(made, Dropped)
    assert made.failure is not None


def test_a_sources_dead_letter_keeps_what_could_not_be_converted() -> None:
    settings = {"key.converter": "LongConverter", **HEADERS}
    made = pipeline(settings).source(SourceRecord({"f": 1}, {"p": 2}, "topic", {"a": [1]}, key="no number"))
    assert isinstance(made, DeadLetter)
    assert (made.record.topic, made.record.key) == ("dead", b"no number")
    assert json.loads(made.record.value or b"") == {"a": [1]}
    assert dict(made.record.headers)["__connect.errors.stage"] == b"KEY_CONVERTER"


def test_retriable_errors_are_tried_again_with_growing_pauses() -> None:
    pause = CountedPause()
    Flaky.failures = 4
    settings = {"transforms": "f", "transforms.f.type": f"{__name__}:Flaky", "errors.retry.timeout": "60000"}
    assert isinstance(pipeline(settings, pause=pause).sink(consumed(b"v")), SinkRecord)
    assert pause.waited_ms == 300 + 600 + 1_200 + 2_400


def test_retries_end_at_the_timeout() -> None:
    pause = CountedPause()
    Flaky.failures = 1_000
    settings = {"transforms": "f", "transforms.f.type": f"{__name__}:Flaky", "errors.retry.timeout": "1000"}
    with pytest.raises(ToleranceExceededError):
        pipeline(settings, pause=pause).sink(consumed(b"v"))
    assert pause.waited_ms == 1_000


def test_any_exception_of_a_users_transform_is_handled() -> None:
    settings = {"transforms": "b", "transforms.b.type": f"{__name__}:Broken", **HEADERS}
    made = pipeline(settings).sink(consumed(b"v"))
    assert isinstance(made, DeadLetter)
    found = dict(made.record.headers)
    assert found["__connect.errors.class.name"] == f"{__name__}.Broken".encode()
    assert found["__connect.errors.exception.class.name"] == b"builtins.ZeroDivisionError"


@pytest.mark.parametrize(("negate", "passed"), [("false", [b"other"]), ("true", [None])])
def test_predicates_choose_the_records(negate: str, passed: list[bytes | None]) -> None:
    chain = pipeline(
        transforms="f", predicates="p", **{
            "transforms.f.type": "Filter", "transforms.f.predicate": "p", "transforms.f.negate": negate,
            "predicates.p.type": "RecordIsTombstone",
        },
    )  # fmt: skip
    outcomes = [chain.sink(consumed(value)) for value in (None, b"other")]
    values = [outcome.value for outcome in outcomes if isinstance(outcome, SinkRecord)]
    assert values == [None if value is None else value.decode() for value in passed]


def test_an_undeclared_predicate_fails_the_task() -> None:
    with pytest.raises(ConnectError, match="There is no predicate p"):
        pipeline({"transforms": "f", "transforms.f.type": "Filter", "transforms.f.predicate": "p"})


def test_converters_of_the_worker_have_the_workers_options() -> None:
    worker = {"key.converter": "StringConverter", "value.converter": "JsonConverter",
              "value.converter.schemas.enable": "false"}  # fmt: skip
    made = RecordPipeline.of({"name": "c", "value.converter.schemas.enable": "true"}, worker, 0, CountedPause())
    outcome = made.sink(consumed(b"[1]"))
    assert isinstance(outcome, SinkRecord)
    assert outcome.value == [1]


def test_tolerated_errors_are_logged_where_that_is_wanted(caplog: pytest.LogCaptureFixture) -> None:
    settings = {**JSON, **TOLERANT, "errors.log.enable": "true", "errors.log.include.messages": "true"}
    with caplog.at_level(logging.ERROR):
        pipeline(settings).sink(consumed(b"secret {"))
    assert "Error encountered in task c-2. Executing stage 'VALUE_CONVERTER'" in caplog.text
    place = "topic='topic', partition=3, offset=7, timestamp=1000, timestampType=CreateTime"
    assert f"with class '{JSON['value.converter']}', where consumed record is {{{place}}}.\n" in caplog.text
    assert "Converting byte[] to Kafka Connect data failed due to serialization error: " in caplog.text
    assert "Caused by: " in caplog.text
    assert "secret" not in caplog.text


def test_the_error_that_ends_a_task_is_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    made = pipeline(JSON, **{"errors.log.enable": "true"})
    with caplog.at_level(logging.ERROR), pytest.raises(ToleranceExceededError):
        made.sink(consumed(b"{"))
    assert "Error encountered in task c-2. Executing stage 'VALUE_CONVERTER'" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.ERROR), pytest.raises(ToleranceExceededError):
        made.report(consumed(b"v"), DataError("no room"), "my.Sink")
    assert "Executing stage 'TASK_PUT' with class 'my.Sink'.\n" in caplog.text
    caplog.clear()
    broken = pipeline({"transforms": "b", "transforms.b.type": f"{__name__}:Broken", "errors.log.enable": "true"})
    with caplog.at_level(logging.ERROR), pytest.raises(ToleranceExceededError):
        broken.source(SourceRecord({"file": "a"}, {"line": 1}, "t", "v"))
    assert "Executing stage 'TRANSFORMATION'" in caplog.text


def test_what_a_sink_reports_becomes_a_dead_letter() -> None:
    made = pipeline(HEADERS).report(consumed(b"v"), DataError("no room"), "my.Sink")
    assert isinstance(made, DeadLetter)
    assert dict(made.record.headers)["__connect.errors.stage"] == b"TASK_PUT"
    silent = pipeline(HEADERS).report(consumed(b"v"), ValueError(), "my.Sink")
    assert isinstance(silent, DeadLetter)
    assert dict(silent.record.headers)["__connect.errors.exception.message"] is None
    with pytest.raises(ToleranceExceededError):
        pipeline().report(consumed(b"v"), DataError("no room"), "my.Sink")


class Flaky(Transform):
    """Fails some times."""

    failures = 0

    def apply(self, record: Any) -> Any:
        if Flaky.failures:
            Flaky.failures -= 1
            raise RetriableError("not yet")
        return record


class Broken(Transform):
    """Fails always."""

    def apply(self, record: Any) -> Any:
        return 1 // 0


def pipeline(
    given: Mapping[str, str] | None = None, *, pause: CountedPause | None = None, **more: str
) -> RecordPipeline:
    return RecordPipeline.of({"name": "c", **(given or {}), **more}, WORKER, 2, pause or CountedPause())


def consumed(value: bytes | None, headers: tuple[tuple[str, bytes | None], ...] = ()) -> ConsumerRecord:
    return ConsumerRecord("topic", 3, 7, 1_000, "CreateTime", b"key", value, headers)
