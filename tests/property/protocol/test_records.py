"""Any records, any options: what is written is read back, by either twin."""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import Batch, batches
from ottla.protocol.records.reader import ReadOptions, iterate_records, read_tuples
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.timestamp import TimestampType
from ottla.protocol.records.writer import BatchOptions, recompress, write_batch
from tests.unit.protocol.records import twins

EVERYTHING = ReadOptions(control_records=True)
int64s = st.integers(-(2**63), 2**63 - 1)
timestamps = st.one_of(st.integers(-1, 3 * 10**12), int64s)
payloads = st.one_of(st.none(), st.binary(max_size=40), st.binary(min_size=60, max_size=200))
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
headers = st.lists(st.tuples(names, payloads), max_size=3).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[RecordTuple]:
    """Records whose offsets rise, mostly by one."""
    gaps = draw(st.lists(st.one_of(st.just(1), st.integers(1, 2**20)), max_size=12))
    offset = draw(st.integers(0, 2**62))
    records = []
    for gap in gaps:
        records.append((offset, draw(timestamps), draw(payloads), draw(payloads), draw(headers)))
        offset += gap
    return records


options = st.builds(
    BatchOptions,
    compression=st.sampled_from(CompressionType),
    partition_leader_epoch=st.integers(-1, 2**31 - 1),
    log_append_time=st.one_of(st.none(), timestamps),
    delete_horizon_ms=st.one_of(st.none(), timestamps),
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    base_sequence=st.integers(-1, 2**31 - 1),
    is_transactional=st.booleans(),
    is_control=st.booleans(),
)


@given(record_lists(), options)
@settings(max_examples=150, deadline=None)
def test_a_batch_is_read_back(records: list[RecordTuple], chosen: BatchOptions) -> None:
    data = write_batch(records, chosen)
    stamp = chosen.log_append_time
    expected = records if stamp is None else [(record[0], stamp, *record[2:]) for record in records]
    assert read_tuples(data, EVERYTHING) == expected
    assert list(iterate_records(data, EVERYTHING)) == expected
    batch = Batch(data)
    assert batch.attributes == chosen.attributes
    assert (batch.producer_id, batch.producer_epoch) == (chosen.producer_id, chosen.producer_epoch)
    assert (batch.base_sequence, batch.delete_horizon_ms) == (chosen.base_sequence, chosen.delete_horizon_ms)
    if records:
        assert (batch.base_offset, batch.last_offset) == (records[0][0], records[-1][0])


@pytest.mark.parametrize("twin", twins.FRAMES, ids=twins.name)
@given(record_lists(), int64s, st.one_of(st.none(), int64s))
@settings(max_examples=100, deadline=None)
def test_frames_are_read_back(
    twin: ModuleType, records: list[RecordTuple], base_timestamp: int, stamp: int | None
) -> None:
    base_offset = records[0][0] if records else 0
    section, last_delta, highest = twin.encode(records, base_offset, base_timestamp, 0)
    expected = [(record[0], record[1] if stamp is None else stamp, *record[2:]) for record in records]
    assert twin.decode(section, len(records), base_offset, base_timestamp, stamp) == expected
    assert list(twin.iterate(section, len(records), base_offset, base_timestamp, stamp)) == expected
    assert highest == max((record[1] for record in records), default=-1)
    assert last_delta == (records[-1][0] - base_offset if records else -1)
    _, scanned_highest, null_keys, consecutive = twin.scan(section, len(records), base_timestamp)
    assert scanned_highest == highest
    assert null_keys == sum(record[2] is None for record in records)
    assert consecutive == ([record[0] - base_offset for record in records] == list(range(len(records))))


@pytest.mark.skipif(len(twins.FRAMES) < 2, reason="the compiled twin was not built")
@given(record_lists(), int64s)
@settings(max_examples=100, deadline=None)
def test_the_twins_write_the_same_bytes(records: list[RecordTuple], base_timestamp: int) -> None:
    base_offset = records[0][0] if records else 0
    plain, compiled = (twin.encode(records, base_offset, base_timestamp, 7) for twin in twins.FRAMES)
    assert plain == compiled
    for record in records:
        plain, compiled = (twin.record_size(record, 0, base_offset, base_timestamp) for twin in twins.FRAMES)
        assert plain == compiled


@pytest.mark.parametrize("twin", twins.BATCHES, ids=twins.name)
@given(record_lists(), int64s, st.integers(-(2**31), 2**31 - 1), int64s, st.sampled_from(TimestampType))
@settings(max_examples=60, deadline=None)
def test_patches_change_only_what_they_name(
    twin: ModuleType, records: list[RecordTuple], offset: int, epoch: int, time: int, kind: TimestampType
) -> None:
    data = write_batch(records)
    batch = twin.Batch(data)
    batch.assign(offset, epoch)
    batch.set_max_timestamp(kind, time)
    assert (batch.base_offset, batch.partition_leader_epoch) == (offset, epoch)
    assert (batch.max_timestamp, batch.timestamp_type) == (time, kind)
    assert batch.crc_matches()
    assert bytes(batch.records) == bytes(write_batch(records)[61:])


@given(st.lists(record_lists(), max_size=4), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_a_log_is_the_sum_of_its_batches_and_can_be_cut_anywhere(lists: list[list[RecordTuple]], cut: int) -> None:
    parts = [write_batch(records) for records in lists]
    data = b"".join(parts)
    assert [bytes(batch.data) for batch in batches(data)] == parts
    assert [bytes(batch.data) for batch in batches(data[:-cut])] == parts[:-1]
    assert read_tuples(data) == [record for records in lists for record in records]


@given(record_lists(), st.sampled_from(CompressionType), st.sampled_from(CompressionType))
@settings(max_examples=60, deadline=None)
def test_another_codec_keeps_the_records(
    records: list[RecordTuple], first: CompressionType, second: CompressionType
) -> None:
    data = write_batch(records, BatchOptions(compression=first))
    if records:
        data = recompress(Batch(data), second)
        assert Batch(data).compression is second
    assert read_tuples(data) == records
