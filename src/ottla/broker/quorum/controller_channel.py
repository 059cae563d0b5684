"""The way from a broker to the active controller, wherever that is: in this process or across the network.

Whoever asks gets one answer. While nobody is the controller, while the one that was asked is it no more, or while it
is out of reach, a request waits and is sent again, until its own time is up. What goes across the network may thereby
be carried out twice: the controller's operations are made for that, by epochs and by names.

A client that is told of a change sees it at the broker that told it: the answer of a controller elsewhere is kept back
until this node's own image holds what its log holds by then. The change itself is nearly always in there, since the
leader sends records out before a majority holds them.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.broker.quorum.controller_request import Done, Errand, Forwarding, LocalController, OwnRequest
from ottla.broker.quorum.quorum_network import Peer
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import (
    ApiError,
    DecodeError,
    NotControllerError,
    RequestTimedOutError,
    UnknownServerError,
    UnsupportedVersionError,
)
from ottla.raft.identity import Node

if TYPE_CHECKING:
    from ottla.broker.request.request_context import RequestContext

FORWARD_TIMEOUT_MS: Final = 60_000
"""How long a client's request looks for a controller, as in Kafka."""
RETRY_INTERVAL_MS: Final = 50
LEVEL_TIMEOUT_MS: Final = 500
"""How long an answer is kept back at the most: a node that lags behind answers all the same."""


class _Attempt:
    """An errand that is under way, and until when."""

    __slots__ = ("errand", "expiry_s", "is_finished", "timer")

    def __init__(self, errand: Errand, expiry_s: float) -> None:
        self.errand = errand
        self.expiry_s = expiry_s
        self.is_finished = False
        self.timer: asyncio.TimerHandle | None = None

    def finish(self, answer: Response | ApiError) -> None:
        if not self.is_finished:
            self.is_finished = True
            if self.timer is not None:
                self.timer.cancel()
            self.errand.finish(answer)


class ControllerChannel:
    """Sends requests to the active controller, and finds it again when it moves. Loop thread only."""

    def __init__(
        self,
        own_id: int,
        find: Callable[[], Node | None],
        connect: Callable[[Node], Peer],
        *,
        local: LocalController | None = None,
        request_timeout_ms: int = 30_000,
    ) -> None:
        """`find` tells who leads the quorum and where; `local` is the controller of this process, if it has one."""
        self._own_id = own_id
        self._find = find
        self._connect = connect
        self._local = local
        self._request_timeout_ms = request_timeout_ms
        self._loop = asyncio.get_running_loop()
        self._peer: tuple[Node, Peer] | None = None
        self._waiting: list[_Attempt] = []
        self._retry: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.when_level: Callable[[Callable[[], None]], None] = _at_once
        """Calls once the image of this node holds what its log holds now; set by a node that has an image."""

    @property
    def active_controller_id(self) -> int | None:
        """The node that decides now, as far as known."""
        node = self._find()
        return None if node is None else node.id

    def send(self, request: Request, done: Done, *, timeout_ms: int) -> None:
        """Sends one of this broker's own requests; `done` hears the answer or the refusal, once.

        An answer whose error is one of the whole request comes as that error. It may come before this returns.
        """
        self._begin(OwnRequest(request, done), timeout_ms)

    def forward(self, context: "RequestContext", request: Request) -> None:
        """Has the controller carry out a client's request in the client's name, and answers the client."""
        self._begin(Forwarding(context, request), FORWARD_TIMEOUT_MS)

    def controller_changed(self) -> None:
        """The leader changed or is gone: requests that wait for one, or were sent to an earlier one, go again."""
        if self._is_closed:
            return
        node = self._find()
        if self._peer is not None and node is not None and self._peer[0] != node:
            # A node that is gone without a word would keep what it was asked until the time is up.
            self._peer[1].close()
            self._peer = None
        if self._waiting:
            self._loop.call_soon(self._ask_waiting)

    def close(self) -> None:
        """Sends nothing any more; requests that wait fail for want of a controller."""
        self._is_closed = True
        if self._retry is not None:
            self._retry.cancel()
        if self._peer is not None:
            self._peer[1].close()
            self._peer = None
        waiting, self._waiting = self._waiting, []
        for attempt in waiting:
            attempt.finish(NotControllerError("This node is shutting down."))

    def _begin(self, errand: Errand, timeout_ms: int) -> None:
        attempt = _Attempt(errand, self._loop.time() + timeout_ms / 1000)
        attempt.timer = self._loop.call_later(timeout_ms / 1000, attempt.finish, RequestTimedOutError())
        self._ask(attempt)

    def _ask(self, attempt: _Attempt) -> None:
        if attempt.is_finished:
            return
        if self._local is not None and self._local.is_active:
            attempt.errand.ask_here(self._local, partial(self._heard, attempt))
            return
        peer = self._reachable()
        if peer is None:
            self._wait(attempt)
            return
        left_ms = int((attempt.expiry_s - self._loop.time()) * 1000)
        timeout_ms = max(min(left_ms, self._request_timeout_ms), 1)
        peer.send(attempt.errand.request(), partial(self._heard_from_peer, attempt), timeout_ms=timeout_ms)

    def _heard_from_peer(self, attempt: _Attempt, answer: Response | Exception) -> None:
        if isinstance(answer, Response):
            self._heard(attempt, answer, is_elsewhere=True)
        elif isinstance(answer, (UnsupportedVersionError, DecodeError)):
            # Nothing that time or another attempt would mend.
            attempt.finish(UnknownServerError(str(answer)))
        else:
            self._wait(attempt)

    def _heard(self, attempt: _Attempt, answer: Response | ApiError, *, is_elsewhere: bool = False) -> None:
        verdict = attempt.errand.judge(answer) if isinstance(answer, Response) else answer
        if isinstance(verdict, NotControllerError):
            self._wait(attempt)
        elif is_elsewhere and attempt.errand.is_for_client:
            self._keep_back(attempt, verdict)
        else:
            attempt.finish(verdict)

    def _keep_back(self, attempt: _Attempt, verdict: Response | ApiError) -> None:
        if attempt.timer is not None:
            attempt.timer.cancel()
        attempt.timer = self._loop.call_later(LEVEL_TIMEOUT_MS / 1000, attempt.finish, verdict)
        self.when_level(partial(attempt.finish, verdict))

    def _reachable(self) -> Peer | None:
        """The connection to the leader; None without one, or while this node leads and has not taken over yet."""
        node = self._find()
        if node is None or self._is_closed:
            return None
        if self._peer is not None:
            if self._peer[0] == node:
                return self._peer[1]
            self._peer[1].close()
        if node.id == self._own_id:
            self._peer = None
            return None
        peer = self._connect(node)
        self._peer = (node, peer)
        return peer

    def _wait(self, attempt: _Attempt) -> None:
        if self._is_closed:
            attempt.finish(NotControllerError("This node is shutting down."))
        elif not attempt.is_finished:
            self._waiting.append(attempt)
            if self._retry is None:
                self._retry = self._loop.call_later(RETRY_INTERVAL_MS / 1000, self._ask_waiting)

    def _ask_waiting(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        waiting, self._waiting = self._waiting, []
        for attempt in waiting:
            self._ask(attempt)


def _at_once(call: Callable[[], None]) -> None:
    call()
