"""The compiled short way through Produce and the handler say the same to whatever comes.

Two brokers hear the same bytes, one of them without the short way; they have to agree on every answer, on every closed
connection, and in the end on every byte of their logs.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.base.accelerated import compiled_module
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.compression import CompressionType
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.topic_partition import TopicPartition
from tests.unit.broker.data_broker import NOW_MS, DataBroker
from tests.unit.broker.recorder import RecordedExchange

pytestmark = pytest.mark.skipif(
    compiled_module("ottla.broker.request._produce_lane") is None, reason="the short way is not compiled here"
)

TOPICS = {"orders": 2, "compacted": 1, "__consumer_offsets": 1}
VERSIONS = range(3, 14)
Heard = tuple[bytes | None, str | None, bool, bool]


class Pair:
    """The same broker twice."""

    def __init__(self, directory: Path) -> None:
        self.brokers = [DataBroker(directory / name) for name in ("short", "long")]
        self.ids: dict[str, Uuid] = {}
        for broker in self.brokers:
            for topic, count in TOPICS.items():
                policy = "compact" if topic == "compacted" else "delete"
                self.ids[topic] = broker.create(topic, count, cleanup_policy=policy)
        for version in VERSIONS:
            short, long = (broker.pipeline.route(ApiKey.PRODUCE, version) for broker in self.brokers)
            assert short is not None
            assert short.lane is not None
            assert long is not None
            long.lane = None

    def hear(self, frame: bytes) -> tuple[Heard, Heard]:
        """What each of them does."""
        first, second = (self._hear(broker, frame) for broker in self.brokers)
        return first, second

    def _hear(self, broker: DataBroker, frame: bytes) -> Heard:
        exchange = RecordedExchange()
        buffer = bytearray(frame)
        with memoryview(buffer) as view:
            broker.pipeline.received(view, exchange)  # type: ignore[arg-type]
        buffer.clear()
        return exchange.frame, exchange.connection.closed_with, exchange.has_no_answer, exchange.may_proceed

    def logs(self) -> list[list[tuple[int, bytes]]]:
        """Every log's end and bytes, of each broker."""
        return [
            [
                (
                    log.log_end_offset,
                    b"".join(Path(path).read_bytes() for path in sorted(Path(log.directory).glob("*.log"))),
                )
                for topic, count in TOPICS.items()
                for index in range(count)
                if (log := broker.logs.get(TopicPartition(topic, index))) is not None
            ]
            for broker in self.brokers
        ]


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as directory:
        for name in ("short", "long"):
            (Path(directory) / name).mkdir()
        made = Pair(Path(directory))
        yield made
        first, second = made.logs()
        assert first == second
        for broker in made.brokers:
            broker.close()


@st.composite
def plain_batches(draw: st.DrawFn) -> bytes:
    """What producers send."""
    options = BatchOptions(
        compression=draw(st.sampled_from(CompressionType)),
        producer_id=draw(st.sampled_from([-1, -1, 7])),
        producer_epoch=0,
        base_sequence=draw(st.integers(0, 3)),
    )
    key = draw(st.sampled_from([None, b"k"]))
    records = [(index, NOW_MS, key, b"v" * 20, ()) for index in range(draw(st.integers(1, 3)))]
    return bytes(write_batch(records, options))


@st.composite
def odd_batches(draw: st.DrawFn) -> bytes | None:
    """What they should not send, or not like that."""
    batch = draw(plain_batches())
    marked = BatchOptions(producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    control = BatchOptions(is_control=True)
    records = [(0, NOW_MS, b"k", b"v", ())]
    others = [bytes(write_batch(records, options)) for options in (marked, control)]
    return draw(st.sampled_from([None, b"", b"x" * 70, batch + b"x", batch + batch, batch[:-1], *others]))


@st.composite
def requests(draw: st.DrawFn, ids: dict[str, Uuid], version: int, *, is_odd: bool) -> ProduceRequest:
    """One partition, or what else may come."""
    topics = []
    names = ["orders", "orders", "compacted", "__consumer_offsets", *(["nobody", "", "é" * 70] if is_odd else [])]
    for _ in range(draw(st.sampled_from([1, 1, 0, 2])) if is_odd else 1):
        name = draw(st.sampled_from(names))
        data = [
            PartitionProduceData(
                index=draw(st.sampled_from([0, 0, 1, 5, -1])),
                records=draw(odd_batches() if is_odd and draw(st.booleans()) else plain_batches()),
            )
            for _ in range(draw(st.sampled_from([1, 1, 0, 2])) if is_odd else 1)
        ]
        topic = TopicProduceData(partition_data=data)
        if version >= 13:
            topic.topic_id = ids.get(name, draw(st.sampled_from([ZERO_UUID, Uuid(b"x" * 16)])))
        else:
            topic.name = name
        topics.append(topic)
    return ProduceRequest(
        transactional_id=draw(st.sampled_from([None, "t"])) if is_odd else None,
        acks=draw(st.sampled_from([-1, 1, 0, 2] if is_odd else [-1, -1, 1, 0])),
        timeout_ms=draw(st.sampled_from([0, 1000, -1])),
        topic_data=topics,
    )


@st.composite
def frames(draw: st.DrawFn, ids: dict[str, Uuid]) -> bytes:
    """Requests as bytes, now and then with a byte changed, or cut, or with more behind them."""
    version = draw(st.sampled_from(VERSIONS))
    request = draw(requests(ids, version, is_odd=draw(st.booleans())))
    client = draw(st.sampled_from([None, "", "client", "client", "x" * 300, "__admin_client"]))
    frame = bytearray(encode_request(request, version, correlation_id=draw(st.integers(0, 9)), client_id=client)[4:])
    change = draw(st.sampled_from(["nothing", "nothing", "nothing", "more", "a byte", "the end"]))
    if change == "a byte":
        frame[draw(st.integers(4, len(frame) - 1))] = draw(st.integers(0, 255))
    elif change == "the end":
        del frame[draw(st.integers(4, len(frame))) :]
    elif change == "more":
        frame += draw(st.binary(max_size=5))
    return bytes(frame)


@settings(max_examples=600, deadline=None)
@given(data=st.data())
def test_both_ways_lead_to_the_same(pair: Pair, data: st.DataObject) -> None:
    frame = data.draw(frames(pair.ids))
    short, long = pair.hear(frame)
    assert short == long
