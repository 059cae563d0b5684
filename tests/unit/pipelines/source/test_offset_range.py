"""How ranges are cut into tasks, and how much a micro-batch takes in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.client.record import TopicPartition
from ottla.pipelines.option.parse import Admission, Splitting
from ottla.pipelines.source.offset_range import OffsetRange, TriggerHold, admit, split

PARTS = [TopicPartition("t", number) for number in range(4)]


def ranges(*spans: tuple[int, int]) -> list[OffsetRange]:
    return [OffsetRange(part, *span) for part, span in zip(PARTS, spans, strict=False)]


def spans(cut: list[OffsetRange]) -> list[tuple[int, int, int]]:
    return [(each.partition.partition, each.start, each.end) for each in cut]


@pytest.mark.parametrize(
    ("splitting", "expected"),
    [
        (Splitting(), [(0, 0, 90), (1, 5, 15)]),
        (Splitting(min_partitions=1), [(0, 0, 90), (1, 5, 15)]),
        (Splitting(min_partitions=3), [(0, 0, 45), (0, 45, 90), (1, 5, 15)]),
        (Splitting(max_records=40), [(0, 0, 30), (0, 30, 60), (0, 60, 90), (1, 5, 15)]),
        (Splitting(3, 100), [(0, 0, 45), (0, 45, 90), (1, 5, 15)]),
    ],
)
def test_ranges_are_cut(splitting: Splitting, expected: list[tuple[int, int, int]]) -> None:
    assert spans(split(ranges((0, 90), (5, 15), (7, 7)), splitting)) == expected


def test_no_task_is_without_an_offset() -> None:
    assert spans(split(ranges((3, 5)), Splitting(min_partitions=10))) == [(0, 3, 4), (0, 4, 5)]
    assert split(ranges((3, 3)), Splitting(min_partitions=10)) == []


@given(
    sizes=st.lists(st.integers(0, 1000), max_size=4),
    least=st.none() | st.integers(1, 50),
    most=st.none() | st.integers(1, 200),
)
def test_cuts_lose_and_repeat_nothing(sizes: list[int], least: int | None, most: int | None) -> None:
    whole = ranges(*((number, number + size) for number, size in enumerate(sizes)))
    cut = split(whole, Splitting(least, most))
    assert sorted((each.partition, at) for each in cut for at in range(each.start, each.end)) == sorted(
        (each.partition, at) for each in whole for at in range(each.start, each.end)
    )
    assert all(each.size > 0 for each in cut)
    assert most is None or all(each.size <= most for each in cut)
    assert least is None or len(cut) >= min(least, sum(sizes))


def test_a_batch_takes_in_a_share_of_each_partition() -> None:
    start = dict.fromkeys(PARTS[:2], 0)
    assert admit(start, {PARTS[0]: 10, PARTS[1]: 990}, 100) == {PARTS[0]: 10, PARTS[1]: 90}
    assert admit(start, {PARTS[0]: 100, PARTS[1]: 900}, 100) == {PARTS[0]: 28, PARTS[1]: 72}
    assert admit(start, {PARTS[0]: 1, PARTS[1]: 999}, 100) == {PARTS[0]: 1, PARTS[1]: 99}
    assert admit(start, {PARTS[0]: 40, PARTS[1]: 60}, 100) == {PARTS[0]: 40, PARTS[1]: 60}


@given(
    waiting=st.lists(st.integers(0, 10**6), min_size=1, max_size=4),
    most=st.integers(1, 10**6),
)
def test_admission_keeps_its_limit_and_always_moves(waiting: list[int], most: int) -> None:
    start = dict.fromkeys(PARTS[: len(waiting)], 7)
    latest = {part: 7 + size for part, size in zip(PARTS, waiting, strict=False)}
    end = admit(start, latest, most)
    taken = {part: end[part] - 7 for part in end}
    assert all(0 <= taken[part] <= latest[part] - 7 for part in taken)
    assert all(taken[part] for part in taken if latest[part] > 7)
    behind = [size for size in waiting if size]
    assert sum(taken.values()) == min(max(most, len(behind)), sum(waiting))
    # A small backlog does not wait for a large one.
    assert all(taken[part] >= min(latest[part] - 7, most // (2 * len(behind))) for part in taken if behind)


def test_small_batches_are_held_back_until_enough_waits_or_time_is_up() -> None:
    trigger_hold = TriggerHold(Admission(None, 10, 1000))
    assert not trigger_hold.holds_back(1, 0.0), "the first batch"
    assert trigger_hold.holds_back(9, 999.0)
    assert not trigger_hold.holds_back(10, 999.0)
    assert trigger_hold.holds_back(9, 1998.0)
    assert not trigger_hold.holds_back(9, 1999.0)
    assert not TriggerHold(Admission()).holds_back(0, 0.0)
