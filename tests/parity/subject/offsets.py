"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeProducers."""

import time

from ottla.protocol.compression import CompressionType
from ottla.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from ottla.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.parity.batch import TIME_MS, batch
from tests.parity.subject.produce import request as produce
from tests.parity.talk import Talk, Topic


def run(talk: Talk) -> None:
    """All about where records are."""
    topic = talk.topic("offsets", 2)
    for shift in (0, 5_000, 2_000):
        talk.quietly(produce(topic, (0, batch(b"a", b"b", time_ms=TIME_MS + shift))), 13)
    _list_offsets(talk, topic)
    _leader_epochs(talk, topic)
    _delete_records(talk, topic)
    _producers(talk, topic)


def wanted(topic: str, *partitions: tuple[int, int], **others: int) -> ListOffsetsRequest:
    """Times (or special values) for partitions."""
    asked = [ListOffsetsPartition(partition_index=index, timestamp=timestamp) for index, timestamp in partitions]
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=asked)], **others)


def _list_offsets(talk: Talk, topic: Topic) -> None:
    for name, timestamp in (
        ("latest", -1),
        ("earliest", -2),
        ("the largest time", -3),
        ("the earliest local one", -4),
        ("the latest tiered one", -5),
        ("the earliest pending upload", -6),
        ("-7", -7),
        ("a time", TIME_MS + 1),
        ("a time beyond all", TIME_MS * 2),
        ("time 0", 0),
    ):
        talk.ask_all_versions(name, wanted(topic.name, (0, timestamp), (1, timestamp), timeout_ms=1_000))
    talk.ask_all_versions("an unknown partition", wanted(topic.name, (5, -1)))
    talk.ask_all_versions("an unknown topic", wanted("offsets-none", (0, -1)))
    talk.ask("a partition twice", wanted(topic.name, (0, -1), (0, -2)), 7)
    talk.ask("read committed", wanted(topic.name, (0, -1), isolation_level=1), 7)
    talk.ask("isolation 2", wanted(topic.name, (0, -1), isolation_level=2), 7)
    talk.ask("a bad name", wanted("a/b", (0, -1)), 7)
    talk.ask("no topics", ListOffsetsRequest(replica_id=-1), 7)
    for epoch in (-2, -1, 0, 1):
        asked = ListOffsetsPartition(partition_index=0, timestamp=-1, current_leader_epoch=epoch)
        request = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=topic.name, partitions=[asked])])
        talk.ask(f"current leader epoch {epoch}", request, 7)
    asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
    for replica in (-2, 1, 5):
        request = ListOffsetsRequest(replica_id=replica, topics=[ListOffsetsTopic(name=topic.name, partitions=[asked])])
        talk.ask(f"replica {replica}", request, 7)
    arrival = talk.topic("offsets-arrival", message_timestamp_type="LogAppendTime")
    talk.quietly(produce(arrival, (0, batch(b"a", b"b", b"c"))), 13)
    talk.ask("the largest time with LogAppendTime", wanted(arrival.name, (0, -3)), 7)
    time.sleep(0.01)
    talk.quietly(produce(arrival, (0, batch(b"d", b"e", b"f"))), 13)
    talk.ask("the largest time with LogAppendTime, later", wanted(arrival.name, (0, -3)), 7)
    time.sleep(0.01)
    talk.quietly(produce(arrival, (0, batch(b"g", b"h", compression=CompressionType.GZIP))), 13)
    talk.ask("the largest time with LogAppendTime, compressed", wanted(arrival.name, (0, -3)), 7)


def _leader_epochs(talk: Talk, topic: Topic) -> None:
    def request(name: str, index: int, epoch: int, current: int = -1, replica: int = -1) -> OffsetForLeaderEpochRequest:
        asked = OffsetForLeaderPartition(partition=index, leader_epoch=epoch, current_leader_epoch=current)
        return OffsetForLeaderEpochRequest(
            replica_id=replica, topics=[OffsetForLeaderTopic(topic=name, partitions=[asked])]
        )

    for epoch in (-1, 0, 1, 99):
        talk.ask_all_versions(f"epoch {epoch}", request(topic.name, 0, epoch))
    talk.ask("an empty partition", request(topic.name, 1, 0), 4)
    talk.ask("an unknown partition", request(topic.name, 7, 0), 4)
    talk.ask("an unknown topic", request("offsets-none", 0, 0), 4)
    talk.ask("a later current epoch", request(topic.name, 0, 0, current=5), 4)
    talk.ask("an earlier current epoch", request(topic.name, 0, 0, current=-2), 4)
    talk.ask("as a replica", request(topic.name, 0, 0, replica=5), 4)


def _delete_records(talk: Talk, topic: Topic) -> None:
    def request(name: str, *partitions: tuple[int, int]) -> DeleteRecordsRequest:
        asked = [DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in partitions]
        return DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=asked)], timeout_ms=5_000)

    talk.ask_all_versions("two records", request(topic.name, (0, 2)))
    talk.ask("backwards", request(topic.name, (0, 1)), 2)
    talk.ask("beyond the end", request(topic.name, (0, 50)), 2)
    talk.ask("a negative offset", request(topic.name, (0, -5)), 2)
    talk.ask("to the high watermark", request(topic.name, (0, -1)), 2)
    talk.ask("an unknown partition", request(topic.name, (7, 0)), 2)
    talk.ask("an unknown topic", request("offsets-none", (0, 0)), 2)
    talk.ask("nothing", DeleteRecordsRequest(timeout_ms=1_000), 2)
    for policy in ("compact", "compact,delete"):
        kept = talk.topic(f"offsets-{policy.replace(',', '-')}", cleanup_policy=policy)
        talk.quietly(produce(kept, (0, batch(b"a", b"b"))), 13)
        talk.ask(f"cleanup.policy={policy}", request(kept.name, (0, 1)), 2)
    talk.ask("earliest after a deletion", wanted(topic.name, (0, -2), (0 + 1, -2)), 5)


def _producers(talk: Talk, topic: Topic) -> None:
    talk.quietly(produce(topic, (1, batch(b"a", b"b", producer=(5_000, 3, 0)))), 13)
    asked = [TopicRequest(name=topic.name, partition_indexes=[0, 1, 7])]
    talk.ask("producers", DescribeProducersRequest(topics=asked), 0)
    talk.ask(
        "of an unknown topic",
        DescribeProducersRequest(topics=[TopicRequest(name="offsets-none", partition_indexes=[0])]),
        0,
    )
    talk.ask("of a bad name", DescribeProducersRequest(topics=[TopicRequest(name="a/b", partition_indexes=[0])]), 0)
