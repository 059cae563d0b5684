"""Which partition is hottest; how many keys move."""

import pytest

from ottla.cli.commands.topics.key import moved_share
from ottla.cli.commands.topics.repartition import chooser
from ottla.cli.commands.topics.skew import Heat, Look, heats


def test_the_hottest_comes_first_then_the_largest() -> None:
    before = {0: Look(0, 10, 100), 1: Look(0, 10, 100), 2: Look(0, 50, 900), 3: Look(0, 5, 40)}
    after = {0: Look(0, 12, 120), 1: Look(0, 30, 300), 2: Look(0, 50, 900), 3: Look(0, 5, 40)}
    assert heats(before, after, 2.0) == [
        Heat(1, 300, 30, 100.0, 10.0),
        Heat(0, 120, 12, 10.0, 1.0),
        Heat(2, 900, 50, 0.0, 0.0),
        Heat(3, 40, 5, 0.0, 0.0),
    ]


@pytest.mark.parametrize(
    ("before", "after", "rate"),
    [
        # Retention took a segment meanwhile: the mean record tells.
        (Look(0, 100, 1000), Look(80, 120, 400), 20 * 10.0),
        # All of it is gone, too.
        (Look(0, 100, 1000), Look(120, 120, 0), 0.0),
        (Look(0, 100, None), Look(0, 120, 1200), 20 * 10.0),
        (Look(0, 100, 1000), Look(0, 120, None), None),
        (Look(None, None, None), Look(0, 120, 1200), None),
        (Look(0, 100, 1000), Look(None, None, None), None),
        # A new leader may be behind.
        (Look(0, 100, 1000), Look(0, 90, 900), 0.0),
    ],
)
def test_rates_when_something_is_missing(before: Look, after: Look, rate: float | None) -> None:
    (heat,) = heats({0: before}, {0: after}, 1.0)
    assert heat.bytes_per_second == rate


@pytest.mark.parametrize("before", range(1, 8))
@pytest.mark.parametrize("after", range(1, 13))
def test_the_share_of_keys_that_move_is_what_counting_says(before: int, after: int) -> None:
    hashes = range(before * after)
    moved = sum(number % before != number % after for number in hashes)
    assert moved_share(before, after) == pytest.approx(moved / len(hashes))


def test_keys_are_placed_as_librdkafka_does() -> None:
    """librdkafka's `consistent` partitioner: CRC-32 of the key modulo partitions; without a key at random."""
    choose = chooser("crc32", 16)
    assert [choose(key) for key in (b"23456", b"this is another string with more length to it perhaps", b"", None)] == [
        0xB1B451D7 % 16, 0xB0150DF7 % 16, None, None,
    ]  # fmt: skip
