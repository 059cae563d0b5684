"""Connections of clients that have to prove who they are: by a log-in, by TLS, or by both.

A `GuardedConnection` is a plain one whose first frames go through a `LoginGate`. A `TlsConnection` shakes hands before,
and then receives and sends through OpenSSL. Its handshake and its large writes are done on another thread; meanwhile it
is `away`: the poller does not know it, and nothing here touches its socket.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP
from typing import TYPE_CHECKING, Final, TypeVar

from ottla.net.connection import Connection
from ottla.net.errors import RegionEndedError
from ottla.net.handler import FrameHandler
from ottla.net.login_gate import LoginGate
from ottla.net.outbox import Outbox
from ottla.net.pause import CLOSED, SCHEDULED
from ottla.net.security import ListenerSecurity, Recognised
from ottla.net.tls.outbox import TlsOutbox
from ottla.net.tls.server import NobodyError, TlsServer, is_no_tls
from ottla.net.tls.socket import TlsSocket

if TYPE_CHECKING:
    from ottla.net.connection import ConnectionOwner
    from ottla.net.large_frame import LargeFrame

T = TypeVar("T")

_PROBE_BYTES: Final = 4_096
"""Received from a client whose last frame was large, as on plain connections."""
_AWAY_FROM: Final = 262_144
"""From this many bytes on another thread encrypts."""
_OWED_BYTES_MAX: Final = 65_536
"""What OpenSSL itself may have to say to a client that takes nothing, as answers to ever new keys."""


class GuardedConnection(Connection):
    """A connection whose client logs in first."""

    __slots__ = ("_deadline", "_security", "handler")

    def __init__(
        self,
        owner: "ConnectionOwner",
        sock: socket.socket,
        addresses: tuple[tuple[str, int], tuple[str, int]],
        security: ListenerSecurity,
    ) -> None:
        self.handler: Final = owner.handler
        """Serves the connection once its client is known."""
        self._security: Final = security
        super().__init__(owner, sock, *addresses)
        self._deadline: asyncio.TimerHandle | None = self._poller.loop.call_later(
            security.login_ms_max / 1000, self.end, "it did not log in in time", logging.INFO
        )
        self._guard()

    def _guard(self) -> None:
        """Lets frames through to the log-in only."""
        if self._security.login is not None:
            self._request_bytes_max = min(self._owner.limits.request_bytes_max, self._security.login_bytes_max)
            self._received = LoginGate(self, self._security, self._security.login).received
        else:
            self._request_bytes_max = self._owner.limits.request_bytes_max
            self._received = self.handler.received

    def open_for(self, handler: FrameHandler) -> None:
        """The client is known for as long as it is connected: requests go straight to the handler."""
        self._received = handler.received

    def logged_in(self) -> None:
        """The client is known."""
        self._request_bytes_max = self._owner.limits.request_bytes_max
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where it lives."""
        return self._poller.loop

    @property
    def client_certificate(self) -> bytes | None:
        """What the client has shown, in DER."""
        return None

    def later(self, ms: int, callback: Callable[[], None]) -> None:
        """Calls back after a while; who is gone by then is called, too."""
        self._poller.loop.call_later(ms / 1000, callback)

    def end(self, reason: str, level: int) -> None:
        """Closes at once and says so at a level of the log; the descriptor lives until the end of the round."""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        super().end(reason, level)


