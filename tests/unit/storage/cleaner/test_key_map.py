from types import ModuleType

import pytest

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.frames import decode
from ottla.protocol.records.record import RecordTuple
from ottla.protocol.records.writer import write_batch
from ottla.storage.cleaner import key_map_plain
from ottla.storage.cleaner.filter_rules import FilterRules, LastRecord

SEED = b"0123456789abcdef"
T0 = 1_700_000_000_000

try:
    from ottla.storage.cleaner import _key_map as compiled
except ImportError:
    compiled = None

TWINS = [pytest.param(key_map_plain, id="plain")]
if compiled is not None:
    TWINS.append(pytest.param(compiled, id="compiled"))


def batch_of(*records: RecordTuple) -> Batch:
    return Batch(write_batch(records))


def record(offset: int, key: bytes | None, value: bytes | None = b"v", timestamp: int = T0) -> RecordTuple:
    return offset, timestamp, key, value, ()


@pytest.mark.parametrize("twin", TWINS)
def test_the_last_offset_of_each_key_is_known(twin: ModuleType) -> None:
    keys = twin.KeyMap(10_000, SEED)
    for offset in range(20_000):
        keys.put(b"key-%d" % (offset % 7000), offset)
    assert len(keys) == 7000
    assert [keys.get(b"key-%d" % number) for number in (0, 5999, 6000, 6999)] == [14_000, 19_999, 13_000, 13_999]
    assert keys.get(b"other") == -1


@pytest.mark.parametrize("twin", TWINS)
def test_keys_of_every_length_are_told_apart(twin: ModuleType) -> None:
    keys = twin.KeyMap(100, SEED)
    for length in range(40):
        keys.put(b"k" * length, length)
    assert [keys.get(b"k" * length) for length in range(41)] == [*range(40), -1]


@pytest.mark.parametrize("twin", TWINS)
def test_indexing_stops_when_the_map_is_full(twin: ModuleType) -> None:
    keys = twin.KeyMap(2, SEED)
    known = batch_of(record(0, b"a"), record(1, b"b"))
    assert keys.index(known.records, 2, 0, 0)
    more = batch_of(record(2, b"c"))
    assert not keys.index(more.records, 1, 2, 0)
    assert len(keys) == 2
    assert (keys.get(b"a"), keys.get(b"c")) == (0, -1)


@pytest.mark.parametrize("twin", TWINS)
def test_records_before_the_dirty_part_and_without_key_are_not_indexed(twin: ModuleType) -> None:
    keys = twin.KeyMap(10, SEED)
    batch = batch_of(record(5, b"a"), record(6, None), record(7, b"b"))
    assert keys.index(batch.records, 3, 5, 7)
    assert (len(keys), keys.get(b"b"), keys.get(b"a")) == (1, 7, -1)


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("drop", [False, True])
def test_the_last_of_its_key_stays_and_tombstones_when_they_may(twin: ModuleType, drop: bool) -> None:
    keys = twin.KeyMap(10, SEED)
    batch = batch_of(
        record(0, b"a", timestamp=T0), record(1, b"b", None, T0 + 5), record(2, b"a", timestamp=T0 + 3), record(3, None)
    )
    assert keys.index(batch.records, 4, 0, 0)
    found = keys.select(batch.records, 4, (0, T0), 3, drop_tombstones=drop)
    if drop:
        assert found == (b"\0\0\1\0", 1, False, T0 + 3, T0 + 3)
    else:
        assert found == (b"\0\1\1\0", 2, True, T0 + 5, T0 + 5)


@pytest.mark.parametrize("twin", TWINS)
def test_what_lies_above_the_indexed_part_stays(twin: ModuleType) -> None:
    keys = twin.KeyMap(10, SEED)
    batch = batch_of(record(0, b"a"), record(1, None), record(2, b"a"))
    assert keys.index(batch.records, 3, 0, 0)
    assert keys.select(batch.records, 3, (0, T0), 0, drop_tombstones=False).mask == b"\0\1\1"


