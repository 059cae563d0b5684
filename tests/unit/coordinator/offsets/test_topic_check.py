"""Topics that are unknown or forbidden never reach the group, and are answered all the same."""

from immutables import Map

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.group.offsets.answer_merge import merged_topics
from ottla.coordinator.group.offsets.commit import CommitContext, commit
from ottla.coordinator.group.offsets.topic_check import (
    check_commit,
    check_delete,
    check_fetch,
    check_transactional,
    show_all,
)
from ottla.coordinator.ports import PartitionLeader, TopicView
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_commit import OffsetCommitResponseTopic
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponseGroup,
    OffsetFetchResponseTopics,
)
from tests.unit.coordinator.offsets.fake import RULES, commit_request, txn_request

ORDERS_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAg")
SECRET_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAw")
UNKNOWN_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAABA")
TOPICS = {
    "orders": TopicView("orders", ORDERS_ID, 2),
    "secret": TopicView("secret", SECRET_ID, 2),
}


class FewTopics:
    """A `MetadataView` of two topics."""

    def topic(self, name: str) -> TopicView | None:
        return TOPICS.get(name)

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        return next((topic for topic in TOPICS.values() if topic.id == topic_id), None)

    def topic_names(self) -> list[str]:
        return list(TOPICS)

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        return frozenset()

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        return None

    def is_broker_alive(self, broker_id: int) -> bool:
        return True

    def feature_level(self, name: str) -> int:
        return 0

    def group_configs(self, group_id: str) -> Map[str, str]:
        return Map()


METADATA = FewTopics()


def is_allowed(topic: str) -> bool:
    return topic != "secret"


def codes(topics: list[OffsetCommitResponseTopic]) -> dict[tuple[str, int], int]:
    return {(topic.name, part.partition_index): part.error_code for topic in topics for part in topic.partitions}


def test_a_commit_by_name_gets_the_id_and_loses_what_is_unknown() -> None:
    asked = [("orders", 0, 1), ("orders", 2, 1), ("secret", 0, 1), ("gone", 0, 1)]
    request = commit_request("g", asked)
    refused = check_commit(request, METADATA, is_allowed, by_id=False)
    response = commit(RULES, request, CommitContext(9, 0)).response
    assert codes(merged_topics(refused, response.topics)) == {
        ("orders", 0): 0,
        ("orders", 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("secret", 0): ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ("gone", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert [topic.topic_id for topic in request.topics] == [ORDERS_ID]


def test_a_commit_by_id_gets_the_name() -> None:
    request = commit_request("g", [("", 0, 1), ("", 1, 1)])
    request.topics[0].topic_id, request.topics[1].topic_id = ORDERS_ID, UNKNOWN_ID
    (refused,) = check_commit(request, METADATA, is_allowed, by_id=True)
    assert (refused.topic_id, refused.partitions[0].error_code) == (UNKNOWN_ID, ErrorCode.UNKNOWN_TOPIC_ID)
    assert [topic.name for topic in request.topics] == ["orders"]


def test_nothing_may_be_left() -> None:
    request = commit_request("g", [("gone", 0, 1)])
    assert len(check_commit(request, METADATA, is_allowed, by_id=False)) == 1
    assert request.topics == []


def test_a_topic_is_answered_once() -> None:
    request = txn_request("g", [("orders", 0, 1), ("secret", 0, 1)])
    request.topics[0].partitions += txn_request("g", [("orders", 5, 1)]).topics[0].partitions
    refused = check_transactional(request, METADATA, is_allowed)
    assert [(topic.name, [part.error_code for part in topic.partitions]) for topic in refused] == [
        ("orders", [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]),
        ("secret", [ErrorCode.TOPIC_AUTHORIZATION_FAILED]),
    ]
    (left,) = request.topics
    assert [part.partition_index for part in left.partitions] == [0]


def test_deletions_are_checked_like_commits() -> None:
    topics = [
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=0)])
        for name in ("orders", "secret", "gone")
    ]
    request = OffsetDeleteRequest(group_id="g", topics=topics)
    refused = check_delete(request, METADATA, is_allowed)
    assert [(topic.name, topic.partitions[0].error_code) for topic in refused] == [
        ("secret", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ("gone", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert [topic.name for topic in request.topics] == ["orders"]


def test_a_fetch_by_name_may_ask_for_a_topic_that_is_gone() -> None:
    topics = [OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in ("orders", "secret", "gone")]
    asked = OffsetFetchRequestGroup(group_id="g", topics=topics)
    (refused,) = check_fetch(asked, METADATA, is_allowed, by_id=False)
    assert (refused.name, refused.partitions[0].error_code) == ("secret", ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert asked.topics is not None
    assert [topic.name for topic in asked.topics] == ["orders", "gone"]


def test_a_fetch_by_id() -> None:
    topics = [OffsetFetchRequestTopics(topic_id=id_, partition_indexes=[0]) for id_ in (ORDERS_ID, UNKNOWN_ID)]
    asked = OffsetFetchRequestGroup(group_id="g", topics=topics)
    (refused,) = check_fetch(asked, METADATA, is_allowed, by_id=True)
    assert (refused.topic_id, refused.partitions[0].error_code) == (UNKNOWN_ID, ErrorCode.UNKNOWN_TOPIC_ID)
    assert asked.topics is not None
    assert [topic.name for topic in asked.topics] == ["orders"]


def test_all_offsets_are_still_asked_for_as_all() -> None:
    asked = OffsetFetchRequestGroup(group_id="g", topics=None)
    assert check_fetch(asked, METADATA, is_allowed, by_id=True) == []
    assert asked.topics is None


def test_of_all_offsets_a_client_sees_what_it_may() -> None:
    for by_id, expected in ((False, [("orders", ZERO_UUID), ("gone", ZERO_UUID)]), (True, [("orders", ORDERS_ID)])):
        topics = [OffsetFetchResponseTopics(name=name) for name in ("orders", "secret", "gone")]
        answer = OffsetFetchResponseGroup(group_id="g", topics=topics)
        show_all(answer, METADATA, is_allowed, by_id=by_id)
        assert [(topic.name, topic.topic_id) for topic in answer.topics] == expected
