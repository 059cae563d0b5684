"""Records and their reader, compiled and plain."""

import copy
import pickle
from types import ModuleType
from typing import Any

import pytest

from ottla.base.accelerated import compiled_module
from ottla.client.consumer.errors import RecordDeserializationError
from ottla.client.consumer.fetch import record_plain
from ottla.client.consumer.fetch.record import Record
from ottla.client.consumer.fetch.record_plain import RecordSource
from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.writer import BatchOptions, write_batch

_compiled = compiled_module("ottla.client.consumer.fetch._record")
SOURCE = RecordSource("orders", 3)
TUPLES = [
    (10, 1000, b"k", b"v", ()),
    (11, 1001, None, b"", (("a", b"1"), ("a", None), ("größe", b""))),
    (15, 999, b"", None, ()),
]


@pytest.fixture(params=["compiled", "plain"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    """Each twin in turn; skips what is not installed."""
    if request.param == "plain":
        return record_plain
    return _compiled or pytest.skip("not compiled")


def reader(twin: ModuleType, source: RecordSource = SOURCE, **options: Any) -> Any:
    data = write_batch(TUPLES, BatchOptions(base_offset=10, **options))
    batch = Batch(data)
    batch.assign(base_offset=10, partition_leader_epoch=7)
    return twin.RecordReader(batch.records, batch, source)


def test_all_fields(twin: ModuleType) -> None:
    out: list[Any] = []
    assert reader(twin).take(out, 100, 0) == 16
    assert [(record.offset, record.timestamp, record.key, record.value, record.headers) for record in out] == TUPLES
    assert {(record.topic, record.partition, record.leader_epoch) for record in out} == {("orders", 3, 7)}
    assert {record.timestamp_type for record in out} == {TimestampType.CREATE_TIME}


def test_the_time_of_the_broker(twin: ModuleType) -> None:
    out: list[Any] = []
    reader(twin, log_append_time=5000).take(out, 100, 0)
    assert {(record.timestamp, record.timestamp_type) for record in out} == {(5000, TimestampType.LOG_APPEND_TIME)}


def test_a_few_at_a_time(twin: ModuleType) -> None:
    some, out = reader(twin), list[Any]()
    assert (some.take(out, 1, 0), some.is_done) == (11, False)
    assert (some.take(out, 1, 11), some.is_done) == (12, False)
    assert (some.take(out, 9, 12), some.is_done) == (16, True)
    assert some.take(out, 9, 16) == 16
    assert [record.offset for record in out] == [10, 11, 15]


def test_what_lies_before_the_position_is_left_out(twin: ModuleType) -> None:
    out: list[Any] = []
    assert reader(twin).take(out, 100, 12) == 16
    assert [record.offset for record in out] == [15]


def test_a_record_that_is_refused_stays_in_front(twin: ModuleType) -> None:
    def strict(topic: str, headers: object, data: bytes | None) -> int:
        if data is None:
            raise ValueError("no value")
        return len(data)

    some, out = reader(twin, RecordSource("orders", 3, None, strict)), list[Any]()
    for _ in range(2):
        with pytest.raises(RecordDeserializationError) as raised:
            some.take(out, 100, 0)
        assert raised.value.offset == 15
        assert isinstance(raised.value.__cause__, ValueError)
        assert [(record.offset, record.value) for record in out] == [(10, 1), (11, 0)]
        assert not some.is_done


def test_deserializers_get_topic_and_headers(twin: ModuleType) -> None:
    source = RecordSource("orders", 3, lambda *given: given, None)
    out: list[Any] = []
    reader(twin, source).take(out, 100, 0)
    assert out[1].key == ("orders", (("a", b"1"), ("a", None), ("größe", b"")), None)
    assert out[1].value == b""


def test_malformed_frames_are_refused(twin: ModuleType) -> None:
    data = write_batch(TUPLES, BatchOptions(base_offset=10))
    batch = Batch(data)
    with pytest.raises(DecodeError):
        twin.RecordReader(bytes(batch.records)[:-1], batch, RecordSource("orders", 3)).take([], 100, 0)
    with pytest.raises(DecodeError):
        twin.RecordReader(bytes(batch.records) + b"x", batch, RecordSource("orders", 3)).take([], 100, 0)


def test_records_compare_and_show(twin: ModuleType) -> None:
    record = twin.Record("orders", 0, 5, "k", {"v": 1}, timestamp=7, headers=[("h", None)], leader_epoch=2)
    assert record == twin.Record("orders", 0, 5, "k", {"v": 1}, timestamp=7, headers=[("h", None)], leader_epoch=2)
    assert record != twin.Record("orders", 0, 5, "k", None)
    assert record != 5
    assert len({record, record}) == 1
    assert "topic='orders', partition=0, offset=5" in repr(record)
    assert twin.Record("orders", 0, 5).leader_epoch is None


def test_records_are_pickled_and_copied() -> None:
    record = Record("orders", 0, 5, "k", {"v": 1}, timestamp=7, headers=[("h", None)], leader_epoch=2)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert record_plain.fields(pickle.loads(pickle.dumps(record, protocol))) == record_plain.fields(record)
    assert record_plain.fields(copy.deepcopy(record)) == record_plain.fields(record)
