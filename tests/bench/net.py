"""Net: frames over loopback, the clients in a process of their own

The server's share is told by its CPU time, since client and server share the machine. Most of it is the kernel's: one
`send` over loopback runs the receiver's half of TCP, too.
"""

import asyncio
import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

from ottla.net.channel import Exchange
from ottla.net.connection import Connection
from ottla.net.limits import ListenerLimits
from ottla.net.listener import Listener
from ottla.net.piece import Piece
from ottla.net.poller import Poller
from tests.bench.measure import Figure

SMALL_BYTES = 100
LARGE_BYTES = 1_048_576
REGION_BYTES = 1_048_576


class Answering:
    """Answers every frame at once with what `respond` returns."""

    def __init__(self, respond: Callable[[memoryview], Sequence[Piece]]) -> None:
        self.respond = respond
        self.frames = 0

    def connected(self, connection: Connection) -> None:
        """Welcome."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        """Answers."""
        self.frames += 1
        exchange.answer(self.respond(frame))

    def disconnected(self, connection: Connection) -> None:
        """Goodbye."""


class Region:
    """A stretch of a file."""

    def __init__(self, file: int, length: int) -> None:
        self.position = 0
        self._file = file
        self._length = length

    def fileno(self) -> int:
        """The descriptor."""
        return self._file

    def __len__(self) -> int:
        return self._length


def figures(*, seconds: float) -> Iterator[Figure]:
    """Small requests by the number of connections and in flight; then large ones in, and file regions out."""
    small = [b"\0\0\0\x10" + bytes(16)]
    yield Figure(
        "small request, without system calls", "µs", asyncio.run(_own_share(small, seconds)) * 1e6, per="/request"
    )
    for connections, in_flight in ((1, 1), (50, 1), (50, 5)):
        rate, cpu_s = _measure(lambda _: small, f"small {connections} {in_flight}", seconds)
        name = f"small requests, connections {connections} × {in_flight}"
        yield Figure(name, "requests", rate)
        yield Figure(f"{name}: server CPU", "µs", cpu_s * 1e6, per="/request")
    rate, cpu_s = _measure(lambda _: small, "large 4 1", seconds)
    yield from _bytes_figures("1 MiB requests in", rate * LARGE_BYTES, cpu_s / LARGE_BYTES)
    with _region() as region:
        header = (REGION_BYTES + 4).to_bytes(4, "big") + bytes(4)
        rate, cpu_s = _measure(lambda _: [header, region], "fetch 4 1", seconds)
    yield from _bytes_figures("1 MiB file regions out", rate * REGION_BYTES, cpu_s / REGION_BYTES)


class FreeSocket(socket.socket):
    """Always has one small frame and takes every answer, without asking the system."""

    def recv_into(self, *_: object) -> int:
        """What is in the buffer already comes again."""
        return SMALL_BYTES + 4

    def send(self, data: bytes) -> int:  # type: ignore[override]
        """All of it."""
        return len(data)


async def _own_share(answer: Sequence[Piece], seconds: float) -> float:
    """Seconds from a readiness event to the end of its answer, apart from system calls: the best of short rounds."""
    poller = Poller(asyncio.get_running_loop())
    poller.view[: SMALL_BYTES + 4] = SMALL_BYTES.to_bytes(4, "big") + bytes(SMALL_BYTES)
    handler = Answering(lambda _: answer)
    listener = Listener("BENCH", "127.0.0.1", 0, handler, poller, ListenerLimits())
    sock = FreeSocket()
    sock.bind(("127.0.0.1", 0))
    connection = listener.admit(sock, ("127.0.0.1", 0))
    best, end = 1.0, time.perf_counter() + seconds
    while connection is not None and (start := time.perf_counter()) < end:
        for _ in range(50):
            connection.ready(select.EPOLLIN)
        best = min(best, (time.perf_counter() - start) / 50)
    listener.close()
    poller.close()
    return best


def _bytes_figures(name: str, rate: float, cpu_s: float) -> Iterator[Figure]:
    yield Figure(name, "bytes", rate)
    yield Figure(f"{name}: server CPU", "s", cpu_s * 1e9, per="/GB")


@contextlib.contextmanager
def _region() -> Iterator[Region]:
    with tempfile.TemporaryFile() as file:
        file.write(os.urandom(REGION_BYTES))
        file.flush()
        yield Region(file.fileno(), REGION_BYTES)


def _measure(respond: Callable[[memoryview], Sequence[Piece]], load: str, seconds: float) -> tuple[float, float]:
    """Frames per second, and seconds of the server's CPU for each."""
    handler = Answering(respond)
    return asyncio.run(_serve(handler, load, seconds))


async def _serve(handler: Answering, load: str, seconds: float) -> tuple[float, float]:
    poller = Poller(asyncio.get_running_loop())
    limits = ListenerLimits(receive_buffer_bytes=-1, send_buffer_bytes=-1)
    listener = Listener("BENCH", "127.0.0.1", 0, handler, poller, limits)
    listener.start()
    client = subprocess.Popen([sys.executable, "-m", "tests.bench.net", str(listener.address[1]), *load.split()])
    try:
        while not handler.frames:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        frames, start, cpu = handler.frames, time.perf_counter(), time.process_time()
        await asyncio.sleep(seconds)
        elapsed, cpu_s, done = time.perf_counter() - start, time.process_time() - cpu, handler.frames - frames
    finally:
        client.terminate()
        client.wait()
        listener.close()
        poller.close()
    return done / elapsed, cpu_s / max(done, 1)


def _load(port: int, kind: str, connections: int, in_flight: int) -> None:
    """The client: on each connection `in_flight` frames, then as many answers, for ever."""
    socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(connections)]
    size = LARGE_BYTES if kind == "large" else SMALL_BYTES
    frame = (size.to_bytes(4, "big") + bytes(size)) * in_flight
    expected = (REGION_BYTES + 8 if kind == "fetch" else 20) * in_flight
    buffer = bytearray(1_048_576)
    for sock in socks:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        for sock in socks:
            sock.sendall(frame)
        for sock in socks:
            left = expected
            while left:
                count = sock.recv_into(buffer, min(left, len(buffer)))
                if not count:
                    return
                left -= count


if __name__ == "__main__":
    with contextlib.suppress(ConnectionError):
        _load(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
