"""How answers of servers become values."""

import struct

from ottla.client.admin.operation.base import NOT_TOLD, authorized_operations
from ottla.client.admin.operation.group_description import assigned_partitions
from ottla.client.admin.operation.topic import creatable_topic
from ottla.client.admin.operation.topic_description import TopicPages
from ottla.client.admin.value.quota import ClientQuotaEntity
from ottla.client.admin.value.scram import ScramMechanism, UserScramCredentialUpsertion
from ottla.client.admin.value.topic import NewTopic, TopicDescription
from ottla.client.record import TopicPartition
from ottla.protocol.consumer_protocol import AssignedTopicPartition, ConsumerProtocolAssignment
from ottla.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)


def test_a_topic_that_spans_pages_is_put_together() -> None:
    pages = TopicPages()
    for numbers in ((0, 1), (2,)):
        parts = [DescribeTopicPartitionsResponsePartition(partition_index=number, leader_id=-1) for number in numbers]
        topic = DescribeTopicPartitionsResponseTopic(name="t", partitions=parts)
        pages.add(DescribeTopicPartitionsResponse(topics=[topic]))
    found = pages.outcomes()["t"]
    assert isinstance(found, TopicDescription)
    assert [part.partition for part in found.partitions] == [0, 1, 2]
    assert found.partitions[0].leader is None


def test_what_a_new_topic_leaves_open_the_cluster_decides() -> None:
    left_open = creatable_topic(NewTopic("t"))
    assert (left_open.num_partitions, left_open.replication_factor) == (-1, -1)
    placed = creatable_topic(NewTopic("t", assignment={0: [1, 2]}, configs={"retention.ms": "1"}))
    assert [(part.partition_index, part.broker_ids) for part in placed.assignments] == [(0, [1, 2])]
    assert [(config.name, config.value) for config in placed.configs] == [("retention.ms", "1")]


def test_assignments_of_any_version_are_read() -> None:
    body = ConsumerProtocolAssignment(assigned_partitions=[AssignedTopicPartition(topic="t", partitions=[3, 1])])
    for version in (0, 3, 9):
        written = struct.pack(">h", version) + body.encode(min(version, 3))
        assert assigned_partitions(written) == {TopicPartition("t", 1), TopicPartition("t", 3)}
    assert assigned_partitions(b"") == frozenset()
    assert assigned_partitions(b"\x00\x00\x7f\xff\xff\xff") == frozenset()


def test_operations_that_nobody_asked_for_are_not_an_empty_set() -> None:
    assert authorized_operations(NOT_TOLD) is None
    assert authorized_operations(0) == frozenset()


def test_quota_entities_are_equal_whatever_the_order() -> None:
    one, other = ClientQuotaEntity.of(user="a", client_id=None), ClientQuotaEntity.of(client_id=None, user="a")
    assert one == other
    assert one.names == {"client-id": None, "user": "a"}


def test_passwords_are_not_shown() -> None:
    shown = repr(UserScramCredentialUpsertion("bob", ScramMechanism.SCRAM_SHA_256, b"secret"))
    assert "secret" not in shown
