"""A client's log-in on one connection, first and again before its session ends (KIP-368), requests in flight or not.

What is to be shown, such as a token, is got while requests go on if that takes a while. From the handshake to its end
nothing else may be sent, so that the connection holds requests back: `holds` says when. A connection without traffic is
not renewed, for a node takes a log-in that is late.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from ottla.base.dice import DICE
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.net.sasl.client_login import RETIRE_SHARE, BeginLogin, ClientExchange, login_steps
from ottla.protocol.definition import Request, Response

_log = logging.getLogger(__name__)

_AGAIN_S: Final = 1.0
"""The pause after a token, a ticket or a password could not be got."""
_SHORTEST_S: Final = 1.05
"""No node takes two log-ins within a second."""
_MARGIN_S: Final = 1.0
"""Before the end of a session, where it has that long: a node may be busy with what was asked before."""
_MOMENT_S: Final = 0.1
_NEVER: Final = float("inf")

Ask: TypeAlias = Callable[[Request], Awaitable[Response]]


@frozen
class SessionEvents:
    """The connection's side of a session."""

    renewed: Callable[[], None]
    """Requests may be sent again."""
    failed: Callable[[OttlaError], None]
    """The connection is of no use any more."""


class ClientSession:
    """One connection's session. `log_in` begins it; then `holds` is asked before each request."""

    def __init__(self, loop: asyncio.AbstractEventLoop, begin: BeginLogin, ask: Ask, events: SessionEvents) -> None:
        self.renew_at = _NEVER
        """The loop's time from which on the next request has the log-in renewed."""
        self._loop: Final = loop
        self._begin: Final = begin
        self._ask: Final = ask
        self._events: Final = events
        self._host = ""
        self._known_since = 0.0
        self._ends_at = _NEVER
        self._is_talking = False
        self._task: asyncio.Task[None] | None = None

    async def log_in(self, host: str) -> None:
        """Proves who we are. Raises `LoginFailedError`, or what the connection or the proof's source raises."""
        self._host = host
        await self._talk(*await self._begin(host))

    def holds(self, now: float) -> bool:
        """Whether a request has to wait; begins to log in again if it is time to."""
        if now < self.renew_at:
            return False
        if self._task is None:
            self._is_talking = True
            self._task = self._loop.create_task(self._renew(), name="log in again")
        return self._is_talking or now >= self._ends_at

    def close(self) -> None:
        """The connection is over."""
        if self._task is not None:
            self._task.cancel()

    async def _renew(self) -> None:
        try:
            found = await self._soon_or_later()
            await asyncio.sleep(max(0.0, self._known_since + _SHORTEST_S - self._loop.time()))
            await self._talk(*found)
        except OttlaError as error:
            self._events.failed(error)
        else:
            self._events.renewed()
        finally:
            self._is_talking = False
            self._task = None

    async def _soon_or_later(self) -> tuple[str, ClientExchange]:
        """Fetches the credentials. Requests wait for them a moment, and go on if it takes longer."""
        proof = asyncio.ensure_future(self._proof())
        try:
            await asyncio.wait((proof,), timeout=_MOMENT_S)
            if not proof.done():
                self._is_talking = False
                self._events.renewed()
            return await proof
        finally:
            self._is_talking = True
            proof.cancel()

    async def _proof(self) -> tuple[str, ClientExchange]:
        """Fetches the credentials, and retries for as long as the session lasts."""
        while True:
            try:
                return await self._begin(self._host)
            except OttlaError as error:
                left_s = self._ends_at - self._loop.time()
                if left_s <= 0:
                    raise
                _log.warning("a session ends in %.1f s, and can't be renewed yet: %s", left_s, error)
                await asyncio.sleep(min(_AGAIN_S, left_s))

    async def _talk(self, mechanism: str, exchange: ClientExchange) -> None:
        steps = login_steps(mechanism, exchange)
        request = next(steps)
        asked_at = self._loop.time()
        try:
            while True:
                # The node counts from a moment after this one.
                asked_at = self._loop.time()
                request = steps.send(await self._ask(request))
        except StopIteration as done:
            life_s = done.value / 1000
        self._known_since = self._loop.time()
        if life_s > 0:
            wanted_s = min(life_s * DICE.uniform(*RETIRE_SHARE), life_s - _MARGIN_S)
            self._ends_at, self.renew_at = asked_at + life_s, asked_at + max(wanted_s, min(life_s, _SHORTEST_S))
        else:
            self._ends_at = self.renew_at = _NEVER
