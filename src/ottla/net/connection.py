"""One client's connection: frames in, answers out, in order.

A readiness event costs one `recv` into the poller's shared buffer; all complete frames in it are handled where they
lie, and their answers leave together at the end of the round: whoever sleeps on one is not woken while we work for
the others. The rest goes to the `Inbox`: a started frame, or whole frames that must wait.

Frames wait while any reason is set in `_paused`. The handler is only ever called from the poller, never from inside
of an answer: what a late answer sets free is taken up at the end of the round.
"""

import asyncio
import contextlib
import logging
import socket
from collections import deque
from collections.abc import Sequence
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP
from struct import Struct
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.net.errors import InvalidFrameError, RegionEndedError
from ottla.net.exchange import GONE, Exchange
from ottla.net.inbox import Inbox
from ottla.net.large_frame import LargeFrame
from ottla.net.outbox import Outbox
from ottla.net.piece import Piece

if TYPE_CHECKING:
    from ottla.net.listener import Listener

_log = logging.getLogger(__name__)
_size_at = Struct(">i").unpack_from

_FRAMES_MAX: Final = 128
"""Frames handled in one turn, so that one busy client does not hold up the others."""
_PROBE_BYTES: Final = 4_096
"""Received from a client whose last frame was large: enough to see the next one's size, little to copy."""
_BULKY_BYTES: Final = 8_192
"""Smaller answers leave together; one that is larger, or not plain bytes, before the next frame is handled."""
_UNREAD_PIECES_MAX: Final = 1_000
"""A connection with more unread pieces than this is not read from, however small they are."""

_IN_TURN: Final = 1  # a request is being handled, or waits for its answer and lets no other pass
_CROWDED: Final = 2  # too many requests wait for their answers
_UNREAD: Final = 4  # the client does not read its answers
_THROTTLED: Final = 8
_NO_MEMORY: Final = 16  # all connections together hold as much as they may
_SCHEDULED: Final = 32  # goes on at the end of the round
_ENDED: Final = 64  # nothing more is read: only answers are left
_CLOSED: Final = 128


