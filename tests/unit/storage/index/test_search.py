"""The compiled searches and their plain twins agree, and both are right."""

import struct
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.index import search_plain
from tests.unit.storage.log_builder import data_batch, placed

TWINS = [search_plain]
try:
    from ottla.storage.index import _search
except ImportError:
    pass
else:
    TWINS.append(_search)


@pytest.mark.parametrize("twin", TWINS)
@given(offsets=st.sets(st.integers(0, 50)).map(sorted), target=st.integers(-1, 51), data=st.data())
def test_floor_is_the_last_entry_not_above(
    twin: ModuleType, offsets: list[int], target: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(0, len(offsets)))
    expected = sum(offset <= target for offset in offsets[:count]) - 1
    entries = b"".join(struct.pack(">ii", offset, 0) for offset in offsets)
    assert twin.floor_slot_int32(entries, count, target) == expected
    found = (offsets[expected], 0) if expected >= 0 else None
    assert twin.floor_entry(entries, count, target) == found
    entries = b"".join(struct.pack(">qi", offset << 33, 0) for offset in offsets)
    assert twin.floor_slot_timestamp(entries, count, target << 33) == expected


@pytest.mark.parametrize("twin", TWINS)
def test_batch_is_found_by_walking_headers(twin: ModuleType) -> None:
    first, second = placed(data_batch(3), 10), placed(data_batch(2), 13)
    data = bytes(first + second)
    assert twin.find_batch(data, 0) == (0, len(first))
    assert twin.find_batch(data, 12) == (0, len(first))
    assert twin.find_batch(data, 13) == (len(first), len(second))
    assert twin.find_batch(data, 14, 12) == (len(first), len(second))
    assert twin.find_batch(data, 14, 13) == (0, -1)
    assert twin.find_batch(data, 15) == (len(data), 0)
    assert twin.find_batch(data[: len(first) + 20], 14) == (len(first), 0)
    assert twin.find_batch(bytes(100), 0) == (0, -1)
    assert twin.find_batch(bytes(second + first), 15) == (len(second), -1), "offsets only rise"


@pytest.mark.parametrize("twin", TWINS)
@given(noise=st.binary(max_size=200), offset=st.integers(0, 2**40))
def test_noise_is_no_trap(twin: ModuleType, noise: bytes, offset: int) -> None:
    assert twin.find_batch(noise, offset) == search_plain.find_batch(noise, offset)
