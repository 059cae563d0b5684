import pytest

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import HEADER_BYTES, Batch
from ottla.protocol.records.control import ControlRecordType
from ottla.protocol.records.reader import ReadOptions, read_tuples
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.cleaner.batch_filter import BatchFilter
from ottla.storage.cleaner.filter_rules import FilterRules, LastRecord
from ottla.storage.cleaner.key_map import KeyMap
from ottla.storage.cleaner.transaction import CleanedTransactions
from ottla.storage.index.transaction_index import AbortedTransaction
from tests.unit.storage.log_builder import marker, placed, produced

T0 = 1_700_000_000_000
DAY_MS = 86_400_000


def batch_filter(
    *indexed: Batch,
    now_ms: int = T0,
    latest: int = 1000,
    end: int = 10_000,
    producers: dict[int, LastRecord] | None = None,
    aborted: tuple[AbortedTransaction, ...] = (),
) -> BatchFilter:
    """A filter that knows the keys of some batches."""
    keys = KeyMap(1000, b"0123456789abcdef")
    for batch in indexed:
        keys.index(batch.records, batch.records_count, batch.base_offset, 0)
    rules = FilterRules(latest, end, now_ms, DAY_MS, producers or {})
    return BatchFilter(keys, CleanedTransactions(aborted), rules)


def batch_of(records: list[RecordTuple], **options: object) -> Batch:
    return Batch(write_batch(records, BatchOptions(**options)))  # type: ignore[arg-type]


def later(*keys: bytes) -> Batch:
    return Batch(write_batch([(900 + index, T0, key, b"later", ()) for index, key in enumerate(keys)]))


ABA: list[RecordTuple] = [
    (10, T0, b"a", b"1", ()), (11, T0 + 5, b"b", b"2", (("h", b"x"),)), (12, T0 + 2, b"c", b"3", ()),
]  # fmt: skip


def test_a_batch_of_last_values_stays_as_it_is() -> None:
    batch = batch_of(ABA)
    assert batch_filter(batch).apply(batch) == batch.data


@pytest.mark.parametrize("codec", list(CompressionType))
def test_old_records_go_and_the_batch_keeps_its_range(codec: CompressionType) -> None:
    options = {"producer_id": 7, "producer_epoch": 1, "base_sequence": 40, "partition_leader_epoch": 3}
    batch = batch_of(ABA, compression=codec, **options)
    kept = batch_filter(batch_of(ABA), later(b"a", b"c")).apply(batch)
    assert kept is not None
    found = Batch(kept)
    assert read_tuples(kept) == [ABA[1]]
    assert found.crc_matches()
    assert (found.base_offset, found.last_offset, found.base_sequence, found.records_count) == (10, 12, 40, 1)
    assert (found.producer_id, found.producer_epoch, found.partition_leader_epoch) == (7, 1, 3)
    assert (found.base_timestamp, found.max_timestamp, found.compression) == (T0 + 5, T0 + 5, codec)


def test_a_batch_whose_records_are_all_old_goes() -> None:
    assert batch_filter(later(b"a", b"b", b"c")).apply(batch_of(ABA)) is None


def test_records_above_the_indexed_part_stay() -> None:
    kept = batch_filter(later(b"a", b"b", b"c"), latest=10).apply(batch_of(ABA))
    assert kept is not None
    assert read_tuples(kept) == ABA[1:]


def test_a_producers_last_batch_stays_empty() -> None:
    batch = batch_of(ABA, producer_id=7, producer_epoch=1, base_sequence=40)
    known = batch_filter(later(b"a", b"b", b"c"), producers={7: LastRecord(12, 1)}).apply(batch)
    assert known is not None
    found = Batch(known)
    assert (found.size, found.records_count, found.crc_matches()) == (HEADER_BYTES, 0, True)
    assert (found.base_offset, found.last_offset, found.last_sequence) == (10, 12, 42)
    assert (found.base_timestamp, found.max_timestamp) == (-1, T0 + 5)
    assert batch_filter(later(b"a", b"b", b"c"), producers={7: LastRecord(20, 1)}).apply(batch) is None


