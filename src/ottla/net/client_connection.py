"""The client's end of one connection to a node: requests out, answers in, told apart by correlation id.

Owns one socket from its connect to its end, with the versions both sides speak. It does not connect again: that is for
those who build on it (`NodeClient`). A request that is not answered in time ends the connection, as in Kafka's
clients: a node that owes an answer owes all later ones, too.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from ssl import SSLContext
from typing import Final, NamedTuple, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.net.client_session import ClientSession, SessionEvents
from ottla.net.deadline_timer import DeadlineTimer
from ottla.net.errors import InvalidFrameError, LoginFailedError, LoginRefusedError
from ottla.net.frame_reader import FrameReader
from ottla.net.sasl.client_login import BeginLogin
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, NetworkError, RequestTimedOutError, UnsupportedVersionError, error_for
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.versions import VersionRange

_log = logging.getLogger(__name__)

FindContext: TypeAlias = Callable[[], SSLContext | None]
Done: TypeAlias = Callable[[Response | OttlaError], None]
"""Hears the decoded response, or what went wrong; exactly once, and never inside of the call that sent the request."""

_CORRELATION_IDS: Final = 2**31
_UNSUPPORTED: Final = int(ErrorCode.UNSUPPORTED_VERSION).to_bytes(2, "big")
_VERSIONS_ATTEMPTS_MAX: Final = 3


def _plain_text() -> SSLContext | None:
    return None


@frozen
class ClientOptions:
    """The client's identity and time-outs."""

    client_id: str | None = None
    software_name: str = "ottla"
    software_version: str = "0"
    setup_timeout_ms: int = 10_000
    """`socket.connection.setup.timeout.ms`: for the connection and the versions."""
    response_bytes_max: int = 2**31 - 1
    tls: FindContext = _plain_text
    """Finds the TLS context of the moment; None for plain text."""
    login: BeginLogin | None = None
    """Begins the log-in of a connection; None without SASL."""


class _Sent(NamedTuple):
    api: ApiKey
    version: int
    done: Done
    deadline: float


class _Held(NamedTuple):
    """A request that waits for the renewal of a log-in; without `done` its answer is dropped."""

    request: Request
    version: int | None
    done: Done | None
    deadline: float