@pytest.mark.parametrize("twin", TWINS)
def test_rewritten_records_are_the_same_but_for_their_base(twin: ModuleType) -> None:
    headers = (("h", b"x"), ("n", None))
    wanted: list[RecordTuple] = [(9, T0 + 10**6, b"k2", b"y" * 300, headers), (300, T0 - 7, b"k3", None, ())]
    batch = Batch(write_batch([record(0, b"k1"), *wanted]))
    section = twin.rewrite(batch.records, b"\0\1\1", (batch.base_timestamp, T0 + 10**9), None)
    assert decode(section, 2, 0, T0 + 10**9, None) == wanted
    same = twin.rewrite(batch.records, b"\0\1\1", (batch.base_timestamp, T0), T0)
    assert [found[1] for found in decode(same, 2, 0, T0, None)] == [T0, T0]


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("count", [0, 1, 3, -1, 10**9])
def test_malformed_records_are_refused(twin: ModuleType, count: int) -> None:
    records = batch_of(record(0, b"a"), record(1, b"b")).records
    keys = twin.KeyMap(10, SEED)
    with pytest.raises(DecodeError):
        keys.index(records, count, 0, 0)
    with pytest.raises(DecodeError):
        keys.select(records, count, (0, 0), 5, drop_tombstones=False)
    with pytest.raises(DecodeError):
        keys.index(records[:-1], 2, 0, 0)


def test_both_twins_rewrite_to_the_same_bytes() -> None:
    if compiled is None:
        pytest.skip("no compiled twin here")
    records = [
        record(index * 7, b"k%d" % index, None if index % 3 else b"v" * index, T0 + index**5) for index in range(99)
    ]
    batch = Batch(write_batch(records))
    mask = bytes(index % 4 != 1 for index in range(99))
    bases = (batch.base_timestamp, T0 - 86_400_000)
    assert compiled.rewrite(batch.records, mask, bases, None) == key_map_plain.rewrite(batch.records, mask, bases, None)


def test_runs_of_plain_batches_are_decided_as_one_by_one() -> None:
    if compiled is None:
        pytest.skip("no compiled twin here")
    log = b"".join(
        bytes(write_batch([record(offset, b"k%d" % (offset % 5)), record(offset + 1, b"fresh%d" % offset)]))
        if offset == 8
        else bytes(write_batch([record(offset, b"k%d" % (offset % 5))]))
        for offset in (0, 1, 2, 3, 4, 5, 8, 10, 11)
    )
    keys = compiled.KeyMap(100, SEED)
    assert keys.index_run(log, 0, 0) == len(log)
    rules = FilterRules(11, 100, T0, 0, {})
    run = keys.select_run(log, 0, rules)
    # 3 (k3), 8 (k3 and fresh8), 10 (k0), 11 (k1) are not superseded but 3, which 8 follows; 2 and 4 stay.
    first = Batch(log).size
    assert run.position == len(log)
    assert run.ranges == [(2 * first, 3 * first), (4 * first, 5 * first), (6 * first, len(log))]
    assert (run.read, run.kept) == (10, 6)


def test_a_run_ends_before_a_batch_that_may_have_to_stay_empty() -> None:
    if compiled is None:
        pytest.skip("no compiled twin here")
    log = b"".join(bytes(write_batch([record(offset, b"k")])) for offset in (0, 1, 2))
    keys = compiled.KeyMap(100, SEED)
    keys.index_run(log, 0, 0)
    size = Batch(log).size
    assert keys.select_run(log, 0, FilterRules(2, 2, T0, 0, {})).position == size
    assert keys.select_run(log, 0, FilterRules(2, 9, T0, 0, {5: LastRecord(1, 0)})).position == len(log)


def test_a_run_ends_before_a_wrong_crc() -> None:
    if compiled is None:
        pytest.skip("no compiled twin here")
    log = bytearray(b"".join(bytes(write_batch([record(offset, b"k")])) for offset in (0, 1)))
    log[-1] ^= 1
    keys = compiled.KeyMap(100, SEED)
    assert keys.index_run(log, 0, 0) == len(log) // 2
    assert keys.select_run(log, 0, FilterRules(0, 9, T0, 0, {})).position == len(log) // 2
