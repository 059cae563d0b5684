"""Whether an application has run before: one rule for both hosts, by the notes that tasks leave with offsets."""

import pytest

from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.host.internal_topic import (
    MissingInternalTopicError,
    has_run,
    missing_topics,
    repartition_plan,
    was_reset,
)
from ottla.streams.host.kept_time import times_to_text

PLACE, OTHER = TopicPartition("in", 0), TopicPartition("in", 1)
WANTED = [repartition_plan("app-x-repartition", 2), repartition_plan("app-y-repartition", 2)]
RUN = {PLACE: OffsetAndMetadata(5, times_to_text({})), OTHER: OffsetAndMetadata(0)}
RESET = {PLACE: OffsetAndMetadata(0), OTHER: OffsetAndMetadata(7)}


def test_tasks_leave_a_note_and_a_reset_leaves_none() -> None:
    assert has_run(RUN)
    assert not has_run(RESET)
    assert not has_run({})


@pytest.mark.parametrize(
    ("committed", "counts", "expected"),
    [
        (RESET, {}, True),
        (RESET, {"app-x-repartition": 2}, False),
        (RUN, {}, False),
        ({}, {}, False),
    ],
)
def test_a_reset_is_known_by_both_its_traces(
    committed: dict[TopicPartition, OffsetAndMetadata], counts: dict[str, int], expected: bool
) -> None:
    assert was_reset(committed, WANTED, counts) is expected


def test_what_is_missing_is_made_unless_it_was_there() -> None:
    counts = {"app-x-repartition": 2}
    assert missing_topics("app", WANTED, counts, {}) == WANTED[1:]
    assert missing_topics("app", WANTED, counts, RESET) == WANTED[1:]
    with pytest.raises(MissingInternalTopicError, match=r"app-y-repartition is gone, and app has run before"):
        missing_topics("app", WANTED, counts, RUN)
