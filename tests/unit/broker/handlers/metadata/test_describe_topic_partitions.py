"""DescribeTopicPartitions, page by page."""

from typing import Any

import pytest

from ottla.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from tests.unit.broker.small_broker import SmallBroker


def small_broker(**settings: str) -> SmallBroker:
    broker = SmallBroker(brokers=2, **settings)
    broker.cluster.create("c", [1], [2])
    broker.cluster.create("a", [1], [2], [1])
    broker.cluster.create("b", [1])
    return broker


def asking(*names: str, limit: int = 2000, start: tuple[str, int] | None = None) -> DescribeTopicPartitionsRequest:
    cursor = None if start is None else Cursor(topic_name=start[0], partition_index=start[1])
    topics = [TopicRequest(name=name) for name in names]
    return DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=limit, cursor=cursor)


def pages(broker: SmallBroker, *names: str, limit: int) -> list[list[tuple[str, int]]]:
    """All pages that a client gets that follows the cursor."""
    found, start = [], None
    while True:
        answer = broker.ask(asking(*names, limit=limit, start=start), 0)
        found.append(described(answer))
        if answer.next_cursor is None:
            return found
        start = (answer.next_cursor.topic_name, answer.next_cursor.partition_index)


def described(answer: Any) -> list[tuple[str, int]]:
    return [(topic.name, partition.partition_index) for topic in answer.topics for partition in topic.partitions]


EVERYTHING = [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("c", 0), ("c", 1)]


@pytest.mark.parametrize("limit", [-1, 0, 1, 2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("names", [(), ("c", "b", "a")])
def test_pages_together_are_everything_in_order(limit: int, names: tuple[str, ...]) -> None:
    found = pages(small_broker(), *names, limit=limit)
    assert [item for page in found for item in page] == EVERYTHING
    assert all(len(page) <= max(limit, 1) for page in found)


def test_the_brokers_limit_counts_too() -> None:
    found = pages(small_broker(max_request_partition_size_limit="2"), limit=100)
    assert [len(page) for page in found] == [2, 2, 2]


def test_what_is_told_of_a_partition() -> None:
    broker = small_broker()
    broker.cluster.create("e", [1, 2], min_insync_replicas="2")
    broker.cluster.fence(2)
    (topic,) = broker.ask(asking("e"), 0).topics
    (partition,) = topic.partitions
    assert (topic.error_code, topic.topic_authorized_operations) == (0, 3576)
    assert topic.topic_id == broker.metadata.topic_id("e")
    assert (partition.leader_id, partition.replica_nodes, partition.isr_nodes) == (1, [1, 2], [1])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([2], [])
    assert partition.offline_replicas == [2]


def test_topics_that_are_not_there() -> None:
    answer = small_broker().ask(asking("nowhere", "a b", "", "b"), 0)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("", 17),
        ("a b", 17),
        ("b", 0),
        ("nowhere", 3),
    ]


def test_a_page_that_ends_before_a_topic_which_is_not_there_points_at_it() -> None:
    answer = small_broker().ask(asking("b", "nowhere", limit=1), 0)
    assert described(answer) == [("b", 0)]
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == ("nowhere", 0)


@pytest.mark.parametrize("start", [("zzz", 0), ("b", 0), ("a", -1)])
def test_a_cursor_that_leads_nowhere_is_refused_for_all(start: tuple[str, int]) -> None:
    answer = small_broker().ask(asking("a", "c", start=start), 0)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", 42), ("c", 42)]


def test_of_all_topics_a_cursor_may_name_one_that_is_gone() -> None:
    answer = small_broker().ask(asking(start=("aa", 3)), 0)
    assert described(answer) == [("b", 0), ("c", 0), ("c", 1)]


def test_a_cursor_behind_the_last_partition() -> None:
    answer = small_broker().ask(asking("a", "b", start=("a", 9)), 0)
    assert [(topic.name, len(topic.partitions)) for topic in answer.topics] == [("a", 0), ("b", 1)]
