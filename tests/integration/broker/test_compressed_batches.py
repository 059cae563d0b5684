"""Batches that take long to check, on a real node: others don't wait for them, and nothing changes its order."""

import random
import select
import threading
from collections.abc import Iterator
from itertools import pairwise

import pytest

from ottla.protocol.api_key import ApiKey
from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.fetch import FetchResponse
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import read_tuples
from ottla.protocol.records.writer import BatchOptions, write_batch
from tests.clients.patience import until
from tests.clients.server import OTTLA, start_server
from tests.integration.broker.data.fetch_script import at, fetch, wanted
from tests.integration.broker.data.wire import Wire

CODECS = [CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4, CompressionType.ZSTD]
_DICE = random.Random(5)
TEXT = " ".join(str(_DICE.randrange(100_000)) for _ in range(60_000)).encode()


class LargeWire(Wire):
    """With patience for answers to large requests."""

    def send_raw(self, frame: bytes) -> None:
        super().send_raw(frame)
        assert self._socket is not None
        self._socket.settimeout(120)

    def has_answer(self) -> bool:
        """Whether something can be read."""
        assert self._socket is not None
        return bool(select.select([self._socket], [], [], 0)[0])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    server = start_server(OTTLA, tmp_path_factory.mktemp("node"))
    try:
        host, _, port = server.bootstrap.rpartition(":")
        yield host, int(port)
    finally:
        server.stop()


@pytest.fixture
def wire(address: tuple[str, int]) -> Iterator[LargeWire]:
    made = LargeWire(*address)
    yield made
    made.close()


def create(wire: Wire, topic: str, partitions: int = 1, **configs: str) -> None:
    settings = [CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()]
    asked = CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1, configs=settings)
    request = CreateTopicsRequest(topics=[asked], timeout_ms=30_000)
    assert wire.expect(request, 7, CreateTopicsResponse).topics[0].error_code == 0
    until(0, lambda: read(wire, topic, partitions - 1)[0])


def read(wire: Wire, topic: str, partition: int = 0) -> tuple[int, bytes]:
    """Code and records, up to 64 MiB of them."""
    size = 1 << 26
    request = fetch(wanted(topic, at(0, partition=partition, partition_max_bytes=size)), max_bytes=size)
    [found] = wire.expect(request, 12, FetchResponse).responses[0].partitions
    return found.error_code, bytes(found.records or b"")  # type: ignore[arg-type]


def batch(codec: CompressionType, *values: bytes, producer: int = -1, sequence: int = -1) -> bytearray:
    options = BatchOptions(
        compression=codec, producer_id=producer, producer_epoch=-1 if producer < 0 else 0, base_sequence=sequence
    )
    return write_batch([(index, 1_700_000_000_000, b"k", value, ()) for index, value in enumerate(values)], options)


def produce(topic: str, *records: bytes | bytearray) -> ProduceRequest:
    """The records for partitions 0, 1, …"""
    data = [PartitionProduceData(index=index, records=each) for index, each in enumerate(records)]
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=topic, partition_data=data)])


def codes(wire: Wire, topic: str, *records: bytes | bytearray) -> list[int]:
    [answer] = wire.expect(produce(topic, *records), 9, ProduceResponse).responses
    return [partition.error_code for partition in answer.partition_responses]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.config_name)
def test_large_batches_are_written_as_they_came(wire: LargeWire, codec: CompressionType) -> None:
    topic = f"large-{codec.config_name}"
    create(wire, topic, max_message_bytes="10000000", decompressed_message_max_bytes="30000000")
    values = [TEXT, b"small", TEXT[:200_000]]
    sent = batch(codec, *values)
    assert codes(wire, topic, sent) == [0]
    code, stored = read(wire, topic)
    assert code == 0
    assert [value for _, _, _, value, _ in read_tuples(stored)] == values
    assert stored[21:] == bytes(sent[21:])
    assert codes(wire, topic, batch(codec, bytes(29_000_000))) == [0]
    assert codes(wire, topic, batch(codec, bytes(31_000_000))) == [ErrorCode.MESSAGE_TOO_LARGE]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.config_name)
