"""Answers that a socket does not take at once: file regions, slow readers, readers that are gone."""

import os
import socket
import struct
import weakref
from pathlib import Path

import pytest

from ottla.net.channel import Exchange
from ottla.net.limits import ListenerLimits
from ottla.net.piece import Piece
from tests.integration.net.served import (
    Echo,
    Handler,
    Served,
    framed,
    is_closed_by_server,
    receive_exactly,
    receive_frame,
)

SMALL_BUFFERS = ListenerLimits(send_buffer_bytes=4_096, receive_buffer_bytes=4_096)


class Region:
    """A stretch of a file, as storage hands it out: holds the file open as long as it lives."""

    def __init__(self, path: Path, position: int, length: int) -> None:
        self.position = position
        self._length = length
        self._file = path.open("rb")
        weakref.finalize(self, self._file.close)

    def fileno(self) -> int:
        return self._file.fileno()

    def __len__(self) -> int:
        return self._length


class Giving(Handler):
    """Answers with pieces that the test chose."""

    def __init__(self, *pieces: Piece) -> None:
        super().__init__()
        self.pieces = [sum(map(len, pieces)).to_bytes(4, "big"), *pieces]

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        exchange.answer(self.pieces)
        self.requests.put((bytes(frame), exchange))


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(os.urandom(5_000_000))
    return path


@pytest.mark.parametrize("limits", [ListenerLimits(), SMALL_BUFFERS], ids=["default", "small buffers"])
def test_file_regions_arrive_as_they_are_in_the_file(segment: Path, limits: ListenerLimits) -> None:
    data = segment.read_bytes()
    regions = [
        Region(segment, 1_000, 4_000_000),
        Region(segment, 0, 0),
        Region(segment, 17, 1),
        Region(segment, 9, 70_000),
    ]
    handler = Giving(b"header", regions[0], b"between", regions[1], regions[2], b"", regions[3], b"tail")
    expected = b"header" + data[1_000:4_001_000] + b"between" + data[17:18] + data[9:70_009] + b"tail"
    with Served(handler, limits) as served, served.connect(receive_buffer_bytes=4_096) as client:
        for _ in range(2):
            client.sendall(framed(b"fetch"))
            assert receive_frame(client) == expected


def test_several_readers_of_large_answers_are_served_side_by_side(segment: Path) -> None:
    handler = Giving(Region(segment, 0, 5_000_000))
    with Served(handler) as served:
        clients = [served.connect() for _ in range(5)]
        for client in clients:
            client.sendall(framed(b"fetch"))
        for client in reversed(clients):
            assert receive_frame(client) == segment.read_bytes()
            client.close()


def test_large_buffers_arrive_through_small_socket_buffers() -> None:
    data = os.urandom(3_000_000)
    handler = Giving(data[:1_000_000], memoryview(data)[1_000_000:1_000_001], bytearray(data[1_000_001:]))
    with Served(handler, SMALL_BUFFERS) as served, served.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(framed(b"fetch") * 2)
        assert [receive_frame(client), receive_frame(client)] == [data, data]


def test_a_client_that_does_not_read_is_not_read_from() -> None:
    handler = Giving(bytes(2_000_000))
    with Served(handler, SMALL_BUFFERS) as served, served.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(framed(b"fetch") * 3)
        handler.next_request()
        with served.connect() as other:  # the others don't notice
            other.sendall(framed(b"fetch"))
            assert len(receive_frame(other)) == 2_000_000
        handler.next_request()
        assert handler.requests.empty()
        for _ in range(3):
            assert receive_frame(client) == bytes(2_000_000)
        client.sendall(framed(b"fetch"))
        assert receive_frame(client) == bytes(2_000_000)


def test_small_unread_answers_hold_nobody_up_below_the_bound() -> None:
    with Served(Echo(), SMALL_BUFFERS) as served, served.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(framed(bytes(1_000)) * 100)
        assert [receive_frame(client) for _ in range(100)] == [bytes(1_000)] * 100


def test_a_reader_that_is_gone_lets_go_of_the_files(segment: Path) -> None:
    class FetchOnce(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            region = Region(segment, 0, 5_000_000)
            self.regions.append(weakref.ref(region))
            exchange.proceed()
            exchange.answer([(5_000_000).to_bytes(4, "big"), region])

        def __init__(self) -> None:
            super().__init__()
            self.regions: list[weakref.ref[Region]] = []

    handler = FetchOnce()
    with Served(handler, SMALL_BUFFERS) as served:
        client = served.connect(receive_buffer_bytes=4_096)
        client.sendall(framed(b"fetch"))
        receive_exactly(client, 10_000)
        assert handler.regions[0]() is not None
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        handler.next_disconnected()
        assert handler.regions[0]() is None


def test_answers_that_wait_behind_others_let_go_of_their_files_too(segment: Path) -> None:
    handler = Handler()
    with Served(handler) as served:
        client = served.connect()
        client.sendall(framed(b"1") + framed(b"2"))
        _, first = handler.next_request()
        served.call(first.proceed)
        _, second = handler.next_request()
        region: Region | None = Region(segment, 0, 10)
        seen = weakref.ref(region)
        pieces = [framed(bytes(10))[:4], region]
        served.call(lambda: second.answer(pieces))
        region = None
        pieces.clear()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        handler.next_disconnected()
        assert seen() is None


def test_a_file_that_ends_early_closes_the_connection(segment: Path, caplog: pytest.LogCaptureFixture) -> None:
    handler = Giving(Region(segment, 4_999_000, 2_000))
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"fetch"))
        assert len(receive_exactly(client, 2_004)) == 1_004
        assert is_closed_by_server(client)
    assert "ends 1000 bytes early" in caplog.text


def test_a_half_closed_slow_reader_gets_everything(segment: Path) -> None:
    handler = Giving(Region(segment, 0, 3_000_000))
    with Served(handler, SMALL_BUFFERS) as served, served.connect(receive_buffer_bytes=4_096) as client:
        client.sendall(framed(b"fetch"))
        client.shutdown(socket.SHUT_WR)
        assert receive_frame(client) == segment.read_bytes()[:3_000_000]
        assert receive_exactly(client, 1) == b""
        handler.next_disconnected()
