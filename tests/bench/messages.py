"""Messages: typical requests and responses, beside kafka-python's generated classes (messages/s)

Both sides get the same values and the same bytes: what one writes the other reads, or the benchmark stops.
"""

from collections.abc import Callable, Iterator
from typing import Any

from kafka.protocol.consumer.fetch import FetchResponse as TheirFetchResponse
from kafka.protocol.consumer.group import JoinGroupRequest as TheirJoinGroupRequest
from kafka.protocol.consumer.group import OffsetCommitRequest as TheirOffsetCommitRequest
from kafka.protocol.metadata import MetadataResponse as TheirMetadataResponse
from kafka.protocol.producer.produce import ProduceRequest as TheirProduceRequest

from ottla.base.ids import Uuid
from ottla.protocol.codec.reader import Reader
from ottla.protocol.codec.writer import Writer, joined
from ottla.protocol.definition import Message
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.bench.measure import Figure, compare

RECORDS = bytes(1000)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Decode and encode of each sample."""
    for label, version, message, theirs, target in samples():
        yield from _both_ways(label, version, message, theirs, target, seconds)


def samples() -> list[tuple[str, int, Message, Any, str]]:
    """Messages as a busy client and broker exchange them."""
    return [
        ("Produce v9, 3 topics × 2 partitions", 9, produce(), TheirProduceRequest, "ahead"),
        ("Fetch answer v11, 3 topics × 4 partitions", 11, fetch(), TheirFetchResponse, "ahead"),
        ("Metadata answer v9, 100 topics × 3", 9, metadata(), TheirMetadataResponse, "≥ 5×"),
        ("Metadata answer v5, 100 topics × 3", 5, metadata(), TheirMetadataResponse, "≥ 5×"),
        ("JoinGroup v7", 7, join_group(), TheirJoinGroupRequest, "ahead"),
        ("OffsetCommit v8, 10 topics × 10", 8, offset_commit(), TheirOffsetCommitRequest, "≥ 5×"),
    ]


def produce() -> ProduceRequest:
    topics = [
        TopicProduceData(
            name=f"orders-{topic}",
            partition_data=[PartitionProduceData(index=index, records=RECORDS) for index in range(2)],
        )
        for topic in range(3)
    ]
    return ProduceRequest(acks=-1, timeout_ms=30000, topic_data=topics)


def fetch() -> FetchResponse:
    topics = [
        FetchableTopicResponse(
            topic=f"orders-{topic}",
            partitions=[
                PartitionData(
                    partition_index=index,
                    high_watermark=10**9,
                    last_stable_offset=10**9,
                    log_start_offset=10**6,
                    aborted_transactions=[],
                    records=RECORDS,
                )
                for index in range(4)
            ],
        )
        for topic in range(3)
    ]
    return FetchResponse(session_id=77, responses=topics)


def metadata() -> MetadataResponse:
    brokers = [
        MetadataResponseBroker(node_id=node, host=f"broker-{node}.example.org", port=9092, rack="a")
        for node in range(3)
    ]
    topics = [
        MetadataResponseTopic(
            name=f"orders-{topic}",
            partitions=[
                MetadataResponsePartition(
                    partition_index=index,
                    leader_id=index,
                    leader_epoch=5,
                    replica_nodes=[0, 1, 2],
                    isr_nodes=[0, 1, 2],
                    offline_replicas=[],
                )
                for index in range(3)
            ],
        )
        for topic in range(100)
    ]
    cluster_id = str(Uuid(range(16)))
    return MetadataResponse(brokers=brokers, cluster_id=cluster_id, controller_id=1, topics=topics)


def join_group() -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="billing",
        session_timeout_ms=45000,
        rebalance_timeout_ms=300000,
        member_id="consumer-billing-1-5f0c6e6e-95a1-4bd4-8a3e-1f0f5b4c3d2e",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name=name, metadata=bytes(80)) for name in ("range", "cooperative-sticky")],
    )


def offset_commit() -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name=f"orders-{topic}",
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index,
                    committed_offset=10**9 + index,
                    committed_leader_epoch=5,
                    committed_metadata="",
                )
                for index in range(10)
            ],
        )
        for topic in range(10)
    ]
    return OffsetCommitRequest(group_id="billing", generation_id_or_member_epoch=7, member_id="m-1", topics=topics)


def _both_ways(
    label: str, version: int, message: Message, theirs: Any, target: str, seconds: float
) -> Iterator[Figure]:
    ours = type(message)
    encoded = message.encode(version)
    their_message = theirs.decode(encoded, version=version)
    their_message._header = None  # encode() looks at it, decode() leaves it unset
    if their_message.encode(version=version) != encoded:
        raise SystemExit(f"{label}: kafka-python writes other bytes")
    plan = ours.plan(version)

    def plain_encode() -> bytes:
        writer = Writer()
        writer.write(plan, message)
        return joined(writer.finish())

    decoders: dict[str, Callable[[], object]] = {
        "ours": lambda: ours.decode(encoded, version),
        "ours, plain": lambda: Reader(encoded, 0).read(plan),
        "kafka-python": lambda: theirs.decode(encoded, version=version),
    }
    encoders: dict[str, Callable[[], object]] = {
        "ours": lambda: message.encode(version),
        "ours, plain": plain_encode,
        "kafka-python": lambda: their_message.encode(version=version),
    }
    yield compare(f"decode {label}", "messages", decoders, 1, seconds=seconds, target=target)
    yield compare(f"encode {label}", "messages", encoders, 1, seconds=seconds, target=target)
