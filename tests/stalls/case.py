"""What one client does while another waits: each is legal, and large. They build on each other, in this order."""

import socket
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ottla.base.ids import Uuid
from ottla.protocol.compression import CompressionType
from ottla.protocol.definition import Request, Response
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from ottla.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.list_groups import ListGroupsRequest
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.bench.broker_frame import FETCH_VERSION, PRODUCE_VERSION, Target, produce
from tests.bench.coordinator_offset import COMMIT_VERSION, commit, wait_for_coordinator
from tests.kafka.wire import Wire

TOPICS: Final = 8
_GROUPS: Final = 10_000
_CREATED_AT_ONCE: Final = 500
_CONNECTIONS: Final = 5_000
_HEAVY: Final = 200
"""Partitions of the request that takes long to decompress."""
_ALL: Final = "all"
"""A group with an offset for every partition."""
_IN_FLIGHT: Final = 50
_TOPIC_RESOURCE: Final = 2
_LATEST: Final = -1
_OFFSET_VERSION: Final = 8
_NOW_MS: Final = 1_794_800_000_000


class Work:
    """A client with one connection."""

    def __init__(self, wire: Wire, target: Target, partitions: int, topics: int) -> None:
        """`partitions` are each large topic's, `topics` are those of a single partition."""
        self._wire = wire
        self._target = target
        self._partitions = partitions
        self._topics = topics
        self._ids: dict[str, Uuid] = {}

    def cases(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """Each with what it is called."""
        total = TOPICS * self._partitions
        yield "nothing", lambda: time.sleep(3)
        yield "one gzip batch of 90 MB when expanded", self._expand
        heavy = self._heavy_request()
        yield f"one Produce of {_HEAVY} partitions, zstd, 40 MB each", lambda: self._ask(heavy, PRODUCE_VERSION)
        yield f"{TOPICS} × {self._partitions:,} partitions created", self._create
        yield "all metadata, 5 times", lambda: self._times(5, self._all_metadata)
        yield "the configs of all topics", lambda: self._describe(self._names())
        yield f"offsets of {total:,} partitions", self._list_offsets
        yield f"a fetch of {total:,} partitions, 5 times", lambda: self._times(5, self._fetch)
        yield f"{_GROUPS:,} groups commit", self._commit
        yield "all groups, 5 times", lambda: self._times(5, self._list_groups)
        yield f"a group commits {total:,} offsets", self._commit_all
        yield "all its offsets, 5 times", lambda: self._times(5, self._fetch_all_offsets)
        yield f"{_CONNECTIONS:,} connections open at once", self._connect
        yield f"{total:,} partitions deleted", self._delete
        yield f"{self._topics:,} topics created", self._create_small
        yield "their metadata, 5 times", lambda: self._times(5, self._all_metadata)
        yield "their configs", lambda: self._describe(self._small_names())
        yield "their log directories", self._describe_log_dirs
        yield "their partitions, page by page", self._describe_partitions

    def _times(self, count: int, call: Callable[[], object]) -> None:
        for _ in range(count):
            call()

    def _ask(self, request: Request, version: int) -> Response:
        return self._wire.ask(request, version)

    def _names(self) -> list[str]:
        return [f"many-{number}" for number in range(TOPICS)]

    def _expand(self) -> None:
        records = [(index, _NOW_MS, None, bytes(900_000), ()) for index in range(100)]
        batch = write_batch(records, BatchOptions(compression=CompressionType.GZIP))
        self._ask(produce(self._target, bytes(batch)), PRODUCE_VERSION)

    def _heavy_request(self) -> ProduceRequest:
        wanted = CreatableTopic(name="heavy", num_partitions=_HEAVY, replication_factor=1)
        created = self._ask(CreateTopicsRequest(topics=[wanted], timeout_ms=300_000), 7)
        assert isinstance(created, CreateTopicsResponse)
        records = [(index, _NOW_MS, None, bytes(1_000_000), ()) for index in range(40)]
        batch = bytes(write_batch(records, BatchOptions(compression=CompressionType.ZSTD)))
        partitions = [PartitionProduceData(index=index, records=batch) for index in range(_HEAVY)]
        topic = TopicProduceData(topic_id=created.topics[0].topic_id, partition_data=partitions)
        while any(part.leader_id < 0 for one in self._all_metadata().topics for part in one.partitions):
            time.sleep(0.05)
        return ProduceRequest(acks=1, timeout_ms=300_000, topic_data=[topic])

    def _create(self) -> None:
        for name in self._names():
            topic = CreatableTopic(name=name, num_partitions=self._partitions, replication_factor=1)
            self._ask(CreateTopicsRequest(topics=[topic], timeout_ms=300_000), 7)
        self._ids = {}
        while len(self._ids) < TOPICS:
            answer = self._all_metadata()
            led = (one for one in answer.topics if all(part.leader_id >= 0 for part in one.partitions))
            self._ids = {one.name: one.topic_id for one in led if one.name in self._names()}

    def _all_metadata(self) -> MetadataResponse:
        answer = self._ask(MetadataRequest(topics=None), 12)
        assert isinstance(answer, MetadataResponse)
        return answer

    def _describe(self, names: Iterable[str]) -> None:
        resources = [DescribeConfigsResource(resource_type=_TOPIC_RESOURCE, resource_name=name) for name in names]
        self._ask(DescribeConfigsRequest(resources=resources), 4)

    def _list_offsets(self) -> None:
        partitions = [ListOffsetsPartition(partition_index=index, timestamp=_LATEST) for index in self._indexes()]
        topics = [ListOffsetsTopic(name=name, partitions=partitions) for name in self._names()]
        self._ask(ListOffsetsRequest(replica_id=-1, topics=topics), 7)

    def _fetch(self) -> None:
        partitions = [FetchPartition(partition=index, partition_max_bytes=1 << 20) for index in self._indexes()]
        topics = [FetchTopic(topic_id=topic_id, partitions=partitions) for topic_id in self._ids.values()]
        self._ask(FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, topics=topics), FETCH_VERSION)

    def _indexes(self) -> Iterable[int]:
        return range(self._partitions)

    def _commit(self) -> None:
        wait_for_coordinator(self._wire, "group-0", self._target.name)
        sent = 0
        for number in range(_GROUPS):
            self._wire.send(commit(f"group-{number}", self._target.name, (0,)), COMMIT_VERSION)
            sent += 1
            if sent == _IN_FLIGHT:
                self._take(sent)
                sent = 0
        self._take(sent)

    def _commit_all(self) -> None:
        wait_for_coordinator(self._wire, _ALL, self._target.name)
        partitions = [OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
                      for index in self._indexes()]  # fmt: skip
        topics = [OffsetCommitRequestTopic(name=name, partitions=partitions) for name in self._names()]
        self._ask(OffsetCommitRequest(group_id=_ALL, topics=topics), _OFFSET_VERSION)

    def _fetch_all_offsets(self) -> None:
        group = OffsetFetchRequestGroup(group_id=_ALL, topics=None)
        self._ask(OffsetFetchRequest(groups=[group]), _OFFSET_VERSION)

    def _take(self, count: int) -> None:
        for _ in range(count):
            self._wire.receive()

    def _list_groups(self) -> None:
        self._ask(ListGroupsRequest(), 4)

    def _connect(self) -> None:
        address = self._wire.socket.getpeername()
        sockets = [socket.create_connection(address) for _ in range(_CONNECTIONS)]
        self._ask(MetadataRequest(topics=[]), 12)
        for one in sockets:
            one.close()

    def _small_names(self) -> Iterable[str]:
        return (f"small-{number}" for number in range(self._topics))

    def _create_small(self) -> None:
        names = list(self._small_names())
        for start in range(0, len(names), _CREATED_AT_ONCE):
            topics = [
                CreatableTopic(name=name, num_partitions=1, replication_factor=1)
                for name in names[start : start + _CREATED_AT_ONCE]
            ]
            self._ask(CreateTopicsRequest(topics=topics, timeout_ms=300_000), 7)
        while any(part.leader_id < 0 for one in self._all_metadata().topics for part in one.partitions):
            time.sleep(0.05)

    def _describe_log_dirs(self) -> None:
        self._ask(DescribeLogDirsRequest(topics=None), 4)

    def _describe_partitions(self) -> None:
        answer = self._ask(DescribeTopicPartitionsRequest(), 0)
        while isinstance(answer, DescribeTopicPartitionsResponse) and answer.next_cursor is not None:
            answer = self._ask(DescribeTopicPartitionsRequest(cursor=answer.next_cursor), 0)

    def _delete(self) -> None:
        self._ask(DeleteTopicsRequest(topic_names=self._names(), timeout_ms=300_000), 5)
        while any(one.name in self._ids for one in self._all_metadata().topics):
            time.sleep(0.05)
        time.sleep(3)
