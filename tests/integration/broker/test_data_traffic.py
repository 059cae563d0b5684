"""Producers and consumers on real sockets of a real node: order, size, waiting, and neighbours that misbehave."""

import os
import socket
from collections.abc import Iterator

import pytest

from ottla.protocol.api_key import ApiKey
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.messages.fetch import FetchResponse
from ottla.protocol.messages.produce import ProduceResponse
from ottla.protocol.records.batch import batches
from tests.clients.patience import until
from tests.clients.server import OTTLA, start_server
from tests.integration.broker.data.fetch_script import at, fetch, wanted
from tests.integration.broker.data.produce_script import batch, produce
from tests.integration.broker.data.wire import Wire

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    server = start_server(OTTLA, tmp_path_factory.mktemp("node"))
    try:
        host, _, port = server.bootstrap.rpartition(":")
        yield host, int(port)
    finally:
        server.stop()


@pytest.fixture
def wire(address: tuple[str, int]) -> Iterator[Wire]:
    made = Wire(*address)
    yield made
    made.close()


def create(wire: Wire, topic: str) -> None:
    """A topic that can be read and written."""
    wanted_topic = CreatableTopic(name=topic, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(topics=[wanted_topic], timeout_ms=30_000)
    assert wire.expect(request, 7, CreateTopicsResponse).topics[0].error_code == 0
    until(0, lambda: read(wire, topic, 0, 0)[0])


def read(wire: Wire, topic: str, offset: int, size: int = 1 << 26) -> tuple[int, bytes]:
    """Code and records."""
    request = fetch(wanted(topic, at(offset, partition_max_bytes=size)), max_bytes=size)
    [found] = wire.expect(request, 12, FetchResponse).responses[0].partitions
    return found.error_code, bytes(found.records or b"")  # type: ignore[arg-type]


def produced(wire: Wire) -> tuple[int, int]:
    """Correlation id and offset of the next answer."""
    heard = wire.hear()
    assert isinstance(heard, bytes), heard
    correlation_id, response = decode_response(heard, ApiKey.PRODUCE, 9)
    assert isinstance(response, ProduceResponse)
    [answer] = response.responses[0].partition_responses
    assert answer.error_code == 0
    return correlation_id, answer.base_offset


def test_requests_in_flight_are_answered_in_their_order(wire: Wire) -> None:
    create(wire, "in-flight")
    requests = [produce("in-flight", batch(1 + number % 3), acks=(1, -1)[number % 2]) for number in range(200)]
    wire.send_raw(
        b"".join(
            encode_request(request, 9, correlation_id=number, client_id="c") for number, request in enumerate(requests)
        )
    )
    answers = [produced(wire) for _ in requests]
    assert [correlation_id for correlation_id, _ in answers] == list(range(200))
    sizes = [1 + number % 3 for number in range(200)]
    assert [offset for _, offset in answers] == [sum(sizes[:number]) for number in range(200)]


def test_unacknowledged_and_acknowledged_requests_mix(wire: Wire) -> None:
    create(wire, "mixed")
    frames = [
        encode_request(produce("mixed", batch(), acks=number % 2), 9, correlation_id=number, client_id="c")
        for number in range(100)
    ]
    wire.send_raw(b"".join(frames))
    assert [produced(wire) for _ in range(50)] == [(number, number) for number in range(1, 100, 2)]


def test_megabytes_go_in_and_out_whole(wire: Wire) -> None:
    create(wire, "large")
    for number in range(20):
        # Noise, so that bytes in the wrong place would be seen.
        records = batch(value=os.urandom(MEGABYTE))
        response = wire.expect(produce("large", records), 9, ProduceResponse)
        assert response.responses[0].partition_responses[0].base_offset == number
    code, found = read(wire, "large", 0)
    assert code == 0
    whole = list(batches(found))
    assert [one.base_offset for one in whole] == list(range(20))
    assert all(one.crc_matches() for one in whole)


def test_a_frame_that_comes_in_drips_is_one_request(wire: Wire) -> None:
    create(wire, "drips")
    frame = encode_request(produce("drips", batch(5)), 9, correlation_id=3, client_id="c")
    for start in range(0, len(frame), 7):
        wire.send_raw(frame[start : start + 7])
    assert produced(wire) == (3, 0)


def test_a_reader_that_waits_is_woken_by_a_writer(wire: Wire, address: tuple[str, int]) -> None:
    create(wire, "woken")
    reader = Wire(*address)
    waiting = fetch(wanted("woken", at(0)), max_wait_ms=3_600_000)
    reader.send_raw(encode_request(waiting, 12, correlation_id=5, client_id="c"))
    wire.expect(produce("woken", batch(3)), 9, ProduceResponse)
    heard = reader.hear()
    assert isinstance(heard, bytes)
    correlation_id, response = decode_response(heard, ApiKey.FETCH, 12)
    assert correlation_id == 5
    assert isinstance(response, FetchResponse)
    assert response.responses[0].partitions[0].high_watermark == 3
    reader.close()


def test_a_reader_that_leaves_while_it_waits_harms_nobody(wire: Wire, address: tuple[str, int]) -> None:
    create(wire, "left")
    for _ in range(20):
        reader = Wire(*address)
        waiting = fetch(wanted("left", at(0)), max_wait_ms=3_600_000)
        reader.send_raw(encode_request(waiting, 12, correlation_id=5, client_id="c"))
        reader.close()
    for expected in range(3):
        response = wire.expect(produce("left", batch()), 9, ProduceResponse)
        assert response.responses[0].partition_responses[0].base_offset == expected


def test_noise_on_other_connections_is_not_heard(wire: Wire, address: tuple[str, int]) -> None:
    create(wire, "quiet")
    for number in range(200):
        with socket.create_connection(address, timeout=10) as noisy:
            body = os.urandom(1 + number)
            noisy.sendall(len(body).to_bytes(4, "big") + body)
        response = wire.expect(produce("quiet", batch()), 9, ProduceResponse)
        assert response.responses[0].partition_responses[0].base_offset == number
