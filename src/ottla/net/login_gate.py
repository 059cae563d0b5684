"""Stands between a connection and the handler until its client has logged in, and as long as the log-in may end.

A failure is held back for a while, its answer and the close alike; other connections don't wait for that. A log-in
without an end takes the gate away: requests then reach the handler as on any other connection. Where an operator's
class has a say, its part is done on another thread, and the connection waits.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.net.apart import ApartError
from ottla.net.sasl.login import Login, LoginRules, Step, Turn
from ottla.net.security import Recognised
from ottla.protocol.api_key import ApiKey

if TYPE_CHECKING:
    import asyncio

    from ottla.net.channel import Exchange
    from ottla.net.handler import FrameHandler
    from ottla.net.security import ListenerSecurity

_log = logging.getLogger(__name__)


class Guarded(Protocol):
    """The connection that waits for the log-in."""

    principal: str
    principal_is_token: bool
    listener: str
    peer: tuple[str, int]

    @property
    def handler(self) -> "FrameHandler":
        """The handler of the connection's frames once its client is known."""
        ...

    @property
    def loop(self) -> "asyncio.AbstractEventLoop":
        """The loop that it lives in."""
        ...

    @property
    def client_certificate(self) -> bytes | None:
        """The client's certificate, in DER."""
        ...

    def logged_in(self) -> None:
        """Its client is known."""
        ...

    def open_for(self, handler: "FrameHandler") -> None:
        """Requests go straight to the handler from now on."""
        ...

    def later(self, ms: int, callback: Callable[[], None]) -> None:
        """Calls back after a while, unless it is closed before."""
        ...

    def end(self, reason: str, level: int) -> None:
        """Closes at once and says so at a level of the log."""
        ...

    def close_when_answered(self, reason: str) -> None:
        """Closes once all requests are answered."""
        ...


class LoginGate:
    """One connection's gate."""

    __slots__ = ("_connection", "_login", "_security")

    def __init__(self, connection: "Guarded", security: "ListenerSecurity", rules: LoginRules) -> None:
        self._connection: Final = connection
        self._security: Final = security
        self._login: Final = Login(rules)

    def received(self, frame: memoryview, exchange: "Exchange") -> None:
        """A frame has come: as `FrameHandler.received`."""
        apart = self._security.apart
        if apart is None or (self._login.is_known and int.from_bytes(frame[:2], "big") != ApiKey.SASL_HANDSHAKE):
            self._take(self._login.received(frame, self._security.now_ms()), exchange, frame)
            return
        # The next frame waits for the answer, so that only one thread has the log-in.
        kept = memoryview(bytes(frame))
        apart.run(self._connection.loop, partial(self._think, kept), partial(self._thought, exchange, kept))

    def _think(self, frame: memoryview) -> tuple[Step, str | None]:
        """Decides on a frame, and on the client's principal by the operator's class; on another thread."""
        step = self._login.received(frame, self._security.now_ms())
        identity, name = self._login.identity, self._security.name_principal
        if step.turn is not Turn.ACCEPT or identity is None or name is None:
            return step, None
        connection = self._connection
        return step, name(
            Recognised(
                identity.principal,
                connection.peer[0],
                connection.listener,
                self._login.mechanism,
                connection.client_certificate,
            )
        )

    def _thought(self, exchange: "Exchange", frame: memoryview, result: tuple[Step, str | None] | Exception) -> None:
        if exchange.is_done:
            return
        if isinstance(result, tuple):
            step, principal = result
            self._take(step, exchange, frame, principal)
        elif isinstance(result, ApartError):
            self._refuse(exchange, Step(Turn.END, None, str(result)))
        elif isinstance(result, OttlaError):
            self._connection.end(f"{type(result).__name__}: {result}", logging.WARNING)
        else:
            _log.error("[%s] the log-in failed", self._connection.listener, exc_info=result)
            self._connection.end(f"{type(result).__name__} in the log-in", logging.DEBUG)

    def _take(self, step: Step, exchange: "Exchange", frame: memoryview, principal: str | None = None) -> None:
        if step.turn is Turn.PASS:
            self._connection.handler.received(frame, exchange)
        elif step.turn is Turn.ANSWER:
            assert step.answer is not None
            exchange.answer((step.answer,))
        elif step.turn is Turn.ACCEPT:
            self._accept(exchange, step, principal)
        elif step.turn is Turn.REFUSE:
            self._connection.later(self._security.failure_delay_ms, partial(self._refuse, exchange, step))
        else:
            self._refuse(exchange, step)

    def _accept(self, exchange: "Exchange", step: Step, principal: str | None) -> None:
        identity = self._login.identity
        assert identity is not None
        assert step.answer is not None
        connection = self._connection
        connection.principal, connection.principal_is_token = principal or identity.principal, identity.is_token
        _log.debug("[%s] %s logged in from %s:%d", connection.listener, connection.principal, *connection.peer)
        connection.logged_in()
        if self._login.expires_at_ms is None:
            connection.open_for(connection.handler)
        exchange.answer((step.answer,))

    def _refuse(self, exchange: "Exchange", step: Step) -> None:
        if exchange.is_done:
            return
        reason = f"the log-in failed: {step.reason}"
        if step.answer is None:
            exchange.close(reason)
        else:
            exchange.answer((step.answer,))
            self._connection.close_when_answered(reason)