def test_the_last_batch_of_the_round_stays_empty() -> None:
    kept = batch_filter(later(b"a", b"b", b"c"), end=13).apply(batch_of(ABA))
    assert kept is not None
    assert Batch(kept).records_count == 0


def test_a_tombstone_gets_a_horizon_and_goes_once_it_is_over() -> None:
    records: list[RecordTuple] = [(10, T0, b"a", b"1", ()), (11, T0 + 5, b"b", None, ())]
    batch = batch_of(records)
    first = batch_filter(batch).apply(batch)
    assert first is not None
    marked = Batch(first)
    assert marked.delete_horizon_ms == T0 + DAY_MS
    assert read_tuples(first) == records
    assert marked.max_timestamp == T0 + 5
    before = batch_filter(batch, now_ms=T0 + DAY_MS - 1).apply(marked)
    assert before == marked.data
    after = batch_filter(batch, now_ms=T0 + DAY_MS).apply(marked)
    assert after is not None
    assert read_tuples(after) == records[:1]
    assert Batch(after).delete_horizon_ms == T0 + DAY_MS


def test_the_brokers_time_stays_that_of_every_record() -> None:
    batch = batch_of(ABA, log_append_time=T0 + 77)
    kept = batch_filter(batch_of(ABA), later(b"a")).apply(batch)
    assert kept is not None
    assert [record[1] for record in read_tuples(kept)] == [T0 + 77] * 2
    assert (Batch(kept).base_timestamp, Batch(kept).max_timestamp) == (T0 + 77, T0 + 77)


def control(offset: int, kind: ControlRecordType) -> Batch:
    return Batch(placed(marker(5, 0, kind), offset))


def data(offset: int, count: int = 1) -> Batch:
    return Batch(placed(produced(5, 0, 0, count, transactional=True), offset))


def test_batches_of_an_aborted_transaction_go_and_its_marker_waits_for_them() -> None:
    aborted = AbortedTransaction(5, 0, 2, 3)
    cleaning = batch_filter(aborted=(aborted,))
    assert cleaning.apply(data(0, 2)) is None
    stays = control(2, ControlRecordType.ABORT)
    assert cleaning.apply(stays) == stays.data
    assert cleaning._transactions.take_retained() == [aborted]


def test_a_marker_without_batches_gets_a_horizon_and_goes_once_it_is_over() -> None:
    alone = control(2, ControlRecordType.COMMIT)
    kept = batch_filter().apply(alone)
    assert kept is not None
    marked = Batch(kept)
    assert (marked.delete_horizon_ms, marked.records_count, marked.is_control) == (T0 + DAY_MS, 1, True)
    assert read_tuples(kept, ReadOptions(control_records=True)) == read_tuples(
        alone.data, ReadOptions(control_records=True)
    )
    assert batch_filter(now_ms=T0 + DAY_MS).apply(marked) is None
    last = batch_filter(now_ms=T0 + DAY_MS, producers={5: LastRecord(None, 0)}).apply(marked)
    assert last is not None
    assert Batch(last).records_count == 0


def test_a_commit_marker_stays_while_a_batch_of_its_transaction_does() -> None:
    batch, commit = data(0), control(1, ControlRecordType.COMMIT)
    cleaning = batch_filter(batch)
    assert cleaning.apply(batch) == batch.data
    assert cleaning.apply(commit) == commit.data


def test_the_same_producers_next_transaction_is_not_taken_for_the_aborted_one() -> None:
    cleaning = batch_filter(data(3), aborted=(AbortedTransaction(5, 0, 2, 3),))
    assert cleaning.apply(data(0, 2)) is None
    cleaning.apply(control(2, ControlRecordType.ABORT))
    assert cleaning.apply(data(3)) is not None
