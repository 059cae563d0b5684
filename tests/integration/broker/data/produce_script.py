"""Produce, as clients and others send it. Each function is a scene: what is said, and what is heard in return."""

import struct
import time
from collections.abc import Iterator, Mapping

import crc32c

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.compression import CompressionType
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.integration.broker.data.wire import Talk, shown

Scene = Iterator[tuple[str, str]]
Ids = Mapping[str, Uuid]
START = int(time.time() * 1000)
HOUR_MS = 3_600_000


def batch(
    count: int = 1,
    *,
    at: int = START,
    key: bytes | None = b"k",
    value: bytes = b"v",
    options: BatchOptions | None = None,
) -> bytearray:
    """A batch of equal records."""
    return write_batch([(index, at, key, value, ()) for index in range(count)], options or BatchOptions())


def changed(data: bytearray, position: int, layout: str, *values: int, crc: bool = True) -> bytearray:
    """The batch with other bytes at a position; its CRC is made to match again unless it is what should be wrong."""
    other = bytearray(data)
    struct.pack_into(layout, other, position, *values)
    if crc:
        struct.pack_into(">I", other, 17, crc32c.crc32c(bytes(other[21:])))
    return other


def produce(
    topic: str | Uuid, records: bytes | bytearray | None, *, partition: int = 0, acks: int = 1, txn: str | None = None
) -> ProduceRequest:
    """A request for one partition."""
    data = TopicProduceData(partition_data=[PartitionProduceData(index=partition, records=records)])
    if isinstance(topic, Uuid):
        data.topic_id = topic
    else:
        data.name = topic
    return ProduceRequest(transactional_id=txn, acks=acks, timeout_ms=5000, topic_data=[data])


def versions(wire: Talk, ids: Ids) -> Scene:
    for version in range(3, 14):
        topic = ids["versions"] if version >= 13 else "versions"
        yield f"v{version}", shown(wire.ask(produce(topic, batch(2)), version), id=ids["versions"])
    for version in (0, 1, 2, 14):
        yield f"v{version}", _old(wire, version)


def _old(wire: Talk, version: int) -> str:
    body = bytes.fromhex("ffff 0001 00000064 00000000")
    wire.send_raw(struct.pack(">ihhih", 10 + len(body), 0, version, 1, -1) + body)
    return shown(wire.hear())


def acknowledgements(wire: Talk, ids: Ids) -> Scene:
    for acks in (1, -1, 2, -2, 32767):
        yield f"acks {acks}", shown(wire.ask(produce("acks", batch(), acks=acks), 9))
    yield "acks 0", _unanswered(wire, produce("acks", batch(), acks=0))
    yield "acks 0, unknown topic", _unanswered(wire, produce("nobody", batch(), acks=0))
    yield "acks 0, bad batch", _unanswered(wire, produce("acks", b"", acks=0))
    yield "acks 0, nothing", _unanswered(wire, ProduceRequest(acks=0, timeout_ms=100))
    yield "acks 5, unknown topic", shown(wire.ask(produce("nobody", batch(), acks=5), 9))
    yield "acks 5, empty records", shown(wire.ask(produce("acks", b"", acks=5), 9))


def _unanswered(wire: Talk, request: ProduceRequest) -> str:
    wire.send_raw(encode_request(request, 9, correlation_id=7, client_id="probe"))
    alive = wire.is_open()
    wire.close()
    return "open" if alive else "closed"


def unknown(wire: Talk, ids: Ids) -> Scene:
    yield "topic", shown(wire.ask(produce("nobody", batch()), 9))
    yield "topic, empty records", shown(wire.ask(produce("nobody", b""), 9))
    yield "partition", shown(wire.ask(produce("acks", batch(), partition=7), 9))
    yield "partition -1", shown(wire.ask(produce("acks", batch(), partition=-1), 9))
    yield "id", shown(wire.ask(produce(Uuid(b"x" * 16), batch()), 13))
    yield "zero id", shown(wire.ask(produce(ZERO_UUID, batch()), 13))
    yield "empty name", shown(wire.ask(produce("", batch()), 9))
    several = ProduceRequest(
        acks=1,
        topic_data=[
            TopicProduceData(name="acks"),
            TopicProduceData(name="nobody", partition_data=[PartitionProduceData(index=0, records=batch())]),
            TopicProduceData(name="nothing"),
        ],
    )
    yield "beside topics without partitions", shown(wire.ask(several, 9))
    yield "nothing at all", shown(wire.ask(ProduceRequest(acks=1), 9))