class TlsConnection(GuardedConnection):
    """An encrypted connection."""

    __slots__ = ("_away", "_is_buried", "_is_looking", "_is_refused", "_is_shaking", "_tls")

    def __init__(
        self,
        owner: "ConnectionOwner",
        sock: TlsSocket,
        addresses: tuple[tuple[str, int], tuple[str, int]],
        security: ListenerSecurity,
        tls: TlsServer,
    ) -> None:
        self._tls: Final = tls
        self._away: TlsOutbox | None = None
        self._is_shaking = True
        self._is_looking = False
        self._is_refused = False
        self._is_buried = False
        super().__init__(owner, sock, addresses, security)
        self._is_direct = True

    def _make_outbox(self) -> Outbox:
        return TlsOutbox()

    @property
    def client_certificate(self) -> bytes | None:
        """What the client has shown, in DER."""
        assert isinstance(self._sock, TlsSocket)
        return self._sock.certificate

    # The handshake

    def _shake_hands(self) -> None:
        sock = self._sock
        assert isinstance(sock, TlsSocket)
        self._leave(TlsOutbox())
        self._tls.run(sock.do_handshake, self._tell_loop(self._shaken))

    def _shaken(self, result: Callable[[], None]) -> None:
        if not self._come_back():
            return
        try:
            result()
        except ssl.SSLWantReadError:
            self._watch(EPOLLIN)
        except ssl.SSLWantWriteError:
            self._watch(EPOLLOUT)
        except (OSError, ValueError) as error:
            self._refuse(f"the TLS handshake failed: {_reason(error)}", 0 if is_no_tls(error) else None)
        else:
            self._recognise()

    def _recognise(self) -> None:
        """The handshake is over: who is it?"""
        assert isinstance(self._sock, TlsSocket)
        try:
            principal = self._tls.principal(self._sock)
        except NobodyError as error:
            self._refuse(f"the TLS log-in failed: {error}")
            return
        security = self._security
        if security.apart is None or security.name_principal is None or security.login is not None:
            self._begin_to_serve(principal)
            return
        self._leave(TlsOutbox())
        found = Recognised(principal, self.peer[0], self.listener, None, self.client_certificate)
        security.apart.run(self._poller.loop, partial(security.name_principal, found), self._named)

    def _named(self, result: str | Exception) -> None:
        """The operator's class has said who it is."""
        if not self._come_back():
            return
        if isinstance(result, str):
            self._begin_to_serve(result)
        else:
            self._refuse(f"the TLS log-in failed: {result}")

    def _begin_to_serve(self, principal: str) -> None:
        self._is_shaking = False
        self.principal = principal
        if self._security.login is None:
            self.logged_in()
        self._watch(EPOLLIN)
        self._look_for_more()

    def _refuse(self, reason: str, delay_ms: int | None = None) -> None:
        """Closes after a delay, during which the peer gets no answer."""
        self._is_shaking = self._is_refused = True
        self._leave(TlsOutbox())

        def give_up() -> None:
            if not self._paused & CLOSED:
                self.end(reason, logging.INFO)

        self.later(self._security.failure_delay_ms if delay_ms is None else delay_ms, give_up)

    # Requests

    def ready(self, mask: int) -> None:
        """The socket has news: the poller calls."""
        if self._is_shaking:
            self._shake_hands()
            return
        if mask & EPOLLOUT:
            self._write()
            if self._away is not None:
                return
            self._catch_up()
        if not mask & ~EPOLLOUT or self._paused & CLOSED or self._away is not None:
            return
        if not self._paused:
            self._read_on()
        elif mask & (EPOLLHUP | EPOLLERR):
            self.end("reset by the client", logging.DEBUG)
        elif mask & EPOLLRDHUP:
            self._hear_goodbye()
        elif self._paused != SCHEDULED:
            self._watch(self._interest & ~EPOLLIN | EPOLLRDHUP)

    def _read_on(self) -> None:
        self._is_looking = False
        if self._paused or self._away is not None or self._is_shaking:
            return
        large = self._inbox.large
        if large is None:
            self._decrypt()
        else:
            self._read_large(large)
        self._look_for_more()

    def _look_for_more(self) -> None:
        """Handles bytes of which the poller does not know, and has leave what OpenSSL itself says."""
        if self._away is not None or self._is_shaking or self._paused & CLOSED:
            return
        sock = self._sock
        assert isinstance(sock, TlsSocket)
        owed = sock.owed_bytes
        if owed > _OWED_BYTES_MAX:
            self.end("it does not take what TLS says", logging.INFO)
            return
        if owed and not self._out:
            self._out.append(b"")
            self._schedule()
        if sock.has_more and not self._paused and not self._is_looking:
            self._is_looking = True
            self._poller.at_next_round(self._read_on)

    def _decrypt(self) -> None:
        poller, inbox = self._poller, self._inbox
        view, held, start = poller.view, inbox.held, 0
        if held is not None:
            start = held.nbytes - inbox.held_at
            view[:start] = held[inbox.held_at :]
        elif poller.memory.is_full:
            self._wait_for_memory()
            return
        end, stop = start, start + _PROBE_BYTES if inbox.expects_large and held is None else view.nbytes
        try:
            end += self._sock.recv_into(view[end:stop])
        except BlockingIOError:
            return
        except OSError as error:
            self.end(_reason(error), logging.DEBUG)
            return
        if end == start:
            self._end_of_stream()
            return
        if held is not None:
            inbox.clear()
        if poller.now >= self._note_at:
            self._note_at = self._owner.note(self)
        self._serve(view, 0, end)

    def _read_large(self, large: "LargeFrame") -> None:
        if self._away is not None:
            # A request that was held may begin while another thread encrypts.
            return
        super()._read_large(large)
        self._look_for_more()

    def _catch_up(self) -> None:
        super()._catch_up()
        self._look_for_more()

    # Answers

    def _write(self) -> None:
        if self._away is not None or self._is_shaking:
            return
        outbox = self._outbox
        assert isinstance(outbox, TlsOutbox)
        if outbox.unread_bytes < _AWAY_FROM:
            super()._write()
            return
        away = outbox.take()
        self._leave(away)
        sock = self._sock
        assert isinstance(sock, TlsSocket)
        self._tls.run(lambda: self._tls.write(away, sock), self._tell_loop(self._written))

    def _written(self, result: Callable[[], None]) -> None:
        away = self._away
        if not self._come_back():
            return
        assert away is not None
        assert isinstance(self._outbox, TlsOutbox)
        self._outbox.put_back(away)
        try:
            result()
        except OSError as error:
            self.end(_reason(error), logging.DEBUG)
            return
        except RegionEndedError as error:
            self.end(str(error), logging.ERROR)
            return
        self._note_at = self._owner.note(self)
        # What is left waits for room in the socket, what came meanwhile leaves, and reading goes on.
        if away.pieces:
            self._watch_outbox()
        else:
            self._write()
        self._schedule()
        self._look_for_more()

    # Away

    def _leave(self, away: TlsOutbox) -> None:
        """Another thread has the socket now."""
        self._away = away
        self._poller.unregister(self._fd)
        self._interest |= EPOLLOUT

    def _come_back(self) -> bool:
        """The socket is ours again; False if the connection was closed meanwhile."""
        self._away = None
        if self._paused & CLOSED:
            if self._is_buried:
                self._bury()
            return False
        self._interest &= ~EPOLLOUT
        self._poller.register(self._fd, self._interest, self.ready)
        return True

    def _tell_loop(self, heard: Callable[[Callable[[], T]], None]) -> Callable[[Callable[[], T]], None]:
        """Has a result that another thread got heard on the loop; a loop that is closed hears nothing any more."""
        loop, sock = self._poller.loop, self._sock

        def tell(result: Callable[[], T]) -> None:
            if self._is_buried:
                # The loop may end before it hears of this.
                sock.close()
            try:
                loop.call_soon_threadsafe(heard, result)
            except RuntimeError:
                sock.close()

        return tell

    def _watch(self, interest: int) -> None:
        """Tells the poller what is of interest, once the socket is ours."""
        if self._away is not None:
            self._interest = interest | EPOLLOUT
        else:
            super()._watch(interest)

    def _bury(self) -> None:
        self._is_buried = True
        # The socket of a refused connection is idle: it only stays silent for a while.
        if self._away is None or self._is_refused:
            assert isinstance(self._sock, TlsSocket)
            if not self._is_shaking:
                self._sock.say_goodbye()
            super()._bury()


def _reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the client's certificate is refused, {error.verify_message}"
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.lower().replace("_", " ")
    return getattr(error, "strerror", None) or str(error)
