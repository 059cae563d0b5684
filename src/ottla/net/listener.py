"""Accepts clients on one address and hands their frames to a handler.

Owns the listening socket and the connections made on it. When descriptors run short it pauses and says so, once in a
while; at a limit of connections it leaves clients in the backlog, as Kafka does (KIP-402).
"""

import errno
import itertools
import logging
import re
import select
import socket
from collections.abc import Callable
from typing import Final

from ottla.base.log_limit import LimitedLog
from ottla.base.system_clock import SystemClock
from ottla.net import descriptor
from ottla.net.channel import Channel
from ottla.net.connection import Connection
from ottla.net.connection_rate import ConnectionRate
from ottla.net.errors import ListenError
from ottla.net.handler import FrameHandler
from ottla.net.idle_watch import IdleWatch
from ottla.net.limits import ListenerLimits
from ottla.net.poller import Poller
from ottla.net.secure_connection import GuardedConnection, TlsConnection
from ottla.net.security import ListenerSecurity

_log = logging.getLogger(__name__)

_ACCEPTS_MAX: Final = 64
"""Clients accepted in one turn."""
_BACKLOG_MIN: Final = 1_024
"""A client that finds the backlog full retries after a second; Kafka's 50 is too few when a fleet of clients starts."""
_REJECTED_S_MAX: Final = 1.0
"""How long a client is kept that came too early; Apache Kafka's longest, too."""
_CLOSED: Final = "[%s] closed the connection from %s:%d: %s"
_DIGITS: Final = re.compile(r"\d+")
_EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_EXHAUSTED_PAUSE_S: Final = 1.0
_EXHAUSTED_SAID_S: Final = 60.0
"""At the limit clients come and go: the log hears of it once in so many seconds."""


