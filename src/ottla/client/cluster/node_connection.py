"""One connection of a client to one node, made for large requests and answers.

Adds to `ClientConnection` what clients need: Produce leaves in pieces, the records from where they lie; answers are
received into memory of their own and handed out as views; bytes and latencies are counted; a broker's wish to be left
alone for a while (KIP-219) and the end of a SASL session (KIP-368) are remembered. It does not connect: see
`connecting`.
"""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections import deque
from typing import Final, cast

from ottla.base.errors import OttlaError
from ottla.client.cluster.answer_reader import AnswerReader
from ottla.client.cluster.request_frame import encode_request_around
from ottla.client.metric.node_sensor import NodeSensor
from ottla.net.client_connection import ClientConnection, ClientOptions, Done
from ottla.net.errors import InvalidFrameError
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import NetworkError
from ottla.protocol.field import Records
from ottla.protocol.frame import encode_request

_PIECES_MAX: Final = 1024
"""The most pieces of one `writev`; more follow in further calls."""
_WAKE_BYTES: Final = 262_144
"""While a large answer comes the loop is woken for so much of it, not for every packet: on busy cores that was a fifth
of a consumer's CPU time, and a third of its broker's. Never more is waited for than is left of the answer."""
_HAS_LOW_WATER: Final = sys.platform == "linux"
_SETUP_BYTES_MAX: Final = 1 << 20
"""The first answer is small: what looks larger is no answer of a Kafka broker, but HTTP, a TLS alert or the like."""


