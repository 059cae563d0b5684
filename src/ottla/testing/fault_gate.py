"""Stands before a broker's pipeline and commits the faults that were asked for.

Rules come from any thread; everything else happens on the loop's. With no rule a request costs one look at a flag.
"""

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ottla.broker.request.refusal import refuse
from ottla.net.channel import Exchange
from ottla.net.handler import FrameHandler
from ottla.net.piece import Piece
from ottla.protocol.errors import ApiError, DecodeError, ErrorCode, error_for
from ottla.protocol.frame import decode_request, encode_response
from ottla.testing.fault import FaultKind, FaultRule
from ottla.testing.topic_request import CLIENT_ID

if TYPE_CHECKING:
    import asyncio

    from ottla.net.channel import Channel

_HEAD: Final = struct.Struct(">hhih")
_REASON: Final = "a test wants it"


class ActiveFault:
    """A rule and how often it was followed."""

    __slots__ = ("hits", "rule")

    def __init__(self, rule: FaultRule) -> None:
        self.rule = rule
        self.hits = 0

    def meets(self, api: int, client_id: bytes) -> bool:
        """Whether it is for such a request, and not used up."""
        rule = self.rule
        return (
            rule.api == api
            and (rule.count is None or self.hits < rule.count)
            and (rule.client_id is None or rule.client_id.encode() == client_id)
        )


class LostAnswerExchange(Exchange):
    """Closes the connection of a request in the place of its answer."""

    __slots__ = ("_of",)

    def __init__(self, of: Exchange) -> None:
        super().__init__(of.connection)
        self._of = of

    @property
    def is_done(self) -> bool:
        """Whether the request that it stands for is done."""
        return self._of.is_done

    def answer(self, pieces: Iterable[Piece]) -> None:
        """Says nothing."""
        self._of.close(_REASON)

    def no_answer(self) -> None:
        """Nothing was to be said."""
        self._of.close(_REASON)

    def proceed(self) -> None:
        """Lets nothing pass that would be answered before the end."""


class FaultGate:
    """A `FrameHandler` before another."""

    def __init__(self, loop: "asyncio.AbstractEventLoop") -> None:
        self._loop: Final = loop
        self._target: FrameHandler | None = None
        self._faults: list[ActiveFault] = []
        self._connections: Final[set[Channel]] = set()
        self._is_cut = False
        self._is_meddling = False

    def guard(self, target: FrameHandler) -> FrameHandler:
        """Stands before `target` from now on."""
        self._target = target
        return self

    def add(self, rule: FaultRule) -> ActiveFault:
        """Follows a rule from now on."""
        fault = ActiveFault(rule)
        self._faults = [*self._faults, fault]
        self._is_meddling = True
        return fault

    def clear(self) -> None:
        """Removes all faults."""
        self._faults = []
        self._is_meddling = self._is_cut

    def cut(self) -> None:
        """Closes all connections and refuses new ones."""
        self._is_cut = self._is_meddling = True
        for connection in list(self._connections):
            connection.close("the broker was killed")

    def connected(self, connection: "Channel") -> None:
        """A client came."""
        assert self._target is not None
        self._connections.add(connection)
        self._target.connected(connection)
        if self._is_cut:
            connection.close("the broker was killed")

    def disconnected(self, connection: "Channel") -> None:
        """A client went."""
        assert self._target is not None
        self._connections.discard(connection)
        self._target.disconnected(connection)

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        """A request came."""
        assert self._target is not None
        if not self._is_meddling or not self._meddle(frame, exchange):
            self._target.received(frame, exchange)

    def _meddle(self, frame: memoryview, exchange: Exchange) -> bool:
        """Whether the request is dealt with."""
        if self._is_cut:
            return True
        fault = self._find(frame)
        return fault is not None and self._commit(fault, frame, exchange)

    def _find(self, frame: memoryview) -> ActiveFault | None:
        if len(frame) < _HEAD.size:
            return None
        api, _, _, length = _HEAD.unpack_from(frame)
        client_id = bytes(frame[_HEAD.size : _HEAD.size + max(length, 0)])
        if client_id == CLIENT_ID.encode():
            return None
        return next((fault for fault in self._faults if fault.meets(api, client_id)), None)

    def _commit(self, fault: ActiveFault, frame: memoryview, exchange: Exchange) -> bool:
        assert self._target is not None
        rule = fault.rule
        fault.hits += 1
        match rule.kind:
            case FaultKind.DROP:
                pass
            case FaultKind.DELAY:
                self._loop.call_later(rule.delay_s, self._go_on, bytearray(frame), exchange)
            case FaultKind.DISCONNECT:
                exchange.close(_REASON)
            case FaultKind.LOSE_ANSWER:
                self._target.received(frame, LostAnswerExchange(exchange))
            case FaultKind.ERROR:
                return _refuse(frame, exchange, error_for(ErrorCode(rule.error)))
        return True

    def _go_on(self, frame: bytearray, exchange: Exchange) -> None:
        if not exchange.is_done and self._target is not None:
            self._target.received(memoryview(frame), exchange)


def _refuse(frame: memoryview, exchange: Exchange, error: ApiError) -> bool:
    """Whether the request could be refused; an unreadable one is left to the target."""
    try:
        header, request = decode_request(frame)
    except (DecodeError, ApiError):
        return False
    version = header.request_api_version
    response = refuse(request, version, error)
    if response is None:
        exchange.close(_REASON)
    else:
        exchange.answer([encode_response(response, version, correlation_id=header.correlation_id)])
    return True
