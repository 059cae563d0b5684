"""What coordinators see of the metadata image."""

from dataclasses import replace

from immutables import Map

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.coordinator.ports import MetadataView, PartitionLeader, TopicView
from ottla.coordinator.runtime.metadata_view import ImageView
from ottla.metadata.image.cluster import BrokerRegistration, ClusterImage
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.metadata.image.feature import FeaturesImage
from ottla.metadata.image.metadata_image import EMPTY_IMAGE
from ottla.metadata.image.partition import partition_of
from ottla.metadata.image.topic import TopicImage, TopicsImage
from ottla.protocol.metadata_log.topic import PartitionRecord

ORDERS_ID = Uuid.parse("AAAAAAAAAAAAAAAAAAAAAg")


def broker(broker_id: int, rack: str | None, *, fenced: bool) -> BrokerRegistration:
    return BrokerRegistration(
        id=broker_id,
        epoch=1,
        incarnation_id=ZERO_UUID,
        listeners=(),
        supported_features=Map(),
        rack=rack,
        fenced=fenced,
        in_controlled_shutdown=False,
        directories=(),
        cordoned_directories=None,
    )


def view() -> MetadataView:
    partition = partition_of(PartitionRecord(replicas=[1, 2, 3], isr=[1], leader=1, leader_epoch=4))
    topic = TopicImage("orders", ORDERS_ID, (partition, partition))
    brokers = {1: broker(1, "a", fenced=False), 2: broker(2, None, fenced=True)}
    image = replace(
        EMPTY_IMAGE,
        topics=TopicsImage(Map({ORDERS_ID: topic}), Map({"orders": ORDERS_ID})),
        cluster=ClusterImage(Map(brokers), Map()),
        features=FeaturesImage(None, Map({"transaction.version": 2})),
        configs=Map({ConfigResource(ResourceType.GROUP, "g"): Map({"consumer.session.timeout.ms": "50000"})}),
    )
    return ImageView(lambda: image)


def test_topics() -> None:
    expected = TopicView("orders", ORDERS_ID, 2)
    assert view().topic("orders") == view().topic_by_id(ORDERS_ID) == expected
    assert view().topic("gone") is None
    assert view().topic_by_id(ZERO_UUID) is None
    assert list(view().topic_names()) == ["orders"]


def test_partitions() -> None:
    assert view().partition_leader("orders", 1) == PartitionLeader(1, 4)
    assert view().partition_racks("orders", 0) == {"a"}
    assert view().partition_leader("orders", 2) is None
    assert view().partition_leader("gone", 0) is None
    assert view().partition_racks("gone", 0) == frozenset()


def test_brokers_features_and_group_configs() -> None:
    assert [view().is_broker_alive(broker_id) for broker_id in (1, 2, 3)] == [True, False, False]
    assert (view().feature_level("transaction.version"), view().feature_level("share.version")) == (2, 0)
    assert dict(view().group_configs("g")) == {"consumer.session.timeout.ms": "50000"}
    assert dict(view().group_configs("h")) == {}
