"""One client's connection: frames in, answers out, in order.

A readiness event costs one `recv` into the poller's shared buffer; all complete frames in it are handled where they
lie, and their answers leave together at the end of the round: whoever sleeps on one is not woken while we work for
the others. That is the `Channel`. The rest goes to the `Inbox`: a started frame, or whole frames that must wait.

Frames wait while any reason is set in `_paused`. The handler is only ever called from the poller, never from inside
of an answer: what a late answer sets free is taken up at the end of the round.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable
from select import EPOLLIN, EPOLLOUT, EPOLLRDHUP
from typing import TYPE_CHECKING, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.net.channel import GONE, Channel, Exchange
from ottla.net.errors import RegionEndedError
from ottla.net.inbox import Inbox
from ottla.net.large_frame import LargeFrame
from ottla.net.outbox import Outbox
from ottla.net.pause import CLOSED, CROWDED, ENDED, IN_TURN, NO_MEMORY, THROTTLED, UNREAD

if TYPE_CHECKING:
    from ottla.net.channel_plain import ChannelOwner
    from ottla.net.handler import FrameHandler
    from ottla.net.poller import Poller

    class ConnectionOwner(ChannelOwner, Protocol):
        """The services that a connection needs of its listener, beside those of its channel."""

        @property
        def name(self) -> str:
            """What the listener is called."""
            ...

        @property
        def poller(self) -> Poller:
            """Who serves it."""
            ...

        @property
        def handler(self) -> FrameHandler:
            """Who hears of it, and of its frames."""
            ...

        def next_number(self) -> int:
            """A number for a connection, given once."""
            ...

        def ended(self, connection: Channel, reason: str, level: int) -> None:
            """Says why it is being closed."""
            ...

        def forget(self, connection: Channel) -> None:
            """It is closed."""
            ...


_log = logging.getLogger(__name__)

ANONYMOUS: Final = "User:ANONYMOUS"
"""The principal of a connection without log-in."""
_UNREAD_PIECES_MAX: Final = 1_000
"""A connection with more unread pieces than this is not read from, however small they are."""


class Connection(Channel):
    """A client's connection to a listener. Made by the listener alone."""

    __slots__ = (
        "_ending",
        "_has_left",
        "_outbox",
        "_throttle_timer",
        "_unread_bytes_max",
        "id",
        "listener",
        "local",
        "peer",
        "principal",
        "principal_is_token",
        "session",
    )

    _owner: "ConnectionOwner"
    _poller: "Poller"

    def __init__(
        self, owner: "ConnectionOwner", sock: socket.socket, local: tuple[str, int], peer: tuple[str, int]
    ) -> None:
        self.listener = owner.name
        self.local = local
        self.peer = peer
        self.id = f"{local[0]}:{local[1]}-{peer[0]}:{peer[1]}-{owner.next_number()}"
        self.principal = ANONYMOUS
        self.principal_is_token = False
        self.session = None
        self._has_left = False
        self._outbox: Final = self._make_outbox()
        self._unread_bytes_max: Final = owner.limits.unread_bytes_max
        self._throttle_timer: asyncio.TimerHandle | None = None
        self._ending = ("the client closed it", logging.DEBUG)
        super().__init__(owner, sock, Inbox(owner.poller.buffers, owner.poller.memory), self._outbox)
        self._poller.register(self._fd, EPOLLIN, self.ready)

    def _make_outbox(self) -> Outbox:
        return Outbox()

    @property
    def is_open(self) -> bool:
        """Whether answers can still reach the client."""
        return not self._paused & CLOSED

    @property
    def is_busy(self) -> bool:
        """Whether a client that is there waits for an answer; one that said goodbye may not be there."""
        return bool(self._pending) and not self._paused & ENDED and not self._has_left

    def throttle(self, ms: int) -> None:
        """Reads and handles nothing from this client for `ms` milliseconds; answers still leave."""
        if self._paused & CLOSED:
            return
        until = self._poller.loop.time() + ms / 1000
        if self._throttle_timer is not None:
            if self._throttle_timer.when() >= until:
                return
            self._throttle_timer.cancel()
        self._paused |= THROTTLED
        self._throttle_timer = self._poller.loop.call_at(until, self._end_throttle)

    def close(self, reason: str) -> None:
        """Closes at once, logged with `reason`; of the answers given before, only what the socket takes still leaves.

        `disconnected` follows at the end of the round.
        """
        self.end(reason, logging.INFO)

    def close_when_answered(self, reason: str) -> None:
        """Reads no more, and closes once all requests are answered and the client has taken the answers."""
        self._ending = (reason, logging.INFO)
        self._paused |= ENDED
        self._schedule()

    def end(self, reason: str, level: int) -> None:
        """Closes at once and says so at a level of the log; the descriptor lives until the end of the round."""
        self._finish_sending()
        if self._paused & CLOSED:
            return
        self._owner.ended(self, reason, level)
        if self._out and not self._interest & EPOLLOUT:
            # Requests before the one that is the reason were answered, and would be whenever it had come.
            with contextlib.suppress(OSError, RegionEndedError):
                self._outbox.write(self._sock)
        self._paused |= CLOSED
        self._poller.unregister(self._fd)
        self._poller.memory.forget(self)
        self._inbox.clear()
        self._outbox.clear()
        for exchange in self._pending:
            exchange.pieces = GONE
        self._pending.clear()
        if self._throttle_timer is not None:
            self._throttle_timer.cancel()
        self._poller.at_round_end(self._bury)

    def unsent(self, data: bytes, sent: int, error: int) -> None:
        """Of an answer given to the poller this much has left: what the socket did not take waits until it does."""
        if self._paused & CLOSED:
            return
        if error:
            self.end(os.strerror(error), logging.DEBUG)
            return
        self._out.insert(0, memoryview(data)[sent:])
        self._watch(self._interest | EPOLLOUT)
        self._pause_if_unread()

    def begin(self) -> None:
        """Presents itself to the handler."""
        try:
            self._owner.handler.connected(self)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)

    def proceeded(self, exchange: Exchange) -> None:
        """An exchange lets others pass (`Exchange.proceed`)."""
        exchange.holds_up = False
        self._paused &= ~IN_TURN
        if len(self._pending) >= self._exchanges_max:
            self._paused |= CROWDED
        if not self._is_serving:
            self._schedule()

    def after_others(self, callback: Callable[[], None]) -> None:
        """Calls back when the other connections have had a turn (`Exchange.after_others`)."""
        self._poller.at_next_round(callback)

    def _keep(self, view: memoryview, position: int, end: int) -> None:
        """Keeps what is left of a read: nothing, if the connection has been closed."""
        inbox = self._inbox
        if self._paused:
            if not self._paused & CLOSED:
                inbox.keep(view, position, end)
        elif inbox.begin_large(view, position, end):
            if inbox.large is not None:
                self._read_large(inbox.large)
        else:
            inbox.keep(view, position, end)
            if inbox.is_large(view, position, end):
                self._wait_for_memory()

    def _read_large(self, large: LargeFrame) -> None:
        try:
            count = large.receive(self._sock.recv_into)
        except BlockingIOError:
            return
        except OSError as error:
            self.end(error.strerror or str(error), logging.DEBUG)
            return
        if not count:
            self._end_of_stream()
            return
        self._note_at = self._owner.note(self)
        if large.is_complete:
            self._inbox.large = None
            self._serve_large(large)
            self._inbox.clear()

    def _serve_large(self, large: LargeFrame) -> None:
        exchange = Exchange(self)
        self._pending.append(exchange)
        self._is_serving = True
        self._paused = IN_TURN
        try:
            self._received(large.view, exchange)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)
        self._is_serving = False
        if self._out:
            self._flush_directly()

    def _fail(self, error: Exception) -> None:
        _log.error("[%s] the handler failed on a request from %s:%d", self.listener, *self.peer, exc_info=error)
        self.end(f"{type(error).__name__} in the handler", logging.DEBUG)

    def _hear_goodbye(self) -> None:
        """The client will send no more, but what it sent before may not be read yet, and is still served."""
        self._has_left = True
        self._watch(self._interest & ~(EPOLLIN | EPOLLRDHUP))

    def _end_of_stream(self) -> None:
        """The client will send no more. It may still wait for answers: then they leave first, as with Kafka."""
        self._finish_sending()
        self._inbox.clear()
        self._paused |= ENDED
        if self._pending or self._out:
            self._watch(self._interest & ~EPOLLIN)
            self._schedule()
        else:
            self.end(*self._ending)

    def _end_if_answered(self) -> None:
        """Ends the connection, which reads no more, once all answers have left."""
        self._finish_sending()
        if not self._out and not self._pending:
            self.end(*self._ending)

    def _flush_directly(self) -> None:
        """Sends at once, without the poller: large answers, and those that can't wait for the end of the round."""
        self._finish_sending()
        if not self._interest & EPOLLOUT:
            self._write()
        self._pause_if_unread()

    def _finish_sending(self) -> None:
        """Makes sure that no answer is on its way: what did not leave is in the outbox again."""
        if self._sending == self._poller.sending:
            self._poller.finish_sends()

    def _pause_if_unread(self) -> None:
        out = self._out
        if out and (len(out) > _UNREAD_PIECES_MAX or self._outbox.unread_bytes > self._unread_bytes_max):
            self._paused |= UNREAD

    def _write(self) -> None:
        """Writes what the socket takes, and has the poller tell when it takes the rest."""
        outbox = self._outbox
        try:
            written = outbox.write(self._sock)
        except OSError as error:
            self.end(error.strerror or str(error), logging.DEBUG)
            return
        except RegionEndedError as error:
            self.end(str(error), logging.ERROR)
            return
        if written and self._poller.now >= self._note_at:
            self._note_at = self._owner.note(self)
        self._watch_outbox()

    def _watch_outbox(self) -> None:
        """Has the poller tell when the socket takes what it has not taken yet."""
        outbox = self._outbox
        if not outbox.pieces:
            self._watch(self._interest & ~EPOLLOUT)
            self._paused &= ~UNREAD
        else:
            self._watch(self._interest | EPOLLOUT)
            if outbox.unread_bytes <= self._unread_bytes_max and len(outbox.pieces) <= _UNREAD_PIECES_MAX:
                self._paused &= ~UNREAD

    def _end_throttle(self) -> None:
        self._throttle_timer = None
        self._paused &= ~THROTTLED
        self._schedule()

    def _wait_for_memory(self) -> None:
        self._paused |= NO_MEMORY
        self._poller.memory.wait(self, self._end_wait_for_memory)
        self._inbox.disclaim()

    def _end_wait_for_memory(self) -> None:
        self._paused &= ~NO_MEMORY
        self._schedule()

    def _watch(self, interest: int) -> None:
        """Tells the poller what is of interest."""
        if interest != self._interest and not self._paused & CLOSED:
            self._interest = interest
            self._poller.modify(self._fd, interest)

    def _bury(self) -> None:
        self._sock.close()
        self._owner.forget(self)