def malformed(wire: Talk, ids: Ids) -> Scene:
    good = batch(3)
    for version in (3, 9):
        yield f"empty v{version}", shown(wire.ask(produce("bad", b""), version))
    yield "cut short", shown(wire.ask(produce("bad", good[:-1]), 9))
    yield "only a length", shown(wire.ask(produce("bad", good[:12]), 9))
    yield "two batches", shown(wire.ask(produce("bad", good + good), 9))
    yield "a byte more", shown(wire.ask(produce("bad", batch() + b"x"), 9))
    for magic in (0, 1, 3, 127, -1):
        yield f"magic {magic}", shown(wire.ask(produce("bad", changed(good, 16, ">b", magic)), 9))
    yield "length 0", shown(wire.ask(produce("bad", changed(good, 8, ">i", 0)), 9))
    yield "base offset 5", shown(wire.ask(produce("bad", changed(good, 0, ">q", 5)), 9))
    yield "crc", shown(wire.ask(produce("bad", changed(good, 70, ">b", 99, crc=False)), 9))
    yield "count too large", shown(wire.ask(produce("bad", changed(good, 57, ">i", 4)), 9))
    yield "count 0", shown(wire.ask(produce("bad", changed(good, 57, ">i", 0)), 9))
    yield "last offset delta", shown(wire.ask(produce("bad", changed(good, 23, ">i", 9)), 9))
    for codec in (5, 7):
        yield f"codec {codec}", shown(wire.ask(produce("bad", changed(good, 21, ">h", codec)), 9))
    yield "garbage gzip", shown(wire.ask(produce("bad", changed(good, 21, ">h", 1)), 9))
    yield "control", shown(wire.ask(produce("bad", batch(options=BatchOptions(is_control=True))), 9))
    yield "still fine", shown(wire.ask(produce("bad", batch()), 9))


def compression(wire: Talk, ids: Ids) -> Scene:
    for codec in CompressionType:
        for version in (6, 7):
            packed = batch(10, value=b"v" * 100, options=BatchOptions(compression=codec))
            yield f"{codec.name} v{version}", shown(wire.ask(produce("codecs", packed), version))


def twice(wire: Talk, ids: Ids) -> Scene:
    first = PartitionProduceData(index=0, records=batch())
    second = PartitionProduceData(index=0, records=batch(2))
    same = ProduceRequest(acks=1, topic_data=[TopicProduceData(name="twice", partition_data=[first, second])])
    yield "partition", shown(wire.ask(same, 9))
    topics = [TopicProduceData(name="twice", partition_data=[PartitionProduceData(index=0, records=batch())])] * 2
    yield "topic", shown(wire.ask(ProduceRequest(acks=1, topic_data=topics), 9))


def producer_id(wire: Talk) -> int:
    """A fresh producer id; a broker that has just started may have none yet."""
    while True:
        answer = wire.expect(InitProducerIdRequest(transactional_id=None), 4, InitProducerIdResponse)
        if not answer.error_code:
            return answer.producer_id
        time.sleep(0.1)


def idempotence(wire: Talk, ids: Ids) -> Scene:
    pid = producer_id(wire)

    def send(sequence: int, epoch: int = 0, count: int = 2) -> str:
        options = BatchOptions(producer_id=pid, producer_epoch=epoch, base_sequence=sequence)
        records = produce("idempotent", batch(count, at=START + sequence, options=options))
        return shown(wire.ask(records, 9), start=START, two=START + 2, four=START + 4)

    yield "first", send(0)
    yield "second", send(2)
    yield "second again", send(2)
    yield "first again", send(0)
    yield "part of a batch again", send(1)
    yield "gap", send(7)
    yield "new epoch at 3", send(3, epoch=1)
    yield "new epoch", send(0, epoch=1)
    yield "old epoch", send(4, epoch=0)
    yield "sequence -1", send(-1, epoch=1)


def transactions(wire: Talk, ids: Ids) -> Scene:
    marked = BatchOptions(producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    for version in (7, 8, 9, 12):
        yield f"no id v{version}", shown(wire.ask(produce("txn", batch(options=marked)), version))
    yield "id for a plain batch", shown(wire.ask(produce("txn", batch(), txn="t"), 9))
    both = ProduceRequest(
        acks=1,
        topic_data=[
            TopicProduceData(name="txn", partition_data=[PartitionProduceData(index=0, records=batch(options=marked))]),
            TopicProduceData(name="nobody", partition_data=[PartitionProduceData(index=3, records=batch())]),
        ],
    )
    yield "no id, all partitions", shown(wire.ask(both, 9))


def rules(wire: Talk, ids: Ids) -> Scene:
    for version in (7, 8, 9):
        yield f"no key v{version}", shown(wire.ask(produce("compacted", batch(2, key=None)), version))
    yield "key", shown(wire.ask(produce("compacted", batch(2)), 9))
    yield "too large", shown(wire.ask(produce("small", batch(value=b"v" * 500)), 9))
    yield "too early", shown(wire.ask(produce("old", batch(at=START - 10 * HOUR_MS)), 9))[:120]
    far = wire.ask(produce("rules", batch(at=START + 3 * HOUR_MS)), 9)
    yield "too late", shown(far)[:120]
    stamped = Batch(batch())
    yield "append time", shown(wire.ask(produce("append-time", stamped.data.tobytes()), 9))[:120]


SCENES = (
    versions,
    acknowledgements,
    unknown,
    malformed,
    compression,
    twice,
    idempotence,
    transactions,
    rules,
)
