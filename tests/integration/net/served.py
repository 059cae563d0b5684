"""A listener on a loop in a thread of its own, so that tests can be clients with plain blocking sockets."""

import asyncio
import queue
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from ottla.net.channel import Exchange
from ottla.net.connection import Connection
from ottla.net.handler import FrameHandler
from ottla.net.limits import KAFKA_DEFAULTS, ListenerLimits, ServerLimits
from ottla.net.listener import Listener
from ottla.net.poller import Poller

PATIENCE_S = 60.0
"""How long a test waits for what must come."""
DEFAULT_LIMITS = ListenerLimits()

Result = TypeVar("Result")


class LoopThread:
    """An event loop that runs beside the test."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.failures: list[str] = []
        """What the loop was told about exceptions that nobody caught."""
        self.loop.set_exception_handler(lambda _, context: self.failures.append(repr(context)))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, function: Callable[[], Result]) -> Result:
        """Runs a function on the loop and returns what it returns."""

        async def run() -> Result:
            return function()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(PATIENCE_S)

    def close(self) -> None:
        """Ends the loop; nothing may have gone wrong on it unnoticed."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
        assert not self.failures, self.failures


class Served:
    """A running listener. Frames are answered by `handler`; further listeners may share its poller."""

    def __init__(
        self,
        handler: FrameHandler,
        limits: ListenerLimits = DEFAULT_LIMITS,
        server_limits: ServerLimits = KAFKA_DEFAULTS,
    ) -> None:
        self.thread = LoopThread()
        self.poller = self.thread.call(lambda: Poller(self.thread.loop, server_limits))
        self.listeners: list[Listener] = []
        self.listener = self.listen(handler, limits)

    def listen(self, handler: FrameHandler, limits: ListenerLimits) -> Listener:
        """Starts another listener."""
        listener = Listener(f"TEST{len(self.listeners)}", "127.0.0.1", 0, handler, self.poller, limits)
        self.thread.call(listener.start)
        self.listeners.append(listener)
        return listener

    def call(self, function: Callable[[], Result]) -> Result:
        """Runs a function on the server's loop."""
        return self.thread.call(function)

    def connect(self, listener: Listener | None = None, *, receive_buffer_bytes: int = 0) -> socket.socket:
        """A client. Every wait of its ends after a while, so that a lost answer fails the test."""
        sock = socket.socket()
        if receive_buffer_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        sock.settimeout(PATIENCE_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect((listener or self.listener).address)
        return sock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            for listener in self.listeners:
                self.thread.call(listener.close)
            self.thread.call(self.poller.close)
        finally:
            self.thread.close()


class Handler:
    """Writes down what it hears, and leaves the frames unanswered; tests answer, or override `received`."""

    def __init__(self) -> None:
        self.connections: queue.Queue[Connection] = queue.Queue()
        self.disconnected_connections: queue.Queue[Connection] = queue.Queue()
        self.requests: queue.Queue[tuple[bytes, Exchange]] = queue.Queue()

    def connected(self, connection: Connection) -> None:
        self.connections.put(connection)

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        self.requests.put((bytes(frame), exchange))

    def disconnected(self, connection: Connection) -> None:
        self.disconnected_connections.put(connection)

    def next_request(self) -> tuple[bytes, Exchange]:
        """The next frame that came, whenever it comes."""
        return self.requests.get(timeout=PATIENCE_S)

    def next_connection(self) -> Connection:
        """The next client."""
        return self.connections.get(timeout=PATIENCE_S)

    def next_disconnected(self) -> Connection:
        """The next client that is gone."""
        return self.disconnected_connections.get(timeout=PATIENCE_S)


class Echo(Handler):
    """Answers each frame with itself, at once."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        exchange.answer([framed(frame)])


class Proceeding(Handler):
    """Lets every request pass, so that all of a connection's frames are there at once."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        exchange.proceed()
        super().received(frame, exchange)


def framed(content: bytes | memoryview) -> bytes:
    """A frame with its size."""
    return len(content).to_bytes(4, "big") + content


def receive_exactly(sock: socket.socket, count: int) -> bytes:
    """`count` bytes; fewer only if the other side closed."""
    parts = []
    while count:
        part = sock.recv(min(count, 1_048_576))
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive_frame(sock: socket.socket) -> bytes:
    """The content of the next frame."""
    return receive_exactly(sock, int.from_bytes(receive_exactly(sock, 4), "big"))


def is_closed_by_server(sock: socket.socket) -> bool:
    """Waits until the server closes; whatever comes before is dropped."""
    try:
        while sock.recv(65_536):
            pass
    except ConnectionResetError:
        return True
    return True