class Connection:
    """A client's connection to a listener. Made by the listener alone."""

    __slots__ = (
        "_ending",
        "_exchanges_max",
        "_fd",
        "_has_left",
        "_inbox",
        "_interest",
        "_is_serving",
        "_note_at",
        "_out",
        "_outbox",
        "_owner",
        "_paused",
        "_pending",
        "_poller",
        "_received",
        "_recv_into",
        "_request_bytes_max",
        "_send",
        "_sock",
        "_throttle_timer",
        "_unread_bytes_max",
        "id",
        "listener",
        "local",
        "peer",
        "session",
    )

    def __init__(self, owner: "Listener", sock: socket.socket, local: tuple[str, int], peer: tuple[str, int]) -> None:
        self.listener: Final = owner.name
        """The listener's name."""
        self.local: Final = local
        """The address and port that the client dialled."""
        self.peer: Final = peer
        """The client's address and port."""
        self.id: Final = f"{local[0]}:{local[1]}-{peer[0]}:{peer[1]}-{owner.next_number()}"
        """As Kafka forms it: both ends, and a number."""
        self.session: object | None = None
        """Free for the handler: what it knows about the client."""
        self._owner: Final = owner
        self._poller: Final = owner.poller
        self._received: Final = owner.handler.received
        self._sock: Final = sock
        self._fd: Final = sock.fileno()
        self._recv_into: Final = sock.recv_into
        self._send: Final = sock.send
        self._request_bytes_max: Final = owner.limits.request_bytes_max
        self._exchanges_max: Final = owner.limits.exchanges_max
        self._unread_bytes_max: Final = owner.limits.unread_bytes_max
        self._paused = 0
        self._is_serving = False
        self._has_left = False
        self._pending: Final[deque[Exchange]] = deque()
        self._inbox: Final = Inbox(self._poller.buffers, self._poller.memory)
        self._outbox: Final = Outbox()
        self._out = self._outbox.pieces
        self._interest = EPOLLIN
        self._note_at = 0.0
        self._throttle_timer: asyncio.TimerHandle | None = None
        self._ending = ("the client closed it", logging.DEBUG)
        self._poller.register(self._fd, EPOLLIN, self.ready)

    @property
    def is_open(self) -> bool:
        """Whether answers can still reach the client."""
        return not self._paused & _CLOSED

    @property
    def is_busy(self) -> bool:
        """Whether a client that is there waits for an answer; one that said goodbye may not be there."""
        return bool(self._pending) and not self._paused & _ENDED and not self._has_left

    def throttle(self, ms: int) -> None:
        """Reads and handles nothing from this client for `ms` milliseconds; answers still leave."""
        if self._paused & _CLOSED:
            return
        until = self._poller.loop.time() + ms / 1000
        if self._throttle_timer is not None:
            if self._throttle_timer.when() >= until:
                return
            self._throttle_timer.cancel()
        self._paused |= _THROTTLED
        self._throttle_timer = self._poller.loop.call_at(until, self._end_throttle)

    def close(self, reason: str) -> None:
        """Closes at once, logged with `reason`; of the answers given before, only what the socket takes still leaves.

        `disconnected` follows at the end of the round.
        """
        self.end(reason, logging.INFO)

    def close_when_answered(self, reason: str) -> None:
        """Reads no more, and closes once all requests are answered and the client has taken the answers."""
        self._ending = (reason, logging.INFO)
        self._paused |= _ENDED
        self._schedule()

    def end(self, reason: str, level: int) -> None:
        """Closes at once and says so at a level of the log; the descriptor lives until the end of the round."""
        if self._paused & _CLOSED:
            return
        _log.log(level, "[%s] closed the connection from %s:%d: %s", self.listener, *self.peer, reason)
        if self._out and not self._interest & EPOLLOUT:
            # Requests before the one that is the reason were answered, and would be whenever it had come.
            with contextlib.suppress(OSError, RegionEndedError):
                self._outbox.write(self._sock)
        self._paused |= _CLOSED
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

    def begin(self) -> None:
        """Presents itself to the handler."""
        try:
            self._owner.handler.connected(self)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)

    def answered(self, exchange: Exchange, pieces: Sequence[Piece]) -> None:
        """An exchange has its answer (`Exchange.answer`)."""
        if exchange.pieces is not None:
            if self._paused & _CLOSED:
                return
            raise RuntimeError("a request is answered once")
        pending = self._pending
        if pending[0] is exchange:
            pending.popleft()
            exchange.pieces = GONE
            self._out += pieces
            if pending or self._paused & _CROWDED:
                self._release_answers()
        else:
            exchange.pieces = pieces
            if len(pending) >= self._exchanges_max:
                self._paused |= _CROWDED
        if exchange.holds_up:
            exchange.holds_up = False
            self._paused &= ~_IN_TURN
        if not self._is_serving or (
            pieces and (len(pieces) > 1 or type(pieces[0]) is not bytes or len(pieces[0]) > _BULKY_BYTES)
        ):
            self._schedule()

    def proceeded(self, exchange: Exchange) -> None:
        """An exchange lets others pass (`Exchange.proceed`)."""
        exchange.holds_up = False
        self._paused &= ~_IN_TURN
        if len(self._pending) >= self._exchanges_max:
            self._paused |= _CROWDED
        if not self._is_serving:
            self._schedule()

    def ready(self, mask: int) -> None:
        """The socket has news: the poller calls."""
        if mask & EPOLLOUT:
            self._write()
            self._catch_up()
        if not mask & ~EPOLLOUT or self._paused & _CLOSED:
            return
        if not self._paused:
            large = self._inbox.large
            if large is None:
                self._read()
            else:
                self._read_large(large)
        elif mask & (EPOLLHUP | EPOLLERR):
            self.end("reset by the client", logging.DEBUG)
        elif mask & EPOLLRDHUP:
            # Frames before its goodbye may not be read yet, and are still served.
            self._has_left = True
            self._watch(self._interest & ~(EPOLLIN | EPOLLRDHUP))
        elif self._paused != _SCHEDULED:
            self._watch(self._interest & ~EPOLLIN | EPOLLRDHUP)

    def _read(self) -> None:
        poller, inbox = self._poller, self._inbox
        view, held, start = poller.view, inbox.held, 0
        try:
            if held is not None:
                start = held.nbytes - inbox.held_at
                view[:start] = held[inbox.held_at :]
                count = self._recv_into(view[start:])
            elif poller.memory.is_full:
                self._wait_for_memory()
                return
            elif inbox.expects_large:
                count = self._recv_into(view, _PROBE_BYTES)
            else:
                count = self._recv_into(view)
        except BlockingIOError:
            return
        except OSError as error:
            self.end(error.strerror or str(error), logging.DEBUG)
            return
        if not count:
            self._end_of_stream()
            return
        if held is not None:
            inbox.clear()
        if poller.now >= self._note_at:
            self._note_at = self._owner.note(self)
        self._serve(view, 0, start + count)

    def _serve(self, view: memoryview, position: int, end: int) -> None:
        """Handles the frames from `position` to `end`, sends the answers, keeps the rest."""
        received, pending = self._received, self._pending
        self._is_serving = True
        try:
            for _ in range(_FRAMES_MAX):
                if end - position < 4:
                    break
                (size,) = _size_at(view, position)
                if not 0 < size <= self._request_bytes_max:
                    raise InvalidFrameError(size, self._request_bytes_max)
                stop = position + 4 + size
                if stop > end:
                    break
                exchange = Exchange(self)
                pending.append(exchange)
                self._paused = _IN_TURN
                received(view[position + 4 : stop], exchange)
                position = stop
                if self._paused:
                    break
            else:
                self._paused = _SCHEDULED
                self._poller.at_next_round(self._catch_up)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)
        self._is_serving = False
        if self._out:
            if len(self._out) > 1 and not self._paused & _SCHEDULED and not self._interest & EPOLLOUT:
                self._out[:] = (b"".join(self._out),)  # type: ignore[arg-type] # all are small, or it were scheduled
            self._poller.at_round_end(self._flush)
        if position < end:
            self._keep(view, position, end)
        else:
            inbox = self._inbox
            inbox.expects_large = False
            if inbox.held is not None:
                inbox.clear()

    def _keep(self, view: memoryview, position: int, end: int) -> None:
        """Keeps what is left of a read: nothing, if the connection has been closed."""
        inbox = self._inbox
        if self._paused:
            if not self._paused & _CLOSED:
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
            count = large.receive(self._recv_into)
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
        self._paused = _IN_TURN
        try:
            self._received(large.view, exchange)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)
        self._is_serving = False
        if self._out:
            self._flush()

    def _fail(self, error: Exception) -> None:
        _log.error("[%s] the handler failed on a request from %s:%d", self.listener, *self.peer, exc_info=error)
        self.end(f"{type(error).__name__} in the handler", logging.DEBUG)

    def _end_of_stream(self) -> None:
        """The client will send no more. It may still wait for answers: then they leave first, as with Kafka."""
        self._inbox.clear()
        self._paused |= _ENDED
        if self._pending or self._out:
            self._watch(self._interest & ~EPOLLIN)
            self._schedule()
        else:
            self.end(*self._ending)

    def _flush(self) -> None:
        """Sends what is answered; what the socket does not take waits until it does."""
        out = self._out
        if not out:
            return
        first = out[0]
        if len(out) == 1 and type(first) is bytes and not self._interest & EPOLLOUT:
            try:
                sent = self._send(first)
            except BlockingIOError:
                sent = 0
            except OSError as error:
                self.end(error.strerror or str(error), logging.DEBUG)
                return
            if sent == len(first):
                out.clear()
                return
            out[0] = memoryview(first)[sent:]
            self._watch(self._interest | EPOLLOUT)
        if not self._interest & EPOLLOUT:
            self._write()
        if out and (len(out) > _UNREAD_PIECES_MAX or self._outbox.unread_bytes > self._unread_bytes_max):
            self._paused |= _UNREAD

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
        if not outbox.pieces:
            self._watch(self._interest & ~EPOLLOUT)
            self._paused &= ~_UNREAD
        else:
            self._watch(self._interest | EPOLLOUT)
            if outbox.unread_bytes <= self._unread_bytes_max and len(outbox.pieces) <= _UNREAD_PIECES_MAX:
                self._paused &= ~_UNREAD

    def _schedule(self) -> None:
        """Goes on at the end of the round, when no handler and no answer is under way."""
        if not self._paused & (_SCHEDULED | _CLOSED):
            self._paused |= _SCHEDULED
            self._poller.at_round_end(self._catch_up)

    def _catch_up(self) -> None:
        """Sends late answers, and takes up reading if nothing speaks against it any more."""
        self._paused &= ~_SCHEDULED
        if self._out and not self._paused & _CLOSED:
            self._flush()
        if self._paused & _ENDED and not self._out and not self._pending:
            self.end(*self._ending)
        held = self._inbox.held
        if held is not None and not self._paused:
            self._serve(held, self._inbox.held_at, held.nbytes)
        if not self._paused and not self._interest & EPOLLIN:
            self._watch(self._interest | EPOLLIN)

    def _release_answers(self) -> None:
        """The oldest exchange is answered: so may be those behind it, which have waited for it."""
        pending = self._pending
        while pending:
            first = pending[0]
            if first.pieces is None:
                break
            pending.popleft()
            self._out += first.pieces
            first.pieces = GONE
        self._schedule()
        if len(pending) < self._exchanges_max:
            self._paused &= ~_CROWDED

    def _end_throttle(self) -> None:
        self._throttle_timer = None
        self._paused &= ~_THROTTLED
        self._schedule()

    def _wait_for_memory(self) -> None:
        self._paused |= _NO_MEMORY
        self._poller.memory.wait(self, self._end_wait_for_memory)
        self._inbox.disclaim()

    def _end_wait_for_memory(self) -> None:
        self._paused &= ~_NO_MEMORY
        self._schedule()

    def _watch(self, interest: int) -> None:
        """Tells the poller what is of interest."""
        if interest != self._interest and not self._paused & _CLOSED:
            self._interest = interest
            self._poller.modify(self._fd, interest)

    def _bury(self) -> None:
        self._sock.close()
        self._owner.forget(self)
