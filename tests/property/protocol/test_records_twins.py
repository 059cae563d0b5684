"""Bytes that were batches once: both twins agree about them, and refuse them only with errors of ours."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.fuzz.records import fuzz_one

_SEEDS = [
    bytes(write_batch([(0, 1000, b"key", b"value", (("name", b"x"),)), (1, 1001, None, None, ())], options))
    for options in (
        BatchOptions(),
        BatchOptions(log_append_time=5, producer_id=1, producer_epoch=0, base_sequence=0),
        *(BatchOptions(compression=codec) for codec in CompressionType if codec),
    )
]


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes(data: bytes) -> None:
    fuzz_one(data)


@given(st.sampled_from(_SEEDS), st.integers(0, 255), st.randoms(use_true_random=False), st.integers(1, 6))
@settings(max_examples=400, deadline=None)
def test_mutated_batches(seed: bytes, choice: int, source: random.Random, edits: int) -> None:
    data = bytearray(seed)
    for _ in range(edits):
        kind = source.randrange(4)
        at = source.randrange(len(data)) if data else 0
        if kind == 0:
            data[at:at] = source.randbytes(source.randrange(4))
        elif kind == 1:
            del data[at : at + source.randrange(4)]
        elif data:
            data[at] = source.randrange(256) if kind == 2 else data[at] ^ 1 << source.randrange(8)
    fuzz_one(bytes([choice]) + data)


@given(st.sampled_from(_SEEDS), st.integers(0, 15), st.binary(min_size=1, max_size=8), st.integers(0, 40))
@settings(max_examples=200, deadline=None)
def test_mutated_record_sections(seed: bytes, count: int, patch: bytes, at: int) -> None:
    section = bytearray(seed[61:])
    section[at : at + len(patch)] = patch
    fuzz_one(bytes([count]) + section)
