"""Requests as whole frames for the load programs, and where their answers have what the programs look at."""

import struct
from dataclasses import dataclass
from pathlib import Path

from ottla.base.ids import Uuid
from ottla.protocol.frame import encode_request, encode_response
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.protocol.records.writer import write_batch
from tests.clients.patience import until
from tests.kafka.server import Server
from tests.kafka.wire import Wire

PRODUCE_VERSION, FETCH_VERSION = 13, 17
_SIZE_BYTES = 4
_MARK = 0x5A5B
_NOW_MS = 1_794_800_000_000


@dataclass(frozen=True)
class Target:
    """A topic with one partition."""

    name: str
    id: Uuid


def make_target(server: Server, name: str) -> Target:
    """Creates the topic and waits until it takes records."""
    with Wire(server.address) as wire:
        wanted = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        created = wire.ask(CreateTopicsRequest(topics=[wanted]), 7)
        assert isinstance(created, CreateTopicsResponse)
        target = Target(name, created.topics[0].topic_id)
        until(0, lambda: _produce_error(wire, target))
    return target


def _produce_error(wire: Wire, target: Target) -> int:
    answer = wire.ask(produce(target, bytes(write_batch([(0, _NOW_MS, None, b"first", ())]))), PRODUCE_VERSION)
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0].error_code


def produce(target: Target, records: bytes) -> ProduceRequest:
    """A request with acks=1."""
    data = TopicProduceData(topic_id=target.id, partition_data=[PartitionProduceData(index=0, records=records)])
    return ProduceRequest(acks=1, timeout_ms=10_000, topic_data=[data])


def records_of(count: int, value_bytes: int) -> bytes:
    """A batch of such records, with times but no keys."""
    value = bytes(range(65, 65 + 26)) * (value_bytes // 26 + 1)
    return bytes(write_batch([(index, _NOW_MS, None, value[:value_bytes], ()) for index in range(count)]))


def produce_frame(path: Path, target: Target, records: bytes) -> Path:
    """A Produce request with acks=1."""
    frame = encode_request(produce(target, records), PRODUCE_VERSION, correlation_id=1, client_id="bench")
    path.write_bytes(frame)
    return path


def fetch_frame(path: Path, target: Target, *, max_wait_ms: int, max_bytes: int = 1 << 20) -> Path:
    """A Fetch request without a session; the offset is to be patched at `fetch_offset_at`."""
    partition = FetchPartition(partition=0, fetch_offset=_MARK << 32, partition_max_bytes=max_bytes)
    topics = [FetchTopic(topic_id=target.id, partitions=[partition])]
    request = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=max_bytes, topics=topics)
    path.write_bytes(encode_request(request, FETCH_VERSION, correlation_id=1, client_id="bench"))
    return path


def fetch_offset_at(frame: Path) -> int:
    """Where the frame has its offset."""
    return frame.read_bytes().index(struct.pack(">q", _MARK << 32))


def produce_error_at() -> int:
    """Where the answer to a Produce has its error code, counted behind the size."""
    partition = PartitionProduceResponse(index=0, error_code=_MARK, base_offset=0)
    topic = TopicProduceResponse(topic_id=Uuid(bytes(16)), partition_responses=[partition])
    answer = encode_response(ProduceResponse(responses=[topic]), PRODUCE_VERSION, correlation_id=1)
    return answer.index(struct.pack(">h", _MARK)) - _SIZE_BYTES


def fetch_error_and_records_at() -> tuple[int, int]:
    """Where the answer to a Fetch has its partition's error code, and the length of its records."""
    records = b"these are the records"
    partition = PartitionData(error_code=_MARK, records=records, aborted_transactions=None)
    topic = FetchableTopicResponse(topic_id=Uuid(bytes(16)), partitions=[partition])
    answer = encode_response(FetchResponse(responses=[topic]), FETCH_VERSION, correlation_id=1)
    return answer.index(struct.pack(">h", _MARK)) - _SIZE_BYTES, answer.index(records) - 1 - _SIZE_BYTES
