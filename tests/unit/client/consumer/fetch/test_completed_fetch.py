"""What comes out of a fetch answer: data without markers and aborted transactions, and where it ends."""

import pytest

from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.fetch.record import Record, RecordSource
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.errors import RecordTooLargeError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import CorruptMessageError
from ottla.protocol.messages.fetch import AbortedTransaction
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.control import ControlRecordType, EndTransactionMarker, write_end_marker
from ottla.protocol.records.writer import BatchOptions, emptied, write_batch

PARTITION = TopicPartition("orders", 0)
SOURCE = RecordSource(*PARTITION)
_COMMIT = ControlRecordType.COMMIT


def data(*offsets: int, producer_id: int = -1, epoch: int = 4) -> bytes:
    """A batch with records at these offsets; of a transaction if there is a producer."""
    is_transactional = producer_id >= 0
    options = BatchOptions(
        base_offset=offsets[0],
        producer_id=producer_id,
        producer_epoch=0 if is_transactional else -1,
        base_sequence=0 if is_transactional else -1,
        is_transactional=is_transactional,
    )
    batch = write_batch([(offset, 1000, None, b"%d" % offset, ()) for offset in offsets], options)
    Batch(batch).assign(base_offset=offsets[0], partition_leader_epoch=epoch)
    return bytes(batch)


def marker(offset: int, producer_id: int, kind: ControlRecordType = ControlRecordType.ABORT) -> bytes:
    batch = write_end_marker(EndTransactionMarker(kind, 0), producer_id=producer_id, producer_epoch=0, timestamp=1)
    Batch(batch).assign(base_offset=offset, partition_leader_epoch=4)
    return bytes(batch)


def fetched(records: bytes, start: int = 0, *, aborted: dict[int, int] | None = None) -> CompletedFetch:
    named = [AbortedTransaction(producer_id=key, first_offset=value) for key, value in (aborted or {}).items()]
    return CompletedFetch(FetchedData(PartitionState(PARTITION), 0, Position(start, 3), memoryview(records), named))


def offsets(fetch: CompletedFetch, records_max: int = 100) -> list[int]:
    out: list[Record] = []
    fetch.take(out, records_max, SOURCE)
    return [record.offset for record in out]


def test_records_come_a_few_at_a_time_across_batches() -> None:
    fetch = fetched(data(0, 1, 2) + data(3, 4, epoch=5))
    assert fetch.end == Position(5, 5)
    assert (offsets(fetch, 2), fetch.position) == ([0, 1], Position(2, 4))
    assert (offsets(fetch, 2), fetch.position) == ([2, 3], Position(4, 5))
    assert (offsets(fetch, 2), fetch.position, fetch.is_drained) == ([4], Position(5, 5), True)


def test_a_fetch_that_starts_inside_a_batch() -> None:
    assert offsets(fetched(data(0, 1, 2, 3), start=2)) == [2, 3]


def test_what_compaction_left() -> None:
    """The last offset of a batch counts, even if its record is gone."""
    whole = bytearray(data(0, 2, 9))
    fetch = fetched(bytes(whole))
    assert (offsets(fetch), fetch.position.offset) == ([0, 2, 9], 10)


def test_markers_are_passed_over_and_the_position_goes_behind_them() -> None:
    fetch = fetched(data(0, producer_id=7) + marker(1, 7, ControlRecordType.COMMIT))
    assert (offsets(fetch), fetch.position, fetch.is_drained) == ([0], Position(2, 4), True)
    fetch = fetched(marker(5, 7), start=5)
    assert (offsets(fetch), fetch.position.offset, fetch.is_drained) == ([], 6, True)


def test_aborted_transactions_are_left_out() -> None:
    """The module's example."""
    records = (
        data(10, 11, 12, producer_id=7)
        + data(13, producer_id=8)
        + data(14, 15, producer_id=7)
        + marker(16, 7)
        + data(17, 18, producer_id=7)
    )
    assert offsets(fetched(records, start=10, aborted={7: 10})) == [13, 17, 18]
    assert offsets(fetched(records, start=10)) == [10, 11, 12, 13, 14, 15, 17, 18]


def test_a_fetch_that_begins_with_the_end_of_an_aborted_transaction() -> None:
    """Its data came before, as from the segment before: what the producer writes next is no part of it."""
    fetch = fetched(marker(10, 7) + data(11, 12, producer_id=7) + marker(13, 7, _COMMIT), start=10, aborted={7: 0})
    assert offsets(fetch) == [11, 12]


def test_a_marker_without_its_record() -> None:
    """Compaction keeps it so, for its producer's epoch: whatever it ended is over."""
    empty = bytes(emptied(Batch(marker(11, 7))))
    fetch = fetched(
        data(10, producer_id=8) + empty + data(12, producer_id=7) + marker(13, 8), start=10, aborted={8: 10}
    )
    assert (offsets(fetch), fetch.position.offset) == ([12], 14)
    fetch = fetched(data(10, producer_id=7) + empty + data(12, producer_id=7), start=10, aborted={7: 10})
    assert offsets(fetch) == [12]


def test_what_is_put_back_is_seen_from_the_position_on() -> None:
    """The marker of the aborted transaction is before the position, and ends it all the same."""
    records = data(0, producer_id=7) + marker(1, 7) + data(2, producer_id=7) + data(3, producer_id=7)
    fetch = fetched(records, aborted={7: 0})
    assert offsets(fetch, 1) == [2]
    fetch.rewind()
    assert offsets(fetch) == [3]


def test_data_without_a_transaction_between_aborted_ones() -> None:
    records = data(0, producer_id=7) + data(1) + data(2, producer_id=9) + marker(3, 7) + marker(4, 9)
    assert offsets(fetched(records, aborted={9: 2, 7: 0})) == [1]


def test_bytes_for_arrow_are_the_batches_that_are_left() -> None:
    whole = data(0, 1) + data(2, 3)
    fetch = fetched(whole)
    assert [bytes(piece) for piece in fetch.take_data()] == [whole]
    fetch.rewind()
    assert offsets(fetch, 1) == [0]
    assert [bytes(piece) for piece in fetch.take_data()] == [whole]
    fetch.finish()
    assert fetch.is_drained
    first, last = data(0, producer_id=7), data(3, producer_id=8)
    fetch = fetched(first + data(1, producer_id=8) + marker(2, 7) + last, aborted={7: 0})
    assert [bytes(piece) for piece in fetch.take_data()] == [data(1, producer_id=8), last]


def test_a_wrong_crc_is_raised_until_somebody_seeks() -> None:
    bad = bytearray(data(1, 2))
    bad[-1] ^= 1
    fetch = fetched(data(0) + bytes(bad))
    assert offsets(fetch, 1) == [0]
    for _ in range(2):
        with pytest.raises(CorruptMessageError, match=r"offset 1 of orders-0 .* seek\(\) to 3"):
            offsets(fetch)
        assert fetch.position.offset == 1


def test_a_batch_that_the_limit_cut_off() -> None:
    whole = data(0, 1) + data(2, 3)
    fetch = fetched(whole[:-1])
    assert (offsets(fetch), fetch.end.offset) == ([0, 1], 2)
    with pytest.raises(RecordTooLargeError, match=r"max\.partition\.fetch\.bytes"):
        fetched(data(0, 1)[:-1])