class Listener:
    """A listening socket with its connections.

    A host of "" listens on all interfaces, a port of 0 takes a free one.
    """

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        handler: FrameHandler,
        poller: Poller,
        limits: ListenerLimits,
        security: ListenerSecurity | None = None,
    ) -> None:
        self.name: Final = name
        self.security: Final = security
        """The demands on clients before they are served; None without any."""
        self.handler: Final = handler
        self.poller: Final = poller
        self._host: Final = host
        self._port: Final = port
        self._limits = limits
        self._rate: Final = ConnectionRate(limits.connection_rate_max)
        self._sock: socket.socket | None = None
        self._connections: Final[dict[Channel, None]] = {}
        self._idle: Final = IdleWatch[Channel](poller.loop, limits.idle_ms_max, self._expire)
        self._numbers: Final = itertools.count()
        self._is_accepting = False
        self._is_waiting = False
        self._exhausted_said_s: float | None = None
        self._complaints: Final = LimitedLog(_log, SystemClock())

    @property
    def limits(self) -> ListenerLimits:
        """May be replaced at any time; all but idle time and number apply to connections accepted from then on."""
        return self._limits

    @limits.setter
    def limits(self, limits: ListenerLimits) -> None:
        self._limits = limits
        self._rate.change(limits.connection_rate_max)
        self._idle.change_limit(limits.idle_ms_max)
        self._resume()

    @property
    def address(self) -> tuple[str, int]:
        """The bound address."""
        if self._sock is None:
            return self._host, self._port
        return _plain(self._sock.getsockname())

    @property
    def connection_count(self) -> int:
        """The number of connected clients."""
        return len(self._connections)

    def bind(self) -> None:
        """Binds and listens; clients wait in the backlog until `start`. `ListenError` if it can't."""
        try:
            self._sock = _listen(self._host, self._port, self._limits)
        except OSError as error:
            raise ListenError(self._host, self._port, error.strerror or str(error)) from error

    def start(self) -> None:
        """Lets clients in; binds first if that is not done. `ListenError` if it can't."""
        if self._sock is None:
            self.bind()
        assert self._sock is not None
        self._is_accepting = True
        if not self._limits.is_inter_broker:
            self.poller.admission.offer(self, self._longest_idle)
        self.poller.register(self._sock.fileno(), select.EPOLLIN, self._accept)

    def stop_accepting(self) -> None:
        """Frees the address; the connections live on."""
        if self._sock is not None:
            if self._is_accepting:
                self.poller.unregister(self._sock.fileno())
            self._is_accepting = False
            self._sock.close()
            self._sock = None

    def close(self) -> None:
        """Stops accepting and closes all connections."""
        self.stop_accepting()
        for connection in list(self._connections):
            connection.end("the listener is closed", logging.DEBUG)
        self._idle.close()
        self.poller.admission.withdraw(self)

    def admit(self, sock: socket.socket, peer: tuple[str, int]) -> Connection | None:
        """Takes a client that is connected, or turns it away if its address has too many connections."""
        admission = self.poller.admission
        limit = admission.address_limit(peer[0])
        if limit is not None:
            said = "[%s] rejected %s: the address has the maximum of %d connections"
            self._complaints.info((peer[0], "too many"), said, self.name, peer[0], limit)
            sock.close()
            return None
        now_s = self.poller.loop.time()
        delay_s = admission.address_rates.delay_s(peer[0], now_s)
        if delay_s:
            # Not at once, or the client would be back at once.
            said = "[%s] rejected %s: its connections come faster than its quota allows"
            self._complaints.info((peer[0], "too fast"), said, self.name, peer[0])
            self.poller.loop.call_later(min(delay_s, _REJECTED_S_MAX), sock.close)
            return None
        self._rate.note(now_s)
        admission.rate.note(now_s)
        sock.setblocking(False)
        connection = self._connection(sock, peer)
        self._connections[connection] = None
        admission.enter(peer[0])
        self._idle.note(connection, self.poller.now)
        connection.begin()
        return connection

    def _connection(self, sock: socket.socket, peer: tuple[str, int]) -> Connection:
        """A connection of the kind that the listener has."""
        security = self.security
        if security is None:
            return Connection(self, sock, _plain(sock.getsockname()), peer)
        addresses = _plain(sock.getsockname()), peer
        if security.tls is None:
            return GuardedConnection(self, sock, addresses, security)
        return TlsConnection(self, security.tls.wrap(sock), addresses, security, security.tls)

    def next_number(self) -> int:
        """A number for a connection, given once."""
        return next(self._numbers)

    def note(self, connection: Channel) -> float:
        """Notes activity of a connection; it need not be called again before the time that it returns."""
        now = self.poller.now
        self._idle.note(connection, now)
        return now + self._idle.step_s

    def ended(self, connection: Channel, reason: str, level: int) -> None:
        """Says why a connection is being closed; what a stranger could have us say without end, once in a minute."""
        said = (self.name, *connection.peer, reason)
        if level < logging.INFO:
            _log.log(level, _CLOSED, *said)
        else:
            # Numbers are the stranger's choice, too: one kind may have very many.
            kind = _DIGITS.sub("", reason.partition(":")[0])
            self._complaints.log(level, (connection.peer[0], kind), _CLOSED, *said)

    def forget(self, connection: Channel) -> None:
        """A connection is closed."""
        del self._connections[connection]
        self._idle.forget(connection)
        self.poller.admission.leave(connection.peer[0])
        self._resume()
        self.handler.disconnected(connection)

    def _accept(self, _mask: int) -> None:
        for _ in range(_ACCEPTS_MAX):
            if self._sock is None or not self._has_room():
                return
            try:
                sock, address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    self._wait_for_descriptors(error.strerror or str(error))
                    return
                continue  # this client was gone before it was accepted
            self.admit(sock, _plain(address))

    def _has_room(self) -> bool:
        admission = self.poller.admission
        if len(self._connections) >= self._limits.connections_max:
            self._wait()
            return False
        if admission.is_full:
            if not self._limits.is_inter_broker:
                self._wait()
                admission.wait(self._resume)
                return False
            admission.displace()
        if self._is_too_fast():
            return False
        if self._sock is not None and not self._limits.is_inter_broker and descriptor.is_short(self._sock.fileno()):
            self._wait_for_descriptors("the descriptors that are left are for files")
            return False
        return True

    def _is_too_fast(self) -> bool:
        """Whether connections come faster than they may; then the next has to wait for a moment."""
        now_s = self.poller.loop.time()
        delay_s = self._rate.delay_s(now_s)
        if not self._limits.is_inter_broker:
            delay_s = max(delay_s, self.poller.admission.rate.delay_s(now_s))
        if delay_s:
            self._wait()
            self.poller.loop.call_later(delay_s, self._resume)
        return delay_s > 0

    def _wait_for_descriptors(self, reason: str) -> None:
        now_s = self.poller.loop.time()
        if self._exhausted_said_s is None or now_s - self._exhausted_said_s >= _EXHAUSTED_SAID_S:
            self._exhausted_said_s = now_s
            _log.error("[%s] can accept no clients for now: %s", self.name, reason)
        self._wait()
        self.poller.loop.call_later(_EXHAUSTED_PAUSE_S, self._resume)

    def _wait(self) -> None:
        if self._sock is not None:
            self._is_waiting = True
            self.poller.modify(self._sock.fileno(), 0)

    def _resume(self) -> None:
        if self._sock is not None and self._is_waiting:
            self._is_waiting = False
            self.poller.modify(self._sock.fileno(), select.EPOLLIN)

    def _longest_idle(self) -> tuple[float, Callable[[], None]] | None:
        found = self._idle.longest_idle
        if found is None:
            return None
        connection, since = found
        return since, lambda: connection.end("it was idle for longest, and a broker needed the place", logging.INFO)

    def _expire(self, connection: Channel) -> None:
        # Whoever waits for us is not idle: a long poll may be longer than the limit.
        if connection.is_busy:
            self._idle.note(connection, self.poller.loop.time())
        else:
            connection.end("it was idle for too long", logging.DEBUG)


def _listen(host: str, port: int, limits: ListenerLimits) -> socket.socket:
    """A listening socket. Accepted ones inherit its options, so nothing is set for each of them."""
    sock = socket.socket(*_family(host))
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if limits.receive_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, limits.receive_buffer_bytes)
        if limits.send_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer_bytes)
        if sock.family == socket.AF_INET6 and not host:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind((host, port))
        sock.listen(max(limits.backlog, _BACKLOG_MIN))
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _family(host: str) -> tuple[int, int]:
    if not host:
        return (socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET), socket.SOCK_STREAM
    family, kind, *_ = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    return family, kind


def _plain(address: tuple[str, int] | tuple[str, int, int, int]) -> tuple[str, int]:
    """Host and port; an IPv4 client of a dual-stack socket by its own address."""
    return address[0].removeprefix("::ffff:"), address[1]
