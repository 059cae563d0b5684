"""Both twins of the hot part write the same bytes for the same records, and the codec reads them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.base.accelerated import compiled_module
from ottla.client.producer import append_plain
from ottla.client.producer.partitioner import murmur2_plain
from ottla.protocol.records.reader import read_tuples

compiled: Any = compiled_module("ottla.client.producer._append")
compiled_murmur2: Any = compiled_module("ottla.client.producer.partitioner._murmur2")
needs_compiled = pytest.mark.skipif(compiled is None, reason="not compiled")

FIELDS = st.one_of(st.none(), st.binary(max_size=300))
HEADERS = st.one_of(
    st.none(), st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=20), FIELDS), max_size=4)
)
RECORDS = st.lists(st.tuples(st.integers(0, 2**63 - 1), FIELDS, FIELDS, HEADERS), min_size=1, max_size=20)


@needs_compiled
@given(RECORDS, st.integers(0, 2_000), st.sampled_from([0.1, 0.5, 1.0]))
def test_twins_agree(records: list[Any], limit: int, ratio: float) -> None:
    plain, fast = append_plain.RecordBuffer(limit, ratio), compiled.RecordBuffer(limit, ratio)
    taken = []
    for record in records:
        size = plain.append(*record)
        assert fast.append(*record) == size
        if size > 0:
            taken.append(record)
    for buffer in (plain, fast):
        buffer.trimmed()
        buffer.write_header(0, 5, 6, 7)
    assert plain.data == fast.data
    assert (plain.used, plain.count, plain.max_timestamp) == (fast.used, fast.count, fast.max_timestamp)
    found = [(timestamp, key, value, list(headers)) for _, timestamp, key, value, headers in read_tuples(fast.data)]
    assert found == [(timestamp, key, value, headers or []) for timestamp, key, value, headers in taken]


@needs_compiled
@given(st.binary(max_size=100))
def test_hashes_agree(data: bytes) -> None:
    assert murmur2_plain.murmur2(data) == compiled_murmur2.murmur2(data)
