"""Fetched batches as Arrow columns: which columns, and the ones that all rows share."""

import pytest

from ottla.client.consumer.fetch.arrow_batch import ArrowReader
from ottla.client.consumer.fetch.arrow_columns import COLUMNS, arrow_reader
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.record import TopicPartition
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.records.writer import write_batch


def fetched(partition: TopicPartition, rows: int, start: int = 0) -> CompletedFetch:
    records = write_batch([(offset, 1000, None, b"%d" % offset, ()) for offset in range(rows)])
    return CompletedFetch(FetchedData(PartitionState(partition), 0, Position(start), memoryview(bytes(records))))


def test_all_columns_in_their_order() -> None:
    batch = ArrowReader(COLUMNS).read(fetched(TopicPartition("orders", 3), 2, start=1), check_crcs=True)
    assert tuple(batch.schema.names) == COLUMNS
    [row] = batch.to_pylist()
    assert (row["topic"], row["partition"], row["offset"], row["value"]) == ("orders", 3, 1, b"1")


def test_shared_columns_fit_batches_of_any_length() -> None:
    reader = ArrowReader(("partition", "topic"))
    for number in range(40):
        for rows in (2, 5, 3):
            batch = reader.read(fetched(TopicPartition(f"t{number}", number), rows), check_crcs=True)
            assert batch.to_pydict() == {"partition": [number] * rows, "topic": [f"t{number}"] * rows}
            batch.validate(full=True)


def test_columns_that_there_are_not() -> None:
    for wrong in (("offset", "offset"), ("size",)):
        with pytest.raises(ValueError, match="columns are some of"):
            arrow_reader(wrong)


def test_a_wrong_crc_is_refused() -> None:
    records = bytearray(write_batch([(0, 1000, None, b"v", ())]))
    records[-2] ^= 1
    state = PartitionState(TopicPartition("orders", 0))
    fetch = CompletedFetch(FetchedData(state, 0, Position(0), memoryview(records)))
    with pytest.raises(CorruptMessageError):
        ArrowReader(COLUMNS).read(fetch, check_crcs=True)
    assert fetch.position == Position(0)
