"""Pipeline: requests as bytes through handlers, replication and the log, no network

The log's own append beside it shows what everything around it costs.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ottla.protocol.definition import Request
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.writer import write_batch
from tests.bench.measure import Figure, compare
from tests.unit.broker.data_broker import NOW_MS, DataBroker
from tests.unit.broker.recorder import RecordedConnection


class Unheard:
    """An exchange whose answer goes nowhere."""

    __slots__ = ("connection", "is_done")

    def __init__(self, connection: RecordedConnection) -> None:
        self.connection = connection
        self.is_done = False

    def answer(self, pieces: object) -> None:
        """Nobody listens."""
        self.is_done = True

    def close(self, reason: str) -> None:
        """Not in a benchmark."""
        raise AssertionError(reason)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Single-record produces beside bare appends, and fetches of one partition."""
    with tempfile.TemporaryDirectory() as directory:
        broker = DataBroker(Path(directory))
        topic_id = broker.create("orders")
        records = write_batch([(0, NOW_MS, None, bytes(100), ())])
        log = broker.replicas.get("orders", 0).log  # type: ignore[union-attr]
        buffer = bytearray(records)

        def append() -> None:
            buffer[:] = records
            log.append_as_leader(memoryview(buffer), 0, NOW_MS)

        data = [PartitionProduceData(index=0, records=records)]
        by_name = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="orders", partition_data=data)])
        by_id = ProduceRequest(acks=-1, topic_data=[TopicProduceData(topic_id=topic_id, partition_data=data)])
        for name, request, version in (("by name, v9", by_name, 9), ("by id, v13", by_id, 13)):
            contenders = {"ours": _received(broker, request, version), "the log's append alone": append}
            yield compare(f"produce one record {name}", "requests", contenders, 1, seconds=seconds)
        partitions = [FetchPartition(fetch_offset=0, partition_max_bytes=1 << 20)]
        fetch = FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic_id=topic_id, partitions=partitions)])
        yield compare(
            "fetch one partition, v17", "requests", {"ours": _received(broker, fetch, 17)}, 1, seconds=seconds
        )
        broker.close()


def _received(broker: DataBroker, request: Request, version: int) -> Callable[[], None]:
    frame = encode_request(request, version, correlation_id=1, client_id="bench")[4:]
    buffer = bytearray(frame)
    connection = RecordedConnection()
    received = broker.pipeline.received

    def receive() -> None:
        # Produce patches the records where they lie.
        buffer[:] = frame
        received(memoryview(buffer), Unheard(connection))  # type: ignore[arg-type]

    return receive
