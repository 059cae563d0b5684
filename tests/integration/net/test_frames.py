"""Frames as they come: whole, in bytes, by the thousand, huge, and not at all."""

import logging
import threading

import pytest

from ottla.base.errors import OttlaError
from ottla.net.channel import Exchange
from ottla.net.limits import ListenerLimits
from ottla.protocol.errors import DecodeError, InvalidRequestError, UnsupportedVersionError
from tests.integration.net.served import (
    Echo,
    Handler,
    Served,
    framed,
    is_closed_by_server,
    receive_exactly,
    receive_frame,
)

SIZES = (
    1,
    3,
    4,
    5,
    100,
    4_095,
    32_763,
    32_764,
    32_768,
    65_536,
    262_139,
    262_140,
    262_141,
    300_000,
    1_048_576,
    3_000_000,
)


def content(size: int) -> bytes:
    """Bytes that tell where they belong."""
    return (b"".join(number.to_bytes(4, "big") for number in range(min(size, 65_536) // 4 + 1)) * (size // 65_536 + 1))[
        :size
    ]


def test_a_frame_that_comes_byte_by_byte_is_handled_whole() -> None:
    with Served(Echo()) as served, served.connect() as client:
        for byte in framed(b"slow as can be"):
            client.sendall(bytes([byte]))
        assert receive_frame(client) == b"slow as can be"


def test_many_frames_in_one_packet_are_all_answered_in_order() -> None:
    contents = [b"frame %d" % number for number in range(5_000)]
    with Served(Echo()) as served, served.connect() as client:
        writer = threading.Thread(target=client.sendall, args=(b"".join(map(framed, contents)),))
        writer.start()
        assert [receive_frame(client) for _ in contents] == contents
        writer.join()


@pytest.mark.parametrize("size", SIZES)
def test_frames_of_every_size_arrive_as_they_were_sent(size: int) -> None:
    with Served(Echo()) as served, served.connect() as client:
        for _ in range(2):
            client.sendall(framed(content(size)))
            assert receive_frame(client) == content(size)


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 100, 32_768, 262_144])
def test_large_and_small_frames_in_one_stream_cut_anywhere(cut: int) -> None:
    contents = [content(size) for size in (10, 400_000, 20, 30, 300_000, 300_000, 32_764, 5)]
    stream = b"".join(map(framed, contents))
    with Served(Echo()) as served, served.connect() as client:
        reader_found: list[bytes] = []
        reader = threading.Thread(target=lambda: reader_found.extend(receive_frame(client) for _ in contents))
        reader.start()
        step = max(cut, 100)
        client.sendall(stream[:cut])
        for start in range(cut, len(stream), step):
            client.sendall(stream[start : start + step])
        reader.join()
        assert reader_found == contents


def test_a_frame_of_50_megabytes() -> None:
    huge = content(50_000_000)
    with Served(Echo()) as served, served.connect() as client:
        client.sendall(framed(huge))
        assert receive_frame(client) == huge


def test_a_frame_in_a_buffer_of_its_own_can_be_patched_and_never_changes_under_a_holder() -> None:
    class Keeping(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            frame[0] = 255
            self.kept.append(frame)
            exchange.answer([framed(b"kept")])

        def __init__(self) -> None:
            super().__init__()
            self.kept: list[memoryview] = []

    handler = Keeping()
    with Served(handler) as served, served.connect() as client:
        for number in range(1, 4):
            client.sendall(framed(bytes([number]) * 500_000))
            assert receive_frame(client) == b"kept"
    assert [bytes(kept) for kept in handler.kept] == [b"\xff" + bytes([number]) * 499_999 for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"\0\0\0\0", "a frame of 0 bytes"),
        (b"\xff\xff\xff\xff", "a frame of -1 bytes"),
        (b"\x80\0\0\0", "a frame of -2147483648 bytes"),
        ((10_001).to_bytes(4, "big"), "a frame of 10001 bytes, where 1 to 10000 are allowed"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "this looks like HTTP"),
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "this looks like TLS"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "a frame of 1397966893 bytes"),
    ],
)
def test_what_is_no_frame_closes_its_connection_alone(
    start: bytes, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ottla.net")
    with Served(Echo(), ListenerLimits(request_bytes_max=10_000)) as served:
        with served.connect() as hostile, served.connect() as other:
            other.sendall(framed(b"before"))
            assert receive_frame(other) == b"before"
            peer = f"{hostile.getsockname()[0]}:{hostile.getsockname()[1]}"
            hostile.sendall(start)
            assert is_closed_by_server(hostile)
            other.sendall(framed(b"after"))
            assert receive_frame(other) == b"after"
        assert served.call(lambda: served.poller.memory.used_bytes) == 0
    lines = [record for record in caplog.records if peer in record.getMessage()]
    assert [record.levelname for record in lines] == ["WARNING"]
    assert said in lines[0].getMessage()


def test_frames_before_the_one_that_is_none_are_answered() -> None:
    with Served(Echo()) as served, served.connect() as client:
        client.sendall(framed(b"good") + b"\0\0\0\0")
        assert receive_exactly(client, 100) == framed(b"good")


@pytest.mark.parametrize(
    "error",
    [
        DecodeError("cut short", path="ProduceRequest.acks", position=17),
        InvalidRequestError("unknown API key 99"),
        UnsupportedVersionError(),
        OttlaError("anything"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("size", [10, 500_000])
def test_a_request_that_is_refused_closes_its_connection_with_a_warning(
    error: OttlaError, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Refusing(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            raise error

    handler = Refusing()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(content(size)))
        assert is_closed_by_server(client)
        handler.next_disconnected()
    (line,) = [record for record in caplog.records if record.name.startswith("ottla.net")]
    assert line.levelname == "WARNING"
    assert str(error) in line.getMessage()
    assert line.exc_info is None


@pytest.mark.parametrize("size", [10, 500_000])
def test_a_bug_in_the_handler_costs_one_connection_and_shows_its_traceback(
    size: int, caplog: pytest.LogCaptureFixture
) -> None:
    class Buggy(Echo):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            if frame[0] == ord("!"):
                raise KeyError("not there")
            super().received(frame, exchange)

    handler = Buggy()
    with Served(handler) as served, served.connect() as client, served.connect() as other:
        client.sendall(framed(b"!" * size))
        assert is_closed_by_server(client)
        handler.next_disconnected()
        other.sendall(framed(b"still here"))
        assert receive_frame(other) == b"still here"
    (line,) = [record for record in caplog.records if record.name.startswith("ottla.net")]
    assert line.levelname == "ERROR"
    assert line.exc_info is not None
    assert isinstance(line.exc_info[1], KeyError)


def test_a_claimed_size_alone_commits_no_memory() -> None:
    def resident_bytes() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    with Served(Echo()) as served:
        clients = [served.connect() for _ in range(20)]
        before = resident_bytes()
        for client in clients:
            client.sendall((100_000_000).to_bytes(4, "big") + b"only a few bytes")
        with served.connect() as other:
            other.sendall(framed(b"others are served"))
            assert receive_frame(other) == b"others are served"
        claimed = served.call(lambda: served.poller.memory.used_bytes)
        assert resident_bytes() - before < 50_000_000
        for client in clients:
            client.close()
    assert claimed > 100_000_000


def test_large_frames_use_the_same_memory_again() -> None:
    with Served(Echo()) as served, served.connect() as first, served.connect() as second:
        for client in (first, second) * 5:
            client.sendall(framed(content(1_000_000)))
            assert receive_frame(client) == content(1_000_000)
        assert served.call(lambda: served.poller.buffers.kept_bytes) == 1_048_576