def test_what_is_wrong_with_a_large_batch_is_said_as_of_a_small_one(wire: LargeWire, codec: CompressionType) -> None:
    topic = f"wrong-{codec.config_name}"
    create(wire, topic, 5, cleanup_policy="compact")
    good = batch(codec, TEXT)
    broken = bytearray(good)
    broken[-20] ^= 1
    keyless = write_batch([(0, 1_700_000_000_000, None, TEXT, ())], BatchOptions(compression=codec))
    late = write_batch([(0, 1 << 52, b"k", TEXT, ())], BatchOptions(compression=codec))
    skipping = write_batch([(0, 0, b"k", TEXT, ()), (2, 0, b"k", b"", ())], BatchOptions(compression=codec))
    assert codes(wire, topic, good, broken, keyless, late, skipping) == [
        0,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_RECORD,
        ErrorCode.INVALID_TIMESTAMP,
        ErrorCode.INVALID_RECORD,
    ]


def test_batches_are_compressed_anew(wire: LargeWire) -> None:
    create(wire, "anew", compression_type="zstd")
    assert codes(wire, "anew", batch(CompressionType.GZIP, TEXT)) == [0]
    [stored] = batches(read(wire, "anew")[1])
    assert stored.compression is CompressionType.ZSTD
    assert [value for _, _, _, value, _ in read_tuples(stored.data)] == [TEXT]


def test_nobody_waits_for_a_request_of_many_heavy_batches(address: tuple[str, int], wire: LargeWire) -> None:
    create(wire, "heavy", 10)
    create(wire, "light")
    heavy, third = LargeWire(*address), LargeWire(*address)
    try:
        bomb = batch(CompressionType.GZIP, bytes(40_000_000))
        heavy.send_raw(encode_request(produce("heavy", *[bomb] * 10), 9, correlation_id=1, client_id="h"))
        # One that is small, and one that needs a turn of its own.
        assert codes(wire, "light", batch(CompressionType.NONE, b"v")) == [0]
        assert codes(third, "light", batch(CompressionType.ZSTD, TEXT)) == [0]
        assert not heavy.has_answer()
        heard = heavy.hear()
        assert isinstance(heard, bytes)
        response = decode_response(heard, ApiKey.PRODUCE, 9)[1]
        assert isinstance(response, ProduceResponse)
        assert [found.error_code for found in response.responses[0].partition_responses] == [0] * 10
    finally:
        heavy.close()
        third.close()


def _send_and_hear(wire: LargeWire, requests: list[ProduceRequest], heard: list[tuple[int, int, int]]) -> None:
    frames = [
        encode_request(request, 9, correlation_id=number, client_id="c") for number, request in enumerate(requests)
    ]
    sender = threading.Thread(target=wire.send_raw, args=(b"".join(frames),))
    wire.send_raw(b"")
    sender.start()
    for _ in requests:
        answer = wire.hear()
        assert isinstance(answer, bytes), answer
        correlation_id, response = decode_response(answer, ApiKey.PRODUCE, 9)
        assert isinstance(response, ProduceResponse)
        [found] = response.responses[0].partition_responses
        heard.append((correlation_id, found.error_code, found.base_offset))
    sender.join()


def test_producers_that_mix_heavy_and_light_batches_keep_their_order(address: tuple[str, int], wire: LargeWire) -> None:
    """Every request of a producer is under way at once, and each heavy one is followed by one that needs no thread."""
    create(wire, "mixed")
    dice = random.Random(11)
    heard: dict[int, list[tuple[int, int, int]]] = {}
    wires, threads = [], []
    for producer in range(4):
        requests = []
        for sequence in range(60):
            size = dice.choice((10, 10, 3_000, 40_000, 300_000)) if sequence % 2 else 300_000
            start = dice.randrange(len(TEXT) - size)
            sent = batch(dice.choice(CODECS), TEXT[start : start + size], producer=9000 + producer, sequence=sequence)
            requests.append(produce("mixed", sent))
        own = LargeWire(*address)
        wires.append(own)
        heard[producer] = []
        threads.append(threading.Thread(target=_send_and_hear, args=(own, requests, heard[producer])))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own in wires:
        own.close()
    for answers in heard.values():
        assert [(number, code) for number, code, _ in answers] == [(number, 0) for number in range(60)]
        assert all(offset < following for (_, _, offset), (_, _, following) in pairwise(answers))
    stored = list(batches(read(wire, "mixed")[1]))
    for producer in heard:
        assert [found.base_sequence for found in stored if found.producer_id == 9000 + producer] == list(range(60))
