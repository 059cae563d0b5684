"""The way of a lone batch to its broker and back: a socket that no event loop listens to, and a batch on it."""

import contextlib
import os
import select
import socket
import time
from typing import Final

from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.express.lone_request import LoneRequest

_NEAR_S: Final = 0.0002
"""If the last answer came within this, the next is looked out for as long: sleeping and being woken takes a third of
such a round trip."""


class Road:
    """A socket to a broker that no event loop listens to."""

    __slots__ = ("_is_dropped", "_is_near", "_users", "asked", "connection", "last_id", "readable", "socket")

    def __init__(self, connection: NodeConnection, detached: socket.socket) -> None:
        self.connection: Final = connection
        self.socket: Final = detached
        self.readable: Final = select.poll()
        self.readable.register(detached, select.POLLIN)
        self.last_id = 1 << 30
        self.asked: Ride | None = None
        """Requests whose answers have not been read."""
        self._is_dropped = self._is_near = False
        self._users: Final[set[object]] = set()

    @property
    def is_open(self) -> bool:
        """Whether a request may be sent now."""
        connection = self.connection
        if self.asked is not None or not connection.is_open or connection.throttled_ms:
            return False
        return connection.renew_at > time.monotonic() + 1

    def send_rest(self, rest: bytes, timeout_ms: int) -> None:
        """Bytes that the system did not take at once."""
        self.socket.settimeout(timeout_ms / 1000)
        self.socket.sendall(rest)
        self.socket.setblocking(False)

    def await_answer(self, sent_at: float, timeout_ms: float) -> bool:
        """Waits until there is something to read, awake at first if that may be any moment; False if it is late."""
        poll = self.readable.poll
        if self._is_near:
            while time.monotonic() - sent_at < _NEAR_S:
                # Other threads may run meanwhile: the system is asked without the interpreter lock.
                if poll(0):
                    return True
                # With one core for both it is the broker's turn.
                os.sched_yield()
        is_there = bool(poll(timeout_ms))
        self._is_near = is_there and time.monotonic() - sent_at < _NEAR_S
        return is_there

    def enter(self, user: object) -> None:
        """Takes the socket for a use: by a thread that sends by itself, or by the loop that waits for its answer."""
        self._users.add(user)

    def leave(self, user: object) -> None:
        """Ends a use; the last one closes the socket if it was dropped meanwhile."""
        self._users.discard(user)
        if self._is_dropped and not self._users:
            self.socket.close()

    def drop(self) -> None:
        """Ends the connection; who waits on it hears that, and only then is its number free for others."""
        self._is_dropped = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        if not self._users:
            self.socket.close()


class Ride:
    """A batch on its way, and how far it has got."""

    __slots__ = ("batch", "correlation_id", "is_written", "received", "request", "road")

    def __init__(self, batch: ProducerBatch, road: Road, request: LoneRequest) -> None:
        self.batch: Final = batch
        self.road: Final = road
        self.request: Final = request
        road.last_id += 1
        self.correlation_id: Final = road.last_id
        self.is_written = False
        self.received = b""

    @property
    def is_whole(self) -> bool:
        """Whether all of the answer has come."""
        received = self.received
        return len(received) >= 4 and len(received) >= 4 + int.from_bytes(received[:4], "big")
