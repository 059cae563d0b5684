"""Batches of replicas, compared."""

import pytest

from ottla.cli.kafka.subcommand.replica_comparison import (
    NO_ANSWER,
    OffsetMismatchError,
    ReplicaAnswer,
    ReplicaBatch,
    ReplicaComparison,
)
from ottla.client.record import TopicPartition

PARTITION = TopicPartition("t", 0)


def _answer(high_watermark: int, *batches: tuple[int, int]) -> ReplicaAnswer:
    return ReplicaAnswer(high_watermark, [ReplicaBatch(*batch) for batch in batches])


@pytest.fixture
def comparison() -> ReplicaComparison:
    return ReplicaComparison({PARTITION: 0})


def test_it_goes_on_where_a_replica_ends(comparison: ReplicaComparison) -> None:
    answers = {1: _answer(10, (4, 7), (9, 8)), 2: _answer(10, (4, 7))}
    assert comparison.compare(PARTITION, answers) == []
    assert comparison.offsets[PARTITION] == 5
    assert comparison.report() == "max lag is 5 for partition t-0 at offset 5 among 1 partitions"


def test_only_what_is_committed_everywhere_is_compared(comparison: ReplicaComparison) -> None:
    answers = {1: _answer(10, (4, 7), (9, 8)), 2: _answer(5, (4, 7), (9, 1))}
    assert comparison.compare(PARTITION, answers) == []
    assert comparison.offsets[PARTITION] == 5


def test_other_checksums_are_told(comparison: ReplicaComparison) -> None:
    [difference] = comparison.compare(PARTITION, {1: _answer(5, (4, 7)), 3: _answer(5, (4, 6))})
    assert difference == (
        "partition t-0 has unmatched checksum at offset 4; replica 1's checksum 7; replica 3's checksum 6"
    )
    assert comparison.offsets[PARTITION] == 5


def test_other_offsets_end_it(comparison: ReplicaComparison) -> None:
    with pytest.raises(OffsetMismatchError, match="replica 1's offset 4 doesn't match replica 2's offset 3"):
        comparison.compare(PARTITION, {1: _answer(9, (4, 7)), 2: _answer(9, (3, 7))})


def test_a_replica_that_is_silent_delays_it(comparison: ReplicaComparison) -> None:
    assert comparison.compare(PARTITION, {1: _answer(5, (4, 7)), 2: NO_ANSWER}) == []
    assert comparison.offsets[PARTITION] == 0
    assert comparison.report() == "max lag is 5 for partition t-0 at offset 0 among 1 partitions"
    comparison.begin_round()
    assert comparison.report() == "max lag is -1 for partition null at offset 0 among 1 partitions"
