"""Batches of keys and values: both twins write what the writer of all batches writes."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import EncodeError
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import write_batch
from tests.unit.protocol.records.twins import PAIR_BATCHES, name

twins = pytest.mark.parametrize("twin", PAIR_BATCHES, ids=name)
_BYTES = st.binary(max_size=300)


@twins
@given(pairs=st.lists(st.tuples(_BYTES, _BYTES | st.none()), max_size=200), timestamp=st.integers(0, 2**62))
def test_as_any_batch(twin: ModuleType, pairs: list[tuple[bytes, bytes | None]], timestamp: int) -> None:
    tuples = [(offset, timestamp, key, value, ()) for offset, (key, value) in enumerate(pairs)]
    batch = twin.write_pairs(pairs, timestamp)
    assert batch == write_batch(tuples)
    assert Batch(batch).crc_matches()
    assert read_tuples(batch) == tuples


@twins
def test_with_offset_and_epoch(twin: ModuleType) -> None:
    for pairs in ([(b"k", b"v"), (b"l", None)], [(bytearray(b"k"), b"v"), (b"l", None)]):
        batch = twin.write_pairs(pairs, 7, 1 << 40, 5)
        Batch(plain := twin.write_pairs(pairs, 7)).assign(1 << 40, 5)
        assert batch == plain
        assert Batch(batch).crc_matches()


@twins
def test_any_buffer_will_do(twin: ModuleType) -> None:
    batch = twin.write_pairs([(bytearray(b"k"), memoryview(b"v"))], 7)
    assert read_tuples(batch) == [(0, 7, b"k", b"v", ())]


@twins
def test_what_is_no_pair_is_refused(twin: ModuleType) -> None:
    with pytest.raises(EncodeError):
        twin.write_pairs([("text", b"v")], 7)