class ClientConnection(asyncio.BufferedProtocol):
    """A connection that has been made, and knows what the node speaks. `open` makes one."""

    def __init__(self, loop: asyncio.AbstractEventLoop, node: str, options: ClientOptions) -> None:
        self.node: Final = node
        """The other end, for messages."""
        self.host = ""
        """The name or address that was dialled: whom Kerberos' ticket is for."""
        self.versions: dict[int, VersionRange] = {}
        """The node's versions, by API key."""
        self.api_versions: ApiVersionsResponse | None = None
        """All that the node said about itself."""
        self.is_known = True
        """Whether the node knows who we are, where it wants to."""
        self.on_lost: Callable[[OttlaError], None] | None = None
        """Called once when the connection is gone, before those who wait for answers are."""
        self._loop: Final = loop
        self._options: Final = options
        self._reader: Final = FrameReader(options.response_bytes_max)
        self._timer: Final = DeadlineTimer(loop, self._expire)
        self._sent: Final[dict[int, _Sent]] = {}
        self._session: ClientSession | None = None
        self._held: list[_Held] = []
        self._next_id = 0
        self._transport: asyncio.Transport | None = None
        self._error: OttlaError | None = None

    @classmethod
    async def open(cls, host: str, port: int, options: ClientOptions) -> "ClientConnection":
        """Connects and asks for the node's versions. Raises `NetworkError`, or what the node refuses with."""
        loop = asyncio.get_running_loop()
        node, tls = f"{host}:{port}", options.tls()
        connection = cls(loop, node, options)
        connection.host = host
        try:
            async with asyncio.timeout(options.setup_timeout_ms / 1000):
                await loop.create_connection(
                    lambda: connection, host, port, ssl=tls, server_hostname=host if tls else None
                )
                await connection._negotiate()
                if options.login is not None:
                    connection.is_known = False
                    await connection._log_in(options.login)
                    connection.is_known = True
        except TimeoutError:
            raise NetworkError(f"{node}: no connection within {options.setup_timeout_ms} ms") from None
        except (OSError, UnicodeError) as error:  # a name that is no name is a UnicodeError
            raise NetworkError(f"{node}: {getattr(error, 'strerror', None) or error}") from error
        finally:
            if connection.api_versions is None or not connection.is_known:
                connection.close()
        if not connection.is_open:
            raise NetworkError(f"{node} disconnected")
        return connection

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def in_flight_count(self) -> int:
        """The number of requests without an answer."""
        return len(self._sent) + len(self._held)

    @property
    def unsent_bytes(self) -> int:
        """Bytes that the node has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def version_of(self, api: ApiKey) -> int:
        """The highest version that both sides speak; `UnsupportedVersionError` if there is none."""
        ours, theirs = request_type(api).valid_versions, self.versions.get(api)
        if theirs is None:
            raise UnsupportedVersionError(f"{self.node} does not serve {api.name}")
        highest = min(ours.highest, theirs.highest)
        if highest < max(ours.lowest, theirs.lowest):
            raise UnsupportedVersionError(f"{self.node} serves {api.name} in versions {theirs}, we speak {ours}")
        return highest

    def send(self, request: Request, done: Done, *, timeout_ms: int, version: int | None = None) -> None:
        """Sends a request, in the highest common version unless told otherwise; `done` hears the answer.

        While a log-in is renewed it waits for that.
        """
        now = self._loop.time()
        deadline = now + timeout_ms / 1000
        if self._session is not None and self._session.holds(now):
            self._held.append(_Held(request, version, done, deadline))
            self._timer.arm(deadline)
        else:
            self._send_now(request, version, done, deadline)

    def send_unanswered(self, request: Request, *, version: int | None = None) -> None:
        """Sends a request that the node will not answer: Produce with acks=0. Raises what speaks against it."""
        if self._session is not None and self._session.holds(self._loop.time()):
            self._held.append(_Held(request, version, None, float("inf")))
        else:
            self._send_unanswered_now(request, version)

    async def log_in(self, begin: BeginLogin) -> None:
        """Proves who we are, now and again before the session ends.

        Raises `LoginFailedError`, or what says that the proof or the node can't be reached.
        """
        session = ClientSession(
            self._loop, begin, self._ask_in_session, SessionEvents(self._release, self._log_in_lost)
        )
        await session.log_in(self.host)
        self._session = session

    def close(self) -> None:
        """Ends the connection; what is in flight fails soon."""
        if self._transport is not None:
            self._transport.abort()
        else:
            self._timer.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio calls: the socket is connected."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """Asyncio calls: where to receive."""
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Asyncio calls: something was received."""
        try:
            frames = self._reader.received(nbytes)
        except InvalidFrameError as error:
            self._fail(error)
            return
        for frame in frames:
            self._receive(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio calls: it is over."""
        self._timer.close()
        if self._session is not None:
            self._session.close()
        error = self._error or NetworkError(f"{self.node} disconnected" + (f": {exc}" if exc else ""))
        if self.on_lost is not None:
            self.on_lost(error)
        for sent in self._sent.values():
            self._loop.call_soon(sent.done, error)
        self._sent.clear()
        held, self._held = self._held, []
        for waiting in held:
            if waiting.done is not None:
                self._loop.call_soon(waiting.done, error)

    async def _negotiate(self) -> None:
        """Asks in our newest version; a node that doesn't know it names its own newest (KIP-511), or is very old."""
        options = self._options
        request = ApiVersionsRequest(
            client_software_name=options.software_name, client_software_version=options.software_version
        )
        version = request.valid_versions.highest
        for _ in range(_VERSIONS_ATTEMPTS_MAX):
            response = await self._ask_versions(request, version)
            listed = {found.api_key: VersionRange(found.min_version, found.max_version) for found in response.api_keys}
            if response.error_code == ErrorCode.NONE:
                self.versions, self.api_versions = listed, response
                return
            if response.error_code != ErrorCode.UNSUPPORTED_VERSION or version == 0:
                raise error_for(response.error_code)
            theirs = listed.get(ApiKey.API_VERSIONS, VersionRange(0, 0))
            version = min(version - 1, theirs.highest)
        raise UnsupportedVersionError(f"{self.node} accepts no version of ApiVersions")

    async def _log_in(self, begin: BeginLogin) -> None:
        """Proves who we are. Raises `NetworkError` if the node does not believe it: it may be set right there."""
        try:
            await self.log_in(begin)
        except LoginRefusedError as error:
            raise NetworkError(f"{self.node} {error}") from None
        except LoginFailedError as error:
            raise NetworkError(f"{self.node}: {error}") from None

    async def _ask_in_session(self, request: Request) -> Response:
        """Asks what belongs to a log-in, after the answers to all that was sent before."""
        deadline = max((sent.deadline for sent in self._sent.values()), default=0.0)
        wait_ms = max(0.0, deadline - self._loop.time()) * 1000
        return await self._ask(request, self.version_of(request.api), after_ms=wait_ms)

    def _release(self) -> None:
        """Sends what was held back while the log-in was renewed."""
        held, self._held = self._held, []
        for waiting in held:
            if waiting.done is not None:
                self._send_now(waiting.request, waiting.version, waiting.done, waiting.deadline)
                continue
            # Who sent it does not wait; a connection that is lost says so itself.
            with contextlib.suppress(OttlaError):
                self._send_unanswered_now(waiting.request, waiting.version)

    def _log_in_lost(self, error: OttlaError) -> None:
        """The node does not take the new log-in: a new connection says why."""
        self._fail(NetworkError(f"{self.node}: the log-in could not be renewed: {error}"))

    def _send_now(self, request: Request, version: int | None, done: Done, deadline: float) -> None:
        try:
            chosen = self._write(request, version)
        except OttlaError as error:
            self._loop.call_soon(done, error)
            return
        self._sent[self._next_id] = _Sent(request.api, chosen, done, deadline)
        self._next_id = (self._next_id + 1) % _CORRELATION_IDS
        self._timer.arm(deadline)

    def _send_unanswered_now(self, request: Request, version: int | None) -> None:
        self._write(request, version)
        self._next_id = (self._next_id + 1) % _CORRELATION_IDS

    async def _ask_versions(self, request: ApiVersionsRequest, version: int) -> ApiVersionsResponse:
        response = await self._ask(request, version)
        assert isinstance(response, ApiVersionsResponse)
        return response

    async def _ask(self, request: Request, version: int, *, after_ms: float = 0.0) -> Response:
        answer: asyncio.Future[Response | OttlaError] = self._loop.create_future()

        def done(result: Response | OttlaError) -> None:
            if not answer.done():
                answer.set_result(result)

        # During the set-up its own time-out is the one that counts.
        timeout_s = (2 * self._options.setup_timeout_ms + after_ms) / 1000
        self._send_now(request, version, done, self._loop.time() + timeout_s)
        response = await answer
        if isinstance(response, OttlaError):
            raise response
        return response

    def _write(self, request: Request, version: int | None) -> int:
        if self._transport is None or self._transport.is_closing():
            raise self._error or NetworkError(f"{self.node} disconnected")
        chosen = self.version_of(request.api) if version is None else version
        client_id = self._options.client_id
        self._transport.write(encode_request(request, chosen, correlation_id=self._next_id, client_id=client_id))
        return chosen

    def _receive(self, frame: memoryview) -> None:
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        sent = self._sent.pop(correlation_id, None)
        if sent is None:
            self._fail(NetworkError(f"{self.node} sent an answer without a request (correlation id {correlation_id})"))
            return
        version = sent.version
        # A node that doesn't know the version of ApiVersions answers in version 0 (KIP-511).
        if sent.api is ApiKey.API_VERSIONS and frame[4:6] == _UNSUPPORTED:
            version = 0
        result: Response | OttlaError
        try:
            _, result = decode_response(frame, sent.api, version)
        except OttlaError as error:
            result = error
        sent.done(result)

    def _expire(self, now: float) -> float | None:
        late = [key for key, sent in self._sent.items() if sent.deadline <= now]
        if late:
            self._fail(NetworkError(f"{self.node} did not answer in time"))
            for key in late:
                sent = self._sent.pop(key)
                error = RequestTimedOutError(f"{self.node} did not answer {sent.api.name} in time")
                self._loop.call_soon(sent.done, error)
            return None
        for waiting in self._held:
            if waiting.deadline <= now and waiting.done is not None:
                error = RequestTimedOutError(f"{self.node} did not renew our log-in in time")
                self._loop.call_soon(waiting.done, error)
        self._held = [waiting for waiting in self._held if waiting.deadline > now]
        deadlines = [sent.deadline for sent in self._sent.values()] + [waiting.deadline for waiting in self._held]
        return min(deadlines, default=None)

    def _fail(self, error: OttlaError) -> None:
        """The connection cannot be trusted any more."""
        if self._error is None:
            _log.debug("closed the connection to %s: %s", self.node, error)
            self._error = error
        self.close()
