from ottla.base.ids import Uuid
from ottla.client.cluster.cluster_view import BrokerView, ClusterView, PartitionView, TopicView
from ottla.client.consumer.group.topic_snapshot import snapshot_of

BROKERS = {1: BrokerView(1, "h", 1, "a"), 2: BrokerView(2, "h", 2, "b"), 3: BrokerView(3, "h", 3, None)}


def partition(index: int, *replicas: int) -> PartitionView:
    return PartitionView(index, replicas[0], 0, replicas, replicas, ())


def test_racks_of_all_replicas_that_name_one_and_topics_that_exist() -> None:
    topic = TopicView("t", Uuid(16), {1: partition(1, 2, 3), 0: partition(0, 1, 2)}, False)
    view = ClusterView(brokers=BROKERS, topics={"t": topic})
    assert snapshot_of(view, {"t", "absent"}) == {"t": (frozenset({"a", "b"}), frozenset({"b"}))}
