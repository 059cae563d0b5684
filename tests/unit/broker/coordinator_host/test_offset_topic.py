"""Which partitions the group coordinator is asked of, and how the answers come together."""

from typing import Any

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.coordinator_host.offset_topic import AnswerTypes, SiftedTopics, merged, sift
from ottla.broker.security.rights import EVERY_RIGHT
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import offset_commit, offset_delete, txn_offset_commit
from ottla.protocol.messages.offset_commit import OffsetCommitResponsePartition, OffsetCommitResponseTopic
from tests.unit.broker.small_broker import SmallBroker

COMMIT = AnswerTypes(OffsetCommitResponseTopic, OffsetCommitResponsePartition)
NOBODY = Uuid(b"n" * 16)


@pytest.fixture
def broker() -> SmallBroker:
    broker = SmallBroker()
    broker.cluster.create("a", [1], [1])
    return broker


def _topic(name: str, *indexes: int, topic_id: Uuid = ZERO_UUID) -> offset_commit.OffsetCommitRequestTopic:
    partitions = [offset_commit.OffsetCommitRequestPartition(partition_index=index) for index in indexes]
    return offset_commit.OffsetCommitRequestTopic(name=name, topic_id=topic_id, partitions=partitions)


def sifted(*asked: Any) -> SiftedTopics[Any]:
    """What comes of all steps."""
    steps = sift(*asked, EVERY_RIGHT)
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value  # type: ignore[no-any-return]


def test_a_commit_by_name_or_by_id_has_both_afterwards(broker: SmallBroker) -> None:
    known = broker.metadata.topic_id("a")
    for asked in (_topic("a", 0, 1), _topic("", 0, 1, topic_id=known)):
        topics = [asked]
        existing, refused = sifted(broker.metadata, topics, COMMIT)
        assert existing is topics
        assert (asked.name, asked.topic_id, refused) == ("a", known, [])


def test_partitions_that_do_not_exist_are_refused_one_by_one(broker: SmallBroker) -> None:
    asked = [_topic("a", 0, 7, -1), _topic("nowhere", 0), _topic("", 3, topic_id=NOBODY)]
    existing, refused = sifted(broker.metadata, asked, COMMIT)
    assert [(topic.name, [found.partition_index for found in topic.partitions]) for topic in existing] == [("a", [0])]
    assert existing[0].topic_id == broker.metadata.topic_id("a")
    codes = [[(found.partition_index, found.error_code) for found in topic.partitions] for topic in refused]
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert codes == [[(7, unknown), (-1, unknown)], [(0, unknown)], [(3, ErrorCode.UNKNOWN_TOPIC_ID)]]
    assert refused[2].topic_id == NOBODY


@pytest.mark.parametrize(
    ("request_topic", "request_partition", "answers"),
    [
        (
            txn_offset_commit.TxnOffsetCommitRequestTopic,
            txn_offset_commit.TxnOffsetCommitRequestPartition,
            AnswerTypes(
                txn_offset_commit.TxnOffsetCommitResponseTopic, txn_offset_commit.TxnOffsetCommitResponsePartition
            ),
        ),
        (
            offset_delete.OffsetDeleteRequestTopic,
            offset_delete.OffsetDeleteRequestPartition,
            AnswerTypes(offset_delete.OffsetDeleteResponseTopic, offset_delete.OffsetDeleteResponsePartition),
        ),
    ],
)
def test_calls_that_know_no_ids(
    broker: SmallBroker, request_topic: type, request_partition: type, answers: AnswerTypes
) -> None:
    partitions = [request_partition(partition_index=index) for index in (1, 2)]
    existing, refused = sifted(broker.metadata, [request_topic(name="a", partitions=partitions)], answers)
    assert [found.partition_index for found in existing[0].partitions] == [1]
    assert [found.partition_index for found in refused[0].partitions] == [2]


def test_a_topics_partitions_stand_together_with_the_refused_ones_first() -> None:
    refused = [OffsetCommitResponseTopic(name="a", partitions=[OffsetCommitResponsePartition(partition_index=7)])]
    answered = [
        OffsetCommitResponseTopic(name="b", partitions=[OffsetCommitResponsePartition(partition_index=1)]),
        OffsetCommitResponseTopic(name="a", partitions=[OffsetCommitResponsePartition(partition_index=0)]),
    ]
    found = [(topic.name, [part.partition_index for part in topic.partitions]) for topic in merged(refused, answered)]
    assert found == [("a", [7, 0]), ("b", [1])]
