"""Requests to one node, over a connection that is made when it is needed and made again when it is lost.

What was in flight on a connection fails with it; what waits for a connection fails with the attempt to make one. After
a failure the next attempt waits, twice as long each time and never quite as long, so that nodes that lost the same
peer don't come back all at once. A request is never repeated: only its sender knows whether it may be.
"""

import asyncio
from typing import Final, NamedTuple

from ottla.base.dice import DICE
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.net.client_connection import ClientConnection, ClientOptions, Done, FindContext
from ottla.net.deadline_timer import DeadlineTimer
from ottla.net.sasl.client_login import BeginLogin
from ottla.protocol.definition import Request
from ottla.protocol.errors import NetworkError, RequestTimedOutError

_JITTER: Final = 0.2


@frozen
class NodeClientOptions:
    """The options of requests to a node; the defaults are those of Kafka's clients."""

    setup_timeout_ms: int = 10_000
    """`socket.connection.setup.timeout.ms`."""
    reconnect_backoff_ms: int = 50
    """`reconnect.backoff.ms`: the wait after a first failure."""
    reconnect_backoff_max_ms: int = 1_000
    """`reconnect.backoff.max.ms`: the longest wait after many."""
    response_bytes_max: int = 2**31 - 1
    """A larger answer ends the connection."""
    tls: FindContext = ClientOptions().tls
    login: BeginLogin | None = None


KAFKA_DEFAULTS: Final = NodeClientOptions()


class _Waiting(NamedTuple):
    request: Request
    done: Done
    deadline: float
    version: int | None


class NodeClient:
    """Requests to one node, pipelined over one connection."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        host: str,
        port: int,
        client_id: str,
        options: NodeClientOptions = KAFKA_DEFAULTS,
    ) -> None:
        self.host: Final = host
        self.port: Final = port
        self._loop: Final = loop
        self._options: Final = options
        self._client_options: Final = ClientOptions(
            client_id=client_id,
            setup_timeout_ms=options.setup_timeout_ms,
            response_bytes_max=options.response_bytes_max,
            tls=options.tls,
            login=options.login,
        )
        self._connection: ClientConnection | None = None
        self._waiting: list[_Waiting] = []
        self._timer: Final = DeadlineTimer(loop, self._expire)
        self._opening: asyncio.Task[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._failures = 0
        self._not_before = 0.0
        self._is_closed = False

    @property
    def connection(self) -> ClientConnection | None:
        """The connection, while there is one."""
        return self._connection

    def send(self, request: Request, done: Done, *, timeout_ms: int, version: int | None = None) -> None:
        """Sends as soon as there is a connection; `done` hears the decoded response or what went wrong, once, later.

        Errors: `NetworkError` (no connection, or lost), `RequestTimedOutError`, `UnsupportedVersionError` (no common
        version, or the common one cannot carry the request), `DecodeError`. Records in a response are views into a
        buffer that belongs to it.
        """
        connection = self._connection
        if connection is not None:
            connection.send(request, done, timeout_ms=timeout_ms, version=version)
        elif self._is_closed:
            self._loop.call_soon(done, NetworkError(f"the connection to {self.host}:{self.port} is closed"))
        else:
            deadline = self._loop.time() + timeout_ms / 1000
            self._waiting.append(_Waiting(request, done, deadline, version))
            self._timer.arm(deadline)
            self._connect()

    def close(self) -> None:
        """Disconnects, for good; everything in flight and everything that waits fails with `NetworkError`, soon."""
        self._is_closed = True
        self._timer.close()
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
        if self._retry is not None:
            self._retry.cancel()
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._fail_waiting(NetworkError(f"the connection to {self.host}:{self.port} is closed"))

    def _connect(self) -> None:
        if self._opening is not None or self._retry is not None:
            return
        if self._loop.time() < self._not_before:
            self._retry = self._loop.call_at(self._not_before, self._connect_again)
        else:
            self._opening = self._loop.create_task(self._open())

    def _connect_again(self) -> None:
        self._retry = None
        if self._waiting:
            self._opening = self._loop.create_task(self._open())

    async def _open(self) -> None:
        try:
            connection = await ClientConnection.open(self.host, self.port, self._client_options)
        except OttlaError as error:
            self._opening = None
            self._back_off()
            self._fail_waiting(error)
            return
        self._opening = None
        self._failures = 0
        self._connection = connection
        connection.on_lost = self._lost
        waiting, self._waiting = self._waiting, []
        now = self._loop.time()
        for held in waiting:
            timeout_ms = round((held.deadline - now) * 1000)
            connection.send(held.request, held.done, timeout_ms=timeout_ms, version=held.version)

    def _lost(self, _error: OttlaError) -> None:
        self._connection = None
        self._back_off()

    def _fail_waiting(self, error: OttlaError) -> None:
        waiting, self._waiting = self._waiting, []
        for held in waiting:
            self._loop.call_soon(held.done, error)

    def _back_off(self) -> None:
        options = self._options
        wait_ms = min(options.reconnect_backoff_ms * 2**self._failures, options.reconnect_backoff_max_ms)
        self._failures = min(self._failures + 1, 30)
        self._not_before = self._loop.time() + wait_ms * DICE.uniform(1 - _JITTER, 1 + _JITTER) / 1000

    def _expire(self, now: float) -> float | None:
        error = RequestTimedOutError(f"no connection to {self.host}:{self.port} in time")
        for held in self._waiting:
            if held.deadline <= now:
                self._loop.call_soon(held.done, error)
        self._waiting = [held for held in self._waiting if held.deadline > now]
        return min((held.deadline for held in self._waiting), default=None)