class NodeConnection(ClientConnection):
    """A connection to a node; requests leave in the order of `send`, and are answered in that order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, node: str, options: ClientOptions, sensor: NodeSensor) -> None:
        super().__init__(loop, node, options)
        self.last_used = loop.time()
        """The loop's time of the last request."""
        self.lost_because: Exception | None = None
        """The reason why the connection ended, in the system's words."""
        self._sensor = sensor
        self._frames = AnswerReader(_SETUP_BYTES_MAX)
        self._sent_at: Final[deque[float]] = deque()
        self._chosen: Final[dict[ApiKey, int]] = {}
        self._throttled_until = 0.0
        self._descriptor = -1
        self._wake_bytes = 1
        self._is_retired = self._is_detached = False

    async def negotiate(self) -> None:
        """Asks for the versions that the node speaks: the first exchange on a connection."""
        await self._negotiate()
        self._frames = AnswerReader(self._options.response_bytes_max)

    def version_of(self, api: ApiKey) -> int:
        """The highest version that both sides speak; `UnsupportedVersionError` if there is none."""
        version = self._chosen.get(api)
        if version is None:
            version = self._chosen[api] = super().version_of(api)
        return version

    def serves(self, api: ApiKey) -> bool:
        """Whether the node knows the call at all."""
        return api in self.versions

    def throttle(self, throttle_time_ms: int) -> None:
        """The node asked for a pause, in the `throttle_time_ms` of an answer."""
        if throttle_time_ms > 0:
            self._throttled_until = max(self._throttled_until, self._loop.time() + throttle_time_ms / 1000)

    @property
    def renew_at(self) -> float:
        """The loop's time from which on the SASL session has to be renewed: infinite if it does not end."""
        return float("inf") if self._session is None else self._session.renew_at

    @property
    def has_to_retire(self) -> bool:
        """Whether a new connection should take over: a session ends, and threads have the socket."""
        return self._is_detached and self.renew_at <= self._loop.time()

    @property
    def throttled_ms(self) -> float:
        """The rest of the time for which the node has throttled this client; 0 if it has not."""
        return max(0.0, (self._throttled_until - self._loop.time()) * 1000) if self._throttled_until else 0.0

    def ask(self, request: Request, *, timeout_ms: int, version: int | None = None) -> "asyncio.Future[Response]":
        """Sends a request; the answer, or what went wrong, as a future."""
        answer: asyncio.Future[Response] = self._loop.create_future()

        def done(result: Response | OttlaError) -> None:
            if answer.done():
                return
            if isinstance(result, OttlaError):
                answer.set_exception(result)
            else:
                answer.set_result(result)

        self.send(request, done, timeout_ms=timeout_ms, version=version)
        return answer

    def send(self, request: Request, done: Done, *, timeout_ms: int, version: int | None = None) -> None:
        """Sends a request, in the highest common version unless told otherwise; `done` hears the answer.

        Answers hold views into memory that belongs to them. `done` is never called inside of this call.
        """
        super().send(request, done, timeout_ms=timeout_ms, version=version)

    def count_for(self, sensor: NodeSensor) -> None:
        """Counts elsewhere from now on: a bootstrap connection turned out to be some broker's."""
        if sensor is not self._sensor:
            self._sensor.open_count -= 1
            sensor.open_count += 1
            self._sensor = sensor

    def detach(self) -> socket.socket | None:
        """A socket for threads to use by themselves; the loop reads no more. None with TLS, which lives in the loop."""
        if self._descriptor < 0 or self._transport is None:
            return None
        self._transport.pause_reading()
        self._is_detached = True
        detached = socket.socket(fileno=os.dup(self._descriptor))
        detached.setblocking(False)
        return detached

    def count_request(self, size: int) -> None:
        """A request was sent on the detached socket."""
        self.last_used = time.monotonic()
        self._sensor.requests.record(size)

    def count_answer(self, size: int, sent_at: float) -> None:
        """Its answer has come."""
        self._sensor.latencies_ms.record((time.monotonic() - sent_at) * 1000)
        self._sensor.answers.record(size)

    @property
    def client_id(self) -> str | None:
        """The `client.id` of requests."""
        return self._options.client_id

    def close_when_answered(self) -> None:
        """Ends the connection as soon as nothing is in flight; nothing more may be sent."""
        self._is_retired = True
        if not self.in_flight_count:
            self.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio calls: the socket is connected, TLS is agreed on."""
        # Not the base's, which insists on asyncio's own class: uvloop's transports are none, but do the same.
        self._transport = cast(asyncio.Transport, transport)
        if transport.get_extra_info("ssl_object") is None:
            self._descriptor = transport.get_extra_info("socket").fileno()
        self._sensor.connected()

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio calls: it is over."""
        self._descriptor = -1
        self.lost_because = exc
        self._sensor.disconnected()
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Asyncio calls: where to receive."""
        return self._frames.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Asyncio calls: something was received."""
        try:
            frames = self._frames.received(nbytes)
        except InvalidFrameError as error:
            self._fail(error)
            return
        wake_bytes = min(self._frames.missing, _WAKE_BYTES) or 1
        if wake_bytes != self._wake_bytes:
            self._wake_for(wake_bytes)
        for frame in frames:
            self._receive(frame)

    def _wake_for(self, wake_bytes: int) -> None:
        """The loop is woken when so many bytes are there. Not with TLS, which reads more than it hands out."""
        if not _HAS_LOW_WATER or self._descriptor < 0:
            return
        self._wake_bytes = wake_bytes
        link = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, self._descriptor)
        try:
            with contextlib.suppress(OSError):
                link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wake_bytes)
        finally:
            # The transport's again.
            link.detach()

    def _receive(self, frame: memoryview) -> None:
        if self._sent_at:
            self._sensor.latencies_ms.record((time.monotonic() - self._sent_at.popleft()) * 1000)
        self._sensor.answers.record(frame.nbytes)
        super()._receive(frame)
        if self._is_retired and not self.in_flight_count:
            self.close()

    def _write(self, request: Request, version: int | None) -> int:
        transport = self._transport
        if transport is None or transport.is_closing():
            raise self._error or NetworkError(f"{self.node} disconnected")
        chosen = self.version_of(request.api) if version is None else version
        client_id = self._options.client_id
        if request.api is ApiKey.PRODUCE:
            pieces = encode_request_around(request, chosen, correlation_id=self._next_id, client_id=client_id)
            size = self._write_pieces(transport, pieces)
        else:
            frame = encode_request(request, chosen, correlation_id=self._next_id, client_id=client_id)
            size = len(frame)
            transport.write(frame)
        self.last_used = self._loop.time()
        self._sent_at.append(time.monotonic())  # uvloop's own time is coarse
        self._sensor.requests.record(size)
        return chosen

    def _send_unanswered_now(self, request: Request, version: int | None) -> None:
        super()._send_unanswered_now(request, version)
        self._sent_at.pop()

    def _write_pieces(self, transport: asyncio.Transport, pieces: list[Records]) -> int:
        """Straight to the socket while asyncio holds nothing back: its own buffer would be a copy."""
        views = [memoryview(piece) for piece in pieces]  # type: ignore[arg-type]
        size = sum(view.nbytes for view in views)
        written = 0
        if self._descriptor >= 0 and not transport.get_write_buffer_size():
            try:
                written = os.writev(self._descriptor, views[:_PIECES_MAX])
            except BlockingIOError:
                written = 0
            except OSError as error:
                self._fail(NetworkError(f"{self.node} disconnected: {error.strerror}"))
                return size
        if written < size:
            for view in views:
                if written < view.nbytes:
                    transport.write(view[written:])
                written = max(0, written - view.nbytes)
        return size
