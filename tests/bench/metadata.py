"""Metadata: replay into the image, topics created one by one, a broker fenced, memory of an image (CPU time)

Cost per topic must not grow with the image: it is measured on an empty cluster and on one of 200,000 partitions. What
the controller writes is encoded, as a real quorum would, and kept nowhere. The last line is a size, not a rate.
"""

import gc
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from ottla.base.ids import Uuid
from ottla.metadata.batch import read_batches
from ottla.metadata.controller.controller import Controller
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, NOTHING, MetadataImage
from ottla.metadata.image.snapshot import load_snapshot, snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.metadata_log.log import VersionedRecord, encode_record, read_record
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.topic import PartitionChangeRecord, PartitionRecord, TopicRecord
from ottla.protocol.records.writer import write_batch
from tests.bench.measure import Figure, rates
from tests.unit.metadata.cluster import Cluster, MemoryQuorum, directory_of, topic_of

BROKERS = 6
PARTITIONS_PER_TOPIC = 10
RECORDS_PER_BATCH = 1_100


def figures(*, seconds: float) -> Iterator[Figure]:
    """Every figure; the large image takes some seconds to build."""
    records = _records(topics=2_000)
    values = [encode_record(record, 2 if isinstance(record, PartitionRecord) else 0) for record in records]
    yield _replay("replay of partition records", records, "≥ 200 k", seconds)
    yield _replay("replay of ISR changes", _changes(records), "≥ 200 k", seconds, _image_of(records))
    yield _decoded_replay(values, seconds)
    yield _snapshot(_image_of(records), seconds)
    for partitions in (0, 200_000):
        yield _creation(partitions, topics=1_000 if seconds < 1 else 10_000)
    yield _fencing(20_000 if seconds < 1 else 200_000)
    yield _memory(_records(topics=5_000))


def _records(topics: int) -> list[MetadataRecord]:
    random = Random(0)
    directories = {broker: directory_of(broker) for broker in range(BROKERS)}
    records: list[MetadataRecord] = []
    for topic in range(topics):
        topic_id = Uuid(random.randbytes(16))
        records.append(TopicRecord(name=f"topic-{topic}", topic_id=topic_id))
        for index in range(PARTITIONS_PER_TOPIC):
            replicas = [(topic + index + follower) % BROKERS for follower in range(3)]
            records.append(
                PartitionRecord(
                    partition_id=index,
                    topic_id=Uuid(topic_id),
                    replicas=replicas,
                    isr=list(replicas),
                    leader=replicas[0],
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=[Uuid(directories[broker]) for broker in replicas],
                )
            )
    return records


def _changes(records: list[MetadataRecord]) -> list[MetadataRecord]:
    return [
        PartitionChangeRecord(partition_id=record.partition_id, topic_id=record.topic_id, isr=record.isr[:2])
        for record in records
        if isinstance(record, PartitionRecord)
    ]


def _image_of(records: list[MetadataRecord]) -> MetadataImage:
    return apply_records(EMPTY_IMAGE, records, NOTHING)[0]


def _replay(
    name: str, records: list[MetadataRecord], target: str, seconds: float, base: MetadataImage = EMPTY_IMAGE
) -> Figure:
    batches = [records[start : start + RECORDS_PER_BATCH] for start in range(0, len(records), RECORDS_PER_BATCH)]

    def replay() -> None:
        image = base
        for batch in batches:
            image, _ = apply_records(image, batch, NOTHING)

    return Figure(name, "records", rates({"ours": replay}, len(records), seconds=seconds)["ours"], target=target)


def _decoded_replay(values: list[bytes], seconds: float) -> Figure:
    placed = [(offset, 0, None, value, ()) for offset, value in enumerate(values)]
    log = bytearray()
    for start in range(0, len(values), RECORDS_PER_BATCH):
        log += write_batch(placed[start : start + RECORDS_PER_BATCH])

    def replay() -> None:
        MetadataLoader().load(read_batches(log))

    measured = rates({"ours": replay}, len(values), seconds=seconds)["ours"]
    return Figure("partition records from the log's bytes", "records", measured, target="≥ 200 k")


def _snapshot(image: MetadataImage, seconds: float) -> Figure:
    whole = replace(image, features=Cluster().image.features)
    count = sum(1 for _ in snapshot_records(whole))

    def write() -> None:
        for record, version in snapshot_records(whole):
            encode_record(record, version)

    return Figure("snapshot written, as bytes", "records", rates({"ours": write}, count, seconds=seconds)["ours"])


class EncodingQuorum(MemoryQuorum):
    """A log that encodes what it gets, counts it and forgets it."""

    def __init__(self, end_offset: int) -> None:
        super().__init__()
        self._end_offset = end_offset

    def end_offset(self) -> int:
        return self._end_offset

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        for record, version in records:
            encode_record(record, version)
        self._end_offset += len(records)
        return self._end_offset - 1


def _controller(partitions: int) -> Controller:
    """The controller of a cluster with that many partitions."""
    cluster = Cluster()
    cluster.start(*range(1, BROKERS + 1))
    quorum = EncodingQuorum(cluster.quorum.end_offset())
    ports = replace(cluster.ports, quorum=quorum)
    controller = Controller(cluster.settings, ports)
    controller.claim(2, cluster.image, now_ms=0)
    per_request = 1_000
    for number in range(0, partitions, per_request):
        made = [
            topic_of(f"old-{number + place}", num_partitions=PARTITIONS_PER_TOPIC, replication_factor=3)
            for place in range(per_request // PARTITIONS_PER_TOPIC)
        ]
        controller.submit(CreateTopicsRequest(topics=made), 0)
    return controller


def _creation(partitions: int, topics: int) -> Figure:
    controller = _controller(partitions)
    requests = [
        CreateTopicsRequest(topics=[topic_of(f"new.{number}", num_partitions=1, replication_factor=3)])
        for number in range(topics)
    ]
    gc.collect()
    start = time.process_time()
    for request in requests:
        controller.submit(request, 0)
    elapsed = time.process_time() - start
    return Figure(f"topics created, {partitions:,} partitions there", "topics", topics / elapsed, target="≥ 1 k")


def _fencing(partitions: int) -> Figure:
    """A broker with half of all partitions goes: decided, applied, indexed and encoded, while nobody else is heard."""
    controller = _controller(partitions)
    before = controller.image.topics
    broker = controller.image.cluster.brokers[1]
    request = BrokerHeartbeatRequest(broker_id=broker.id, broker_epoch=broker.epoch, want_fence=True)
    gc.collect()
    start = time.process_time()
    controller.submit(request, 0)
    elapsed = time.process_time() - start
    after = controller.image.topics
    changed = sum(
        old is not new
        for topic_id, topic in before.by_id.items()
        for old, new in zip(topic.partitions, after.by_id[topic_id].partitions, strict=True)
    )
    return Figure(f"partitions of a fenced broker, {changed:,} of them", "partitions", changed / elapsed)


def _memory(records: list[MetadataRecord]) -> Figure:
    values = [encode_record(record, 2 if isinstance(record, PartitionRecord) else 0) for record in records]
    partitions = sum(isinstance(record, PartitionRecord) for record in records)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    image = load_snapshot(map(read_record, values), NOTHING)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(image.topics.by_id) * PARTITIONS_PER_TOPIC == partitions
    size = (after - before) / partitions
    return Figure("memory of an image per partition", "bytes", size, target="≤ 1,500", per="")
