"""Which logs on the disk are this broker's, by what the cluster says."""

import pytest

from ottla.base.ids import Uuid
from ottla.broker.node.stray_log import StrayLogs
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.metadata_log.topic import PartitionRecord, TopicRecord
from ottla.storage.topic_partition import TopicPartition

ORDERS, OTHER = Uuid(b"o" * 16), Uuid(b"x" * 16)


@pytest.mark.parametrize(
    ("partition", "topic_id", "is_stray"),
    [
        (TopicPartition("orders", 0), ORDERS, False),
        (TopicPartition("orders", 0), None, False),
        (TopicPartition("orders", 0), OTHER, True),
        (TopicPartition("orders", 1), ORDERS, True),
        (TopicPartition("orders", 2), ORDERS, True),
        (TopicPartition("deleted", 0), OTHER, True),
        (TopicPartition("deleted", 0), None, True),
    ],
    ids=["ours", "ours without an id", "recreated", "moved away", "no such partition", "deleted", "deleted, no id"],
)
def test_stray(partition: TopicPartition, topic_id: Uuid | None, is_stray: bool) -> None:
    delta = MetadataDelta(EMPTY_IMAGE)
    delta.replay_all(
        [
            TopicRecord(name="orders", topic_id=ORDERS),
            PartitionRecord(topic_id=ORDERS, partition_id=0, replicas=[1, 2], isr=[1, 2], leader=1),
            PartitionRecord(topic_id=ORDERS, partition_id=1, replicas=[2, 3], isr=[2, 3], leader=2),
        ]
    )
    topics = delta.apply(Provenance(3, 1, 0)).topics
    assert StrayLogs(1, topics).is_stray(partition, topic_id) is is_stray
