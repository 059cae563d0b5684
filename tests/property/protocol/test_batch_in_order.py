"""The short way into the log and the long one agree: what is in order passes every check, and nothing is changed."""

import random
import struct

import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.base.accelerated import compiled_module
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.validation import AppendRules, validate
from ottla.protocol.records.writer import BatchOptions, write_batch

NOW = 1_750_000_000_000
RULES = AppendRules(timestamp_before_max_ms=10_000)
_BOUNDS = (RULES.max_message_bytes, NOW - RULES.timestamp_before_max_ms, NOW + RULES.timestamp_after_max_ms)
_GOOD = [
    write_batch([(0, NOW, b"key", b"value", (("name", b"x"),)), (1, NOW - 1, b"", None, ())], options)
    for options in (BatchOptions(), BatchOptions(producer_id=1, producer_epoch=0, base_sequence=0))
]


def test_ordinary_batches_take_the_short_way() -> None:
    is_compiled = compiled_module("ottla.protocol.records._batch") is not None
    for data in _GOOD:
        assert Batch(bytearray(data)).is_in_order(*_BOUNDS, needs_keys=True) is is_compiled


@given(st.sampled_from(_GOOD), st.randoms(use_true_random=False), st.integers(1, 4), st.booleans())
@settings(max_examples=500, deadline=None)
def test_what_is_in_order_is_valid(good: bytearray, source: random.Random, edits: int, compacted: bool) -> None:
    data = bytearray(good)
    for _ in range(edits):
        at = source.choice([*range(8), *range(21, len(data))])
        data[at] = source.choice([source.randrange(256), data[at] ^ 1 << source.randrange(8), data[at]])
    if source.randrange(4):
        struct.pack_into(">I", data, 17, crc32c.crc32c(memoryview(data)[21:]))
    before = bytes(data)
    batch = Batch(data)
    if batch.is_in_order(*_BOUNDS, needs_keys=compacted):
        rules = AppendRules(compacted=compacted, timestamp_before_max_ms=RULES.timestamp_before_max_ms)
        validate(batch, rules, NOW).assign(0, batch.partition_leader_epoch)
        assert bytes(data) == before


@given(st.integers(-1, 2**62), st.booleans())
def test_records_that_break_a_rule_take_the_long_way(timestamp: int, has_key: bool) -> None:
    batch = Batch(write_batch([(0, timestamp, b"k" if has_key else None, b"v", ())]))
    in_time = _BOUNDS[1] <= timestamp <= _BOUNDS[2]
    if not (in_time and has_key):
        assert not batch.is_in_order(*_BOUNDS, needs_keys=True)
