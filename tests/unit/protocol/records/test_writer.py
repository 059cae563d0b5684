"""Batches from tuples, and from a producer's records one by one."""

import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import EncodeError
from ottla.protocol.records.batch import HEADER_BYTES, Batch
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.record import Record
from ottla.protocol.records.writer import BatchBuilder, BatchOptions, write_batch

pytestmark = pytest.mark.usefixtures("twin")


@pytest.mark.parametrize("compression", CompressionType)
def test_every_codec_is_read_back(compression: CompressionType) -> None:
    records = [(offset, 1000 + offset, b"key", b"value" * offset, (("h", b"1"),)) for offset in range(0, 900, 3)]
    data = write_batch(records, BatchOptions(compression=compression))
    assert Batch(data).compression is compression
    assert Batch(data).crc_matches()
    assert read_tuples(data) == records


def test_named_records_are_written_like_tuples() -> None:
    record = Record(offset=7, timestamp=1, key=None, value=b"v")
    assert write_batch([record]) == write_batch([(7, 1, None, b"v", ())])


def test_the_header_comes_from_records_and_options() -> None:
    options = BatchOptions(base_offset=90, last_offset=120, partition_leader_epoch=4, producer_id=1, producer_epoch=2)
    batch = Batch(write_batch([(100, 50, None, b"a", ()), (110, 40, None, b"b", ())], options))
    assert (batch.base_offset, batch.last_offset, batch.records_count) == (90, 120, 2)
    assert (batch.base_timestamp, batch.max_timestamp) == (50, 50)
    assert (batch.partition_leader_epoch, batch.producer_id, batch.producer_epoch) == (4, 1, 2)


def test_no_records_make_an_empty_batch() -> None:
    batch = Batch(write_batch([], BatchOptions(base_offset=5)))
    assert (batch.size, batch.records_count, batch.base_offset, batch.last_offset) == (HEADER_BYTES, 0, 5, 5)
    assert read_tuples(batch.data) == []


@pytest.mark.parametrize(
    ("records", "options", "path"),
    [
        ([(0, 0, "k", None, ())], BatchOptions(), "records[0].key"),
        ([("0", 0, None, None, ())], BatchOptions(), "records[0].offset"),
        ([(2**63, 0, None, None, ())], BatchOptions(), "records[0].offset"),
        ([(0, None, None, None, ())], BatchOptions(), "records[0].timestamp"),
        ([None], BatchOptions(), "records[0]"),
        ([(4, 0, None, None, ())], BatchOptions(base_offset=5), "records[0].offset"),
        ([(4, 0, None, None, ()), (4, 0, None, None, ())], BatchOptions(), "records[1].offset"),
        ([(0, 0, None, None, ())], BatchOptions(producer_epoch=2**15), "batch"),
        ([(0, 0, None, None, ())], BatchOptions(last_offset=2**40), "batch"),
        ([(5, 0, None, None, ())], BatchOptions(last_offset=3), "last_offset"),
        ([(5, 0, None, None, ()), (6, 0, None, None, ())], BatchOptions(last_offset=5), "last_offset"),
        ([], BatchOptions(base_offset=9, last_offset=8), "last_offset"),
    ],
)
def test_what_no_batch_can_hold(records: list[tuple], options: BatchOptions, path: str) -> None:
    with pytest.raises(EncodeError) as caught:
        write_batch(records, options)
    assert caught.value.path == path


def test_a_batch_may_end_with_its_last_record_or_later() -> None:
    for last_offset in (6, 7):
        batch = Batch(
            write_batch([(5, 0, None, None, ()), (6, 0, None, None, ())], BatchOptions(last_offset=last_offset))
        )
        assert (batch.base_offset, batch.last_offset) == (5, last_offset)
    assert Batch(write_batch([], BatchOptions(base_offset=9, last_offset=9))).last_offset == 9


def test_a_builder_knows_its_size_to_the_byte() -> None:
    builder = BatchBuilder(max_bytes=10_000)
    for index in range(60):
        assert builder.append(1000 + index * 300, b"k", b"v" * index, (("name", b"x"),))
        assert len(builder.build()) == builder.size
    assert len(builder) == 60
    assert [record[0] for record in read_tuples(builder.build())] == list(range(60))


def test_a_full_builder_refuses_and_stays_as_it_is() -> None:
    builder = BatchBuilder(max_bytes=500)
    while builder.append(0, None, b"v" * 50):
        pass
    before = builder.build()
    assert 400 < len(before) <= 500
    assert not builder.append(0, None, b"v" * 50)
    assert builder.build() == before
    assert builder.append(0, None, b"")


def test_the_first_record_always_fits() -> None:
    builder = BatchBuilder(max_bytes=100)
    assert builder.append(0, None, b"v" * 1000)
    assert not builder.append(0, None, b"")


def test_a_compressing_builder_goes_by_the_ratio() -> None:
    options = BatchOptions(compression=CompressionType.LZ4)
    counts = []
    for ratio in (1.0, 0.25):
        builder = BatchBuilder(options, max_bytes=2000, compression_ratio=ratio)
        while builder.append(0, None, b"v" * 90):
            pass
        counts.append(len(builder))
    assert counts[1] > 3.5 * counts[0]


def test_a_builder_names_the_record_it_cannot_take() -> None:
    builder = BatchBuilder()
    builder.append(0, None, b"")
    with pytest.raises(EncodeError) as caught:
        builder.append(0, "text", b"")
    assert caught.value.path == "records[1].key"
    with pytest.raises(EncodeError) as caught:
        BatchBuilder().append(2**64, None, b"")
    assert caught.value.path == "records[0].timestamp"
