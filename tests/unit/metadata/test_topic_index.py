"""The controller's indexes follow the image, step by step as from scratch."""

from ottla.metadata.controller.topic.topic_index import TopicIndex, partitions_with
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest
from tests.unit.metadata.cluster import Cluster
from tests.unit.metadata.test_partition import reassign


def state(index: TopicIndex) -> object:
    return vars(index)


def test_kept_up_it_is_what_a_new_one_would_be() -> None:
    cluster = Cluster()
    cluster.start(1, 2, 3)
    steps = [
        lambda: cluster.create("a.b", [1, 2], [2, 3]),
        lambda: cluster.create("c", [3]),
        lambda: cluster.fence(3),
        lambda: reassign(cluster, "a.b", [1, 3]),
        lambda: reassign(cluster, "a.b", [1, 2]),
        lambda: cluster.heartbeat(3),
        lambda: reassign(cluster, "c", [3, 1]),
        lambda: cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["a.b"])),
    ]
    for step in steps:
        step()
        assert state(cluster.context().index) == state(TopicIndex(cluster.image.topics))


def test_a_broker_that_left_its_last_partition_is_forgotten() -> None:
    cluster = Cluster()
    cluster.start(1, 2)
    cluster.create("t", [1, 2])
    reassign(cluster, "t", [1])
    assert set(cluster.context().index.by_broker) == {1}


def test_how_many_partitions_a_broker_leads() -> None:
    cluster = Cluster()
    cluster.start(1, 2)
    cluster.create("t", [1, 2], [1, 2], [2, 1])
    cluster.create("u", [2])

    def counts() -> list[int]:
        return [cluster.context().index.leader_count(broker_id) for broker_id in (1, 2, 9)]

    assert counts() == [2, 2, 0]
    cluster.fence(1)
    assert counts() == [0, 4, 0]
    cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["u"]))
    assert counts() == [0, 3, 0]


def test_partitions_with_a_broker_in_their_isr() -> None:
    cluster = Cluster()
    cluster.start(1, 2, 3)
    cluster.create("t", [1, 2], [1, 3], min_insync_replicas="2")
    cluster.fence(2)
    topics = list(cluster.image.topics.by_id.values())
    assert [indexes for _, indexes in partitions_with(topics, 1)] == [[0, 1]]
    assert list(partitions_with(topics, 2)) == []
    assert [indexes for _, indexes in partitions_with(topics, 2, elr=True)] == [[0]]
