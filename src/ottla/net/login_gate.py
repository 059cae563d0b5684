"""Stands between a connection and the handler until its client has logged in, and as long as the log-in may end.

A failure is held back for a while, its answer and the close alike; other connections don't wait for that. A log-in
without an end takes the gate away: requests then reach the handler as on any other connection.
"""

import logging
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.net.sasl.login import Login, LoginRules, Step, Turn

if TYPE_CHECKING:
    from ottla.net.exchange import Exchange
    from ottla.net.secure_connection import GuardedConnection
    from ottla.net.security import ListenerSecurity

_log = logging.getLogger(__name__)


class LoginGate:
    """One connection's gate."""

    __slots__ = ("_connection", "_login", "_security")

    def __init__(self, connection: "GuardedConnection", security: "ListenerSecurity", rules: LoginRules) -> None:
        self._connection: Final = connection
        self._security: Final = security
        self._login: Final = Login(rules)

    def received(self, frame: memoryview, exchange: "Exchange") -> None:
        """A frame has come: as `FrameHandler.received`."""
        step = self._login.received(frame, self._security.now_ms())
        if step.turn is Turn.PASS:
            self._connection.handler.received(frame, exchange)
        elif step.turn is Turn.ANSWER:
            assert step.answer is not None
            exchange.answer((step.answer,))
        elif step.turn is Turn.ACCEPT:
            self._accept(exchange, step)
        elif step.turn is Turn.REFUSE:
            self._connection.later(self._security.failure_delay_ms, partial(self._refuse, exchange, step))
        else:
            self._refuse(exchange, step)

    def _accept(self, exchange: "Exchange", step: Step) -> None:
        identity = self._login.identity
        assert identity is not None
        assert step.answer is not None
        connection = self._connection
        connection.principal, connection.principal_is_token = identity.principal, identity.is_token
        _log.debug("[%s] %s logged in from %s:%d", connection.listener, identity.principal, *connection.peer)
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
