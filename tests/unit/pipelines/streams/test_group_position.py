"""Where a partition number stands: what the group is told, and what is made of its offsets again."""

import pytest

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.client.record import TopicPartition
from ottla.pipelines.streams.group_position import TICK, GroupPosition
from ottla.streams.host.kept_time import times_from_text, times_to_text
from ottla.streams.state.local_state import Times

TIMES = {"0_1": {"": (17,), "node": (3, 4)}}
HERE = GroupPosition({"a": 5, "b": 7, TICK: 9}, TIMES)


def committed(given: GroupPosition) -> GroupPosition | None:
    return GroupPosition.committed(
        {place.topic: (offset.offset, offset.metadata) for place, offset in given.offsets(1).items()}
    )


def long_times() -> Times:
    import random

    chance = random.Random(1)
    return {str(task): {"": tuple(chance.randrange(1 << 62) for _ in range(40))} for task in range(100)}


def test_offsets_are_those_of_topics() -> None:
    assert {place: at.offset for place, at in HERE.offsets(1).items()} == {
        TopicPartition("a", 1): 5,
        TopicPartition("b", 1): 7,
    }


@pytest.mark.parametrize("given", [HERE, GroupPosition({"a": 5}, TIMES), GroupPosition({"a": 0}, {})])
def test_what_is_committed_is_found_again(given: GroupPosition) -> None:
    assert committed(given) == given


def test_the_tick_is_kept_when_the_times_are_too_long() -> None:
    assert committed(GroupPosition({"a": 5, TICK: 9}, long_times())) == GroupPosition({"a": 5, TICK: 9}, {})


def test_a_group_without_offsets_stands_nowhere() -> None:
    assert GroupPosition.committed({}) is None
    assert GroupPosition.committed({"a": (-1, None)}) is None


def test_a_batch_is_behind_it_when_all_of_it_is() -> None:
    assert HERE.is_at({"a": 5, "b": 7, TICK: 9})
    assert HERE.is_at({"a": 5})
    assert not HERE.is_at({"a": 5, "b": 7, TICK: 10})
    assert not HERE.is_at({"a": 5, "new": 0})


def test_times_that_are_too_long_are_left_out() -> None:
    assert times_to_text(long_times()) == ""
    assert times_from_text("what somebody else has written") == {}
