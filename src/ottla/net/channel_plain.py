"""The path of nearly every request of a connection: received, cut into frames, handled, answered, sent.

`Connection` adds all that happens less often. The two are apart because this half exists twice, here and compiled in
`_channel.pyx`: a server of small requests spends a third of its time here. The twins do the same in the same order.
"""

import logging
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from select import EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, EPOLLRDHUP
from struct import Struct
from typing import TYPE_CHECKING, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.net.errors import InvalidFrameError
from ottla.net.inbox import Inbox
from ottla.net.outbox import Outbox
from ottla.net.pause import CLOSED, CROWDED, ENDED, IN_TURN, SCHEDULED
from ottla.net.piece import Piece

if TYPE_CHECKING:
    from ottla.net.large_frame import LargeFrame
    from ottla.net.limits import ListenerLimits
    from ottla.net.request_memory import RequestMemory
    from ottla.net.round_sender import RoundSender

_size_at = Struct(">i").unpack_from

GONE: Final[tuple[Piece, ...]] = ()
"""The pieces of an exchange whose answer was handed on, or whose connection is gone."""
_FRAMES_MAX: Final = 128
"""Frames handled in one turn, so that one busy client does not hold up the others."""
_PROBE_BYTES: Final = 4_096
"""Received from a client whose last frame was large: enough to see the next one's size, little to copy."""
_BULKY_BYTES: Final = 8_192
"""Smaller answers leave together; one that is larger, or not plain bytes, before the next frame is handled."""


class Exchange:
    """A request that waits for its answer. Exactly one of `answer`, `no_answer` and `close` ends it.

    Answers leave in the order in which the requests came, whatever the order in which they are given. Everything here
    runs on the loop's thread. What is answered after its connection has gone is dropped without a word.
    """

    __slots__ = ("connection", "holds_up", "pieces")

    def __init__(self, connection: "Channel") -> None:
        self.connection = connection
        self.pieces: Sequence[Piece] | None = None
        """The answer while it waits for earlier ones; None before it is given."""
        self.holds_up = True
        """Whether the connection handles no other request before this one is answered."""

    @property
    def is_done(self) -> bool:
        """Whether it was answered, or can't be any more because its connection is gone."""
        return self.pieces is not None

    def answer(self, pieces: Sequence[Piece]) -> None:
        """Answers with a whole response frame, its size included; leaves once all earlier requests are answered."""
        self.connection.answered(self, pieces)

    def no_answer(self) -> None:
        """Ends the exchange without an answer: Produce with acks=0."""
        self.connection.answered(self, GONE)

    def proceed(self) -> None:
        """Lets the connection handle its next request before this one is answered.

        Without it the next frame waits for this answer, as it does in Apache Kafka.
        """
        if self.holds_up and self.pieces is None:
            self.connection.proceeded(self)

    def after_others(self, callback: Callable[[], None]) -> None:
        """Calls back when all other requests have had a turn, for one that has taken long enough for now."""
        self.connection.after_others(callback)

    def close(self, reason: str) -> None:
        """Closes the connection instead of an answer, logged with `reason`."""
        self.connection.close(reason)


class Rounds(Protocol):
    """The services that a channel needs of its poller."""

    sending: int
    """Counts how often all answers have left."""

    @property
    def view(self) -> memoryview:
        """The buffer for received bytes, before they are cut into frames."""
        ...

    @property
    def memory(self) -> "RequestMemory":
        """The memory that large requests share."""
        ...

    @property
    def answering(self) -> "list[Channel]":
        """The channels with answers for the end of the round."""
        ...

    @property
    def sender(self) -> "RoundSender":
        """Takes small answers, which leave together."""
        ...

    @property
    def now(self) -> float:
        """The time at which the round began."""
        ...

    def at_round_end(self, callback: Callable[[], None]) -> None:
        """Calls back once, when all sockets of the round are served."""
        ...

    def at_next_round(self, callback: Callable[[], None]) -> None:
        """Calls back once, after all other sockets have had a turn."""
        ...

    def finish_sends(self) -> None:
        """Returns when all that was given to the sender has left."""
        ...


