"""Sections that come in pieces: the scanner finds what `frames.scan` finds in the whole, wherever the cuts are."""

import random
from collections.abc import Sequence
from itertools import pairwise
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import DecodeError
from ottla.protocol.records import frames_plain
from tests.unit.protocol.records import twins

RECORDS = [
    (0, 1000, b"key", b"value", ()),
    (1, 900, None, b"v" * 300, (("name", b"x" * 200), ("other", None))),
    (2, 5000, b"", None, (("", b""),)),
    (3, -1, b"k" * 70, b"", ()),
]
SECTION = bytes(frames_plain.encode(RECORDS, 0, 1000, 0)[0])
FACTS = frames_plain.scan(SECTION, len(RECORDS), 1000)

each_twin = pytest.mark.parametrize("scanner", twins.SCANNERS, ids=twins.name)


def scan_in_pieces(scanner: ModuleType, section: bytes, count: int, cuts: Sequence[int]) -> frames_plain.Facts | None:
    found = scanner.Scanner(count, 1000)
    edges = [0, *sorted(cuts), len(section)]
    for start, end in pairwise(edges):
        found.feed(section[start:end])
    facts: frames_plain.Facts | None = found.facts()
    return facts


def scan_whole(section: bytes, count: int) -> frames_plain.Facts | None:
    try:
        return frames_plain.scan(section, count, 1000)
    except DecodeError:
        return None


@each_twin
def test_one_cut_anywhere(scanner: ModuleType) -> None:
    for cut in range(len(SECTION) + 1):
        assert scan_in_pieces(scanner, SECTION, len(RECORDS), [cut]) == FACTS


@each_twin
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_small_pieces(scanner: ModuleType, size: int) -> None:
    assert scan_in_pieces(scanner, SECTION, len(RECORDS), range(size, len(SECTION), size)) == FACTS


@each_twin
def test_no_records(scanner: ModuleType) -> None:
    assert scan_in_pieces(scanner, b"", 0, []) == (-1, -1, 0, True)
    assert scan_in_pieces(scanner, b"\x0e", 0, []) is None


@each_twin
@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_another_count_than_there_are(scanner: ModuleType, count: int) -> None:
    assert scan_in_pieces(scanner, SECTION, count, [100, 300]) is None


@each_twin
def test_sections_that_end_early(scanner: ModuleType) -> None:
    for end in range(len(SECTION)):
        assert scan_in_pieces(scanner, SECTION[:end], len(RECORDS), [end // 2]) is None


@each_twin
def test_after_a_malformed_frame_nothing_is_wanted(scanner: ModuleType) -> None:
    found = scanner.Scanner(2, 0)
    assert found.feed(SECTION[:1])
    assert not found.feed(b"\xff" * 20)
    assert not found.feed(SECTION)
    assert found.facts() is None


@each_twin
def test_changed_bytes_are_judged_as_in_the_whole(scanner: ModuleType) -> None:
    dice = random.Random(3)
    for _ in range(3000):
        changed = bytearray(SECTION)
        for _ in range(dice.choice((1, 1, 2))):
            changed[dice.randrange(len(changed))] = dice.choice((0, 1, 2, 0x7F, 0x80, 0xFF, dice.randrange(256)))
        raw = bytes(changed)
        cuts = [dice.randrange(len(raw)) for _ in range(dice.randrange(5))]
        assert scan_in_pieces(scanner, raw, len(RECORDS), cuts) == scan_whole(raw, len(RECORDS)), (raw, cuts)


@each_twin
@given(section=st.binary(max_size=60), count=st.integers(0, 4), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_any_bytes(scanner: ModuleType, section: bytes, count: int, cuts: list[int]) -> None:
    cuts = [min(cut, len(section)) for cut in cuts]
    assert scan_in_pieces(scanner, section, count, cuts) == scan_whole(section, count)


@each_twin
def test_a_value_far_larger_than_a_piece(scanner: ModuleType) -> None:
    section = bytes(frames_plain.encode([(0, 7, b"k", bytes(3_000_000), ())], 0, 1000, 0)[0])
    assert scan_in_pieces(scanner, section, 1, range(65_536, len(section), 65_536)) == (7, 7, 0, True)
