"""Short batches have their checksum from the processor, long ones from the package: the same one at every length."""

import pytest

from ottla.protocol.checksum import crc32c
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.pair_batch import write_pairs
from ottla.protocol.records.writer import write_batch

ATTRIBUTES_AT = 21
LENGTHS = [*range(24), *range(930, 990)]
"""Of values: every rest of a word, and both sides of what counts as short, which is 1,024 bytes with the header."""


@pytest.mark.parametrize("length", LENGTHS)
def test_checksum_is_the_packages(length: int) -> None:
    value = bytes(range(256)) * 4
    batch = write_batch([(0, 1_700_000_000_000, b"key", value[:length], ())])
    expected = crc32c(memoryview(batch)[ATTRIBUTES_AT:])
    assert Batch(batch).compute_crc() == Batch(batch).crc == expected
    assert Batch(batch).crc_matches()
    batch[-1] ^= 0x10
    assert not Batch(batch).crc_matches()


@pytest.mark.parametrize("length", LENGTHS)
def test_batch_of_pairs_has_it_too(length: int) -> None:
    batch = write_pairs([(b"key", b"v" * length)], 1_700_000_000_000)
    assert Batch(batch).crc == crc32c(memoryview(batch)[ATTRIBUTES_AT:])
