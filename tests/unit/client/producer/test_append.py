"""The hot part of `send`, on both twins: what stands in the buffer is what the codec reads."""

from types import ModuleType, SimpleNamespace

import pytest

from ottla.protocol.records.batch import Batch
from ottla.protocol.records.reader import read_tuples

NOW = 1_794_800_000_000
RECORDS = [
    (NOW, b"k", b"v", None),
    (NOW + 5, None, b"", [("trace", b"1"), ("grüß", None)]),
    (NOW - 7, b"", None, (("", b""),)),
    (NOW + 2**40, b"x" * 200, b"y" * 70_000, None),
]


def test_records_are_read_back(twin: ModuleType) -> None:
    buffer = twin.RecordBuffer(1 << 20, 1.0)
    sizes = [buffer.append(*record) for record in RECORDS]
    assert buffer.used == 61 + sum(sizes)
    assert buffer.record_bytes_max == max(sizes)
    buffer.trimmed()
    buffer.write_header(0x10, 7, 3, 40)
    batch = Batch(buffer.data)
    assert batch.crc_matches()
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.is_transactional) == (7, 3, 40, True)
    assert (batch.base_timestamp, batch.max_timestamp) == (NOW, NOW + 2**40)
    expected = [
        (index, timestamp, key, value, tuple(headers or ()))
        for index, (timestamp, key, value, headers) in enumerate(RECORDS)
    ]
    assert read_tuples(buffer.data) == expected


def test_full_takes_its_first_record_and_no_more(twin: ModuleType) -> None:
    buffer = twin.RecordBuffer(100, 1.0)
    assert buffer.append(NOW, None, bytes(500), None) > 0
    assert buffer.append(NOW, None, b"", None) == -1
    assert buffer.count == 1


def test_expected_compression_makes_room(twin: ModuleType) -> None:
    buffer = twin.RecordBuffer(200, 0.1)
    for _ in range(10):
        assert buffer.append(NOW, None, bytes(100), None) > 0
    assert [buffer.append(NOW, None, bytes(100), None) for _ in range(10)][-1] == -1


@pytest.mark.parametrize(
    ("key", "value", "headers"),
    [
        ("text", b"", None),
        (b"", 7, None),
        (b"", bytearray(b"v"), None),
        (b"", b"", [("a", "b")]),
        (b"", b"", [(b"a", b"b")]),
        (b"", b"", {"a": b"b"}),
        (b"", b"", [("\ud800", b"b")]),
        (b"", b"", [("a",)]),
    ],
)
def test_unusual_is_left_alone(twin: ModuleType, key: object, value: object, headers: object) -> None:
    buffer = twin.RecordBuffer(1_000, 1.0)
    assert buffer.append(NOW, key, value, headers) == -2
    assert (buffer.count, buffer.used) == (0, 61)


def lane_of(twin: ModuleType, appender: object) -> object:
    lane = twin.TopicLane("t", 4)
    lane.open[2] = twin.RecordBuffer(1_000, 1.0)
    appender.lanes["t"] = lane  # type: ignore[attr-defined]
    appender.is_open = True  # type: ignore[attr-defined]
    return lane


def test_send_goes_to_the_open_batch(twin: ModuleType) -> None:
    appender = twin.Appender(10_000)
    lane = lane_of(twin, appender)
    heard: list[object] = []
    future = appender.append("t", b"value", b"key", 2, NOW, None, heard.append)
    assert (future.index, future.timestamp, future.key_size, future.value_size) == (0, NOW, 3, 5)
    assert future.batch is lane.open[2]  # type: ignore[attr-defined]
    assert appender.append("t", None, None, 2, None, None, None).index == 1
    assert appender.memory_used == future.batch.used - 61
    assert [(sent is future, callback == heard.append) for sent, callback in future.batch.callbacks] == [(True, True)]


def test_send_by_key_and_by_stickiness(twin: ModuleType) -> None:
    from ottla.client.producer.partitioner.murmur2 import partition_of_key

    appender = twin.Appender(1 << 20)
    lane = lane_of(twin, appender)
    lane.open = [twin.RecordBuffer(1_000, 1.0) for _ in range(4)]  # type: ignore[attr-defined]
    for key in (b"a", b"bb", b"ccc", b"dddd", b"eeeee"):
        future = appender.append("t", b"v", key, None, None, None, None)
        assert lane.open[partition_of_key(key, 4)] is future.batch  # type: ignore[attr-defined]
    assert appender.append("t", b"v", None, None, None, None, None) is None
    lane.sticky_partition = 3  # type: ignore[attr-defined]
    assert appender.append("t", b"v", None, None, None, None, None).batch is lane.open[3]  # type: ignore[attr-defined]
    assert lane.sticky_bytes > 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "arguments",
    [
        ("absent", b"v", None, 2, None, None, None),
        ("t", b"v", None, 0, None, None, None),
        ("t", b"v", None, 4, None, None, None),
        ("t", b"v", None, -1, None, None, None),
        ("t", b"v", None, 2, -5, None, None),
        ("t", "text", None, 2, None, None, None),
        ("t", b"v", "text", None, None, None, None),
        ("t", bytes(2_000), None, 2, None, None, None),
    ],
)
def test_whatever_is_not_common_changes_nothing(twin: ModuleType, arguments: tuple[object, ...]) -> None:
    appender = twin.Appender(1_000)
    lane = lane_of(twin, appender)
    assert appender.append(*arguments) is None
    assert appender.memory_used == 0
    assert lane.open[2].count == 0  # type: ignore[attr-defined]


def test_closed_takes_nothing(twin: ModuleType) -> None:
    appender = twin.Appender(1_000)
    lane_of(twin, appender)
    appender.is_open = False
    assert appender.append("t", b"v", None, 2, None, None, None) is None


def test_memory_is_reserved_and_given_back(twin: ModuleType) -> None:
    appender = twin.Appender(100)
    batch, other = SimpleNamespace(reserved_bytes=0), SimpleNamespace(reserved_bytes=0)
    assert appender.reserve(batch, 60)
    assert not appender.reserve(other, 60)
    appender.give_back(batch)
    appender.give_back(batch)
    assert appender.reserve(other, 90)
    assert appender.memory_used == 90
    appender.resize(60, 90)
    assert appender.memory_used == 120