class Receiver(Protocol):
    """The receiver of whole frames."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        """As `FrameHandler.received`."""
        ...


class ChannelOwner(Protocol):
    """The services that a channel needs of its listener."""

    @property
    def poller(self) -> Rounds: ...

    @property
    def handler(self) -> Receiver:
        """Who hears of its frames."""
        ...

    @property
    def limits(self) -> "ListenerLimits":
        """What it may take."""
        ...

    def note(self, connection: "Channel") -> float:
        """Notes activity; it need not be called again before the time that it returns."""
        ...


class Channel(ABC):
    """The hot half of a connection, and what handlers may know of the rest."""

    __slots__ = (
        "_exchanges_max",
        "_fd",
        "_inbox",
        "_interest",
        "_is_direct",
        "_is_serving",
        "_note_at",
        "_out",
        "_owner",
        "_paused",
        "_pending",
        "_poller",
        "_received",
        "_request_bytes_max",
        "_sending",
        "_sock",
        # Set by handlers, so it is declared here; the compiled twin leaves it to `Connection` as the other names.
        "session",
    )

    listener: str
    """The listener's name."""
    local: tuple[str, int]
    """The address and port that the client dialled."""
    peer: tuple[str, int]
    """The client's address and port."""
    id: str
    """As Kafka forms it: both ends, and a number."""
    principal: str
    """Who is on the other side, as ACLs name them. Log-in sets it before the handler gets a request."""
    principal_is_token: bool
    """Whether that was proved by a delegation token."""
    session: object | None
    """Free for the handler: what it knows about the client."""

    def __init__(self, owner: ChannelOwner, sock: socket.socket, inbox: Inbox, outbox: Outbox) -> None:
        self._owner: ChannelOwner = owner
        self._poller: Rounds = owner.poller
        self._received = owner.handler.received
        self._sock: Final = sock
        self._fd: Final = sock.fileno()
        self._request_bytes_max = owner.limits.request_bytes_max
        self._exchanges_max: Final = owner.limits.exchanges_max
        self._inbox: Final = inbox
        self._out: Final = outbox.pieces
        self._pending: Final[list[Exchange]] = []
        """Requests without an answer, and those whose answer waits for theirs."""
        self._paused = 0
        """Why frames wait: see `pause`."""
        self._interest = EPOLLIN
        self._is_serving = False
        self._is_direct = False
        """Whether nothing but the connection itself may write to its socket: it encrypts."""
        self._sending = 0
        """`Poller.sending` when an answer was last given to it: while it stands there, that may be on its way."""
        self._note_at = 0.0
        """When the listener wants to hear again that the connection is active."""

    # Requests

    def ready(self, mask: int) -> None:
        """The socket has news: the poller calls."""
        if mask & EPOLLOUT:
            self._write()
            self._catch_up()
        if not mask & ~EPOLLOUT or self._paused & CLOSED:
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
            self._hear_goodbye()
        elif self._paused != SCHEDULED:
            self._watch(self._interest & ~EPOLLIN | EPOLLRDHUP)

    def _read(self) -> None:
        poller, inbox = self._poller, self._inbox
        view, held, start = poller.view, inbox.held, 0
        try:
            if held is not None:
                start = held.nbytes - inbox.held_at
                view[:start] = held[inbox.held_at :]
                count = self._sock.recv_into(view[start:])
            elif poller.memory.is_full:
                self._wait_for_memory()
                return
            elif inbox.expects_large:
                count = self._sock.recv_into(view, _PROBE_BYTES)
            else:
                count = self._sock.recv_into(view)
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
        """Handles the frames from `position` to `end`, has the answers sent, keeps the rest. Only in a round."""
        pending = self._pending
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
                self._paused = IN_TURN
                self._received(view[position + 4 : stop], exchange)  # may be another after each frame: see LoginGate
                position = stop
                if self._paused:
                    break
            else:
                self._paused = SCHEDULED
                self._poller.at_next_round(self._catch_up)
        except OttlaError as error:
            self.end(f"{type(error).__name__}: {error}", logging.WARNING)
        except Exception as error:  # noqa: BLE001 - a bug in a handler costs one connection, not the server
            self._fail(error)
        self._is_serving = False
        out = self._out
        if out:
            if len(out) > 1 and not self._paused & SCHEDULED and not self._interest & EPOLLOUT:
                out[:] = (b"".join(out),)  # type: ignore[arg-type]  # all are small, or it were scheduled
            self._poller.answering.append(self)
        if position < end:
            self._keep(view, position, end)
        else:
            inbox = self._inbox
            inbox.expects_large = False
            if inbox.held is not None:
                inbox.clear()

    # Answers

    def answered(self, exchange: Exchange, pieces: Sequence[Piece]) -> None:
        """An exchange has its answer (`Exchange.answer`)."""
        pending = self._pending
        if exchange.pieces is not None or not pending:
            if self._paused & CLOSED:
                return
            raise RuntimeError("a request is answered once")
        if pending[0] is exchange:
            del pending[0]
            exchange.pieces = GONE
            self._out.extend(pieces)
            if pending or self._paused & CROWDED:
                self._release_answers()
        else:
            exchange.pieces = pieces
            if len(pending) >= self._exchanges_max:
                self._paused |= CROWDED
        if exchange.holds_up:
            exchange.holds_up = False
            self._paused &= ~IN_TURN
        if not self._is_serving or (
            pieces and (len(pieces) > 1 or type(pieces[0]) is not bytes or len(pieces[0]) > _BULKY_BYTES)
        ):
            self._schedule()

    def _release_answers(self) -> None:
        """The oldest exchange is answered: so may be those behind it, which have waited for it."""
        pending = self._pending
        while pending:
            first = pending[0]
            if first.pieces is None:
                break
            del pending[0]
            self._out.extend(first.pieces)
            first.pieces = GONE
        self._schedule()
        if len(pending) < self._exchanges_max:
            self._paused &= ~CROWDED

    def _schedule(self) -> None:
        """Goes on at the end of the round, when no handler and no answer is under way."""
        if not self._paused & (SCHEDULED | CLOSED):
            self._paused |= SCHEDULED
            self._poller.at_round_end(self._catch_up)

    def _catch_up(self) -> None:
        """Sends late answers, and takes up reading if nothing speaks against it any more."""
        self._paused &= ~SCHEDULED
        if self._out and not self._paused & CLOSED:
            self._flush()
        if self._paused & ENDED:
            self._end_if_answered()
        held = self._inbox.held
        if held is not None and not self._paused:
            self._serve(held, self._inbox.held_at, held.nbytes)
        if not self._paused and not self._interest & EPOLLIN:
            self._watch(self._interest | EPOLLIN)

    def _flush(self) -> None:
        """Sends what is answered; what the socket does not take waits until it does."""
        poller = self._poller
        if self._sending == poller.sending:
            poller.finish_sends()
        out = self._out
        if not out:
            return
        first = out[0]
        if len(out) == 1 and type(first) is bytes and not self._interest & EPOLLOUT and not self._is_direct:
            out.clear()
            self._sending = poller.sending
            poller.sender.add(self, self._fd, first)
        else:
            self._flush_directly()

    # What happens less often is `Connection`'s

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether answers can still reach the client."""

    @property
    @abstractmethod
    def is_busy(self) -> bool:
        """Whether a client that is there waits for an answer."""

    @abstractmethod
    def throttle(self, ms: int) -> None:
        """Reads and handles nothing from this client for `ms` milliseconds; answers still leave."""

    @abstractmethod
    def close(self, reason: str) -> None:
        """Closes at once, logged with `reason`."""

    @abstractmethod
    def close_when_answered(self, reason: str) -> None:
        """Reads no more, and closes once all requests are answered and the client has taken the answers."""

    @abstractmethod
    def proceeded(self, exchange: Exchange) -> None:
        """An exchange lets others pass (`Exchange.proceed`)."""

    @abstractmethod
    def after_others(self, callback: Callable[[], None]) -> None:
        """Calls back when the other connections have had a turn (`Exchange.after_others`)."""

    @abstractmethod
    def end(self, reason: str, level: int) -> None:
        """Closes at once and says so at a level of the log."""

    @abstractmethod
    def _fail(self, error: Exception) -> None:
        """The handler has a bug."""

    @abstractmethod
    def _hear_goodbye(self) -> None:
        """The client will send no more, but what it sent before may not be read yet."""

    @abstractmethod
    def _end_of_stream(self) -> None:
        """The client will send no more, and all that it sent is read."""

    @abstractmethod
    def _end_if_answered(self) -> None:
        """Ends the connection, which reads no more, once all answers have left."""

    @abstractmethod
    def _keep(self, view: memoryview, position: int, end: int) -> None:
        """Keeps what is left of a read."""

    @abstractmethod
    def _read_large(self, large: "LargeFrame") -> None:
        """Goes on with a frame that has a buffer of its own."""

    @abstractmethod
    def _wait_for_memory(self) -> None:
        """Reads no more until there is room."""

    @abstractmethod
    def _flush_directly(self) -> None:
        """Sends what can't wait for the end of the round, or is no plain answer."""

    @abstractmethod
    def _write(self) -> None:
        """Writes what the socket takes."""

    @abstractmethod
    def _watch(self, interest: int) -> None:
        """Tells the poller what is of interest."""


def flush_all(channels: list[Channel]) -> None:
    """Sends what is answered on each, and takes it off the list; those behind one that raises stay there."""
    done = 0
    try:
        for channel in channels[:]:
            done += 1
            channel._flush()
    finally:
        del channels[:done]
