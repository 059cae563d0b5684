"""One request on its way through the broker: who sent it, in which version, and how it is answered.

A context belongs to one exchange and is answered once: by the handler's return value, or later with `answer`. All of
it happens on the event loop's thread; what is answered after the client has gone is dropped.
"""

import logging
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from ottla.broker.security.admission import CallerRights
from ottla.broker.security.rights import EVERY_RIGHT, Rights
from ottla.protocol.api_key import ApiKey
from ottla.protocol.codec.piecewise import encode_in_pieces, is_long
from ottla.protocol.codec.plan import StructPlan
from ottla.protocol.definition import Response

if TYPE_CHECKING:
    from ottla.broker.request.route import Route
    from ottla.net.channel import Channel, Exchange

_log = logging.getLogger(__name__)

R = TypeVar("R")

WorkInTurns: TypeAlias = Generator[None, None, Response | None]
"""A request's work in small steps: its response, or None if it was answered already or will be."""
_TURN_S: Final = 0.01
"""For how long one request is worked on before the others have a turn."""

ANONYMOUS: Final = "User:ANONYMOUS"
"""The principal of a listener without authentication."""


def encoded_in_turns(plan: StructPlan, response: Response) -> Generator[None, None, bytes]:
    """The body of a response, however long; at each `yield` others may have a turn."""
    pieces: list[bytes] = []
    for piece in encode_in_pieces(plan, response):
        pieces.append(piece)
        yield
    return b"".join(pieces)


class RequestContext:
    """A request and its sender. Subclasses stand for requests that came in another way, as in an Envelope."""

    __slots__ = ("client_id", "correlation_id", "exchange", "route", "started")

    def __init__(self, route: "Route", correlation_id: int, client_id: str, exchange: "Exchange") -> None:
        self.route = route
        self.correlation_id = correlation_id
        self.client_id = client_id
        """Empty if the client gave none."""
        self.exchange = exchange
        self.started: float | None = None
        """When it was received, in the loop's seconds, if its time is measured."""

    @property
    def api(self) -> ApiKey:
        """Which call it is."""
        return self.route.api

    @property
    def version(self) -> int:
        """The version that it came in, and that the answer goes out in."""
        return self.route.version

    @property
    def connection(self) -> "Channel":
        """The connection that the request came in on."""
        return self.exchange.connection

    @property
    def listener(self) -> str:
        """The name of the listener that it came through."""
        return self.exchange.connection.listener

    @property
    def principal(self) -> str:
        """The sender's principal, in the form of ACLs."""
        return self.exchange.connection.principal

    @property
    def principal_is_token(self) -> bool:
        """Whether the sender logged in with a delegation token."""
        return self.exchange.connection.principal_is_token

    @property
    def rights(self) -> Rights:
        """The sender's rights."""
        admission = self.route.admission
        if admission is None:
            return EVERY_RIGHT
        return CallerRights(admission, admission.caller_of(self.exchange.connection), self.route.api)

    @property
    def client_host(self) -> str:
        """The sender's address."""
        return self.exchange.connection.peer[0]

    @property
    def is_controller_listener(self) -> bool:
        """Whether it came through a listener that serves controllers."""
        return self.route.is_controller

    @property
    def fetch_throttle_ms(self) -> int:
        """The wait that a client's quota demands before a fetch reads anything."""
        return 0

    def fetch_bytes_max(self, asked: int) -> int:
        """The part of a fetch's size that its client's quota allows now."""
        return asked

    def exempt_from_quotas(self) -> None:
        """The request turned out to be another node's: no quota is for it."""

    def answer(self, response: Response) -> None:
        """Sends the response; one that is long is encoded in turns with others."""
        if self.route.may_be_long and is_long(self.route.response_plan, response):
            self.in_turns(self._encode_long(response))
            return
        self.exchange.answer(self.route.encode(self.correlation_id, response))
        if self.started is not None:
            self.route.measure(self.started)

    def answer_encoded(self, body: bytes) -> None:
        """Sends a response whose body, without the header, is at hand."""
        self.exchange.answer(self.route.frame(self.correlation_id, body))
        if self.started is not None:
            self.route.measure(self.started)

    def _encode_long(self, response: Response) -> WorkInTurns:
        body = yield from encoded_in_turns(self.route.response_plan, response)
        self.answer_encoded(body)
        return None

    def no_answer(self) -> None:
        """Ends a request whose client expects no answer: Produce with acks=0."""
        self.exchange.no_answer()
        if self.started is not None:
            self.route.measure(self.started)

    def close(self, reason: str) -> None:
        """Closes the connection, which is how Kafka refuses what it cannot answer."""
        self.exchange.close(reason)

    def in_turns(self, work: WorkInTurns) -> Response | None:
        """The response that `work` returns; None if that takes long: then it goes on after the others, and is answered.

        At each `yield` of the work others may have a turn, and the cluster may be another one afterwards.
        """
        time = self.route.time
        end = time() + _TURN_S
        try:
            next(work)
            while time() < end:
                next(work)
        except StopIteration as finished:
            response: Response | None = finished.value
            return response
        self.exchange.after_others(partial(self.guarded(self._take_turn), work))
        return None

    def _take_turn(self, work: WorkInTurns) -> None:
        if self.exchange.is_done:
            return
        response = self.in_turns(work)
        if response is not None:
            self.answer(response)

    def guarded(self, done: Callable[[R], None]) -> Callable[[R], None]:
        """`done`, for those who call it later, when something has happened: mostly in the middle of another's request.

        The pipeline's last resort for the second half of a request: a mistake in it ends this request's connection,
        and is not taken for one of the request that set it off, which may have been carried out already.
        """

        def call(outcome: R) -> None:
            try:
                done(outcome)
            except Exception as error:  # noqa: BLE001 - see above
                name, version, connection = self.api.name, self.version, self.connection.id
                _log.error("unexpected error at the end of %s v%d from %s", name, version, connection, exc_info=error)
                self.close(f"{type(error).__name__} at the end of {name}")

        return call
