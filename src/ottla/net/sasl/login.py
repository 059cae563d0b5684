"""The log-in of one connection, seen by the server (KIP-43, KIP-152, KIP-368): frames in, steps out, no I/O.

ApiVersions may come once, then SaslHandshake chooses the mechanism, then its messages follow: in SaslAuthenticate after
version 1 of the handshake, bare after version 0. What comes out of turn ends the connection. A log-in whose end was
announced may be renewed on the same connection, by the same user and mechanism.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.net.sasl.server import (
    Accepted,
    Identity,
    Mechanisms,
    SaslBrokenError,
    SaslRefusedError,
    ServerExchange,
)
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type
from ottla.protocol.definition import Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_request, encode_response
from ottla.protocol.messages.header import RequestHeader
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

_RENEWED_MS_MIN: Final = 1_000
"""A log-in is not renewed earlier than this after the last one."""


class Turn(Enum):
    """The decision about a frame."""

    PASS = auto()
    """The handler answers it: it has nothing to do with the log-in."""
    ANSWER = auto()
    ACCEPT = auto()
    """The same, and the client is known from now on."""
    REFUSE = auto()
    """The connection ends after a while, with the answer if there is one."""
    END = auto()
    """The connection ends at once, with the answer if there is one."""


class Step(NamedTuple):
    """The decision about a frame, with the answer."""

    turn: Turn
    answer: bytes | None = None
    """The whole frame of it."""
    reason: str = ""
    """Why the connection ends, for the log."""


PASS: Final = Step(Turn.PASS)


@frozen
class LoginRules:
    """The rules for log-ins on a listener."""

    mechanisms: Mechanisms
    session_ms_max: Callable[[str], int]
    """`connections.max.reauth.ms` of a mechanism; 0 for ever."""
    refuse: Callable[[memoryview, ErrorCode], bytes | None]
    """The answer to a request, whatever it is, that was refused with an error; None if it gets none."""


class _State(Enum):
    FIRST = auto()
    HANDSHAKE = auto()
    """The versions are told: nothing but the handshake may follow."""
    EXCHANGE = auto()
    BARE = auto()
    """The same, without SaslAuthenticate around the messages."""
    WRONG_MECHANISM = auto()
    """A renewal by another mechanism: it is told so at the next message."""
    KNOWN = auto()
    OVER = auto()


class Login:
    """One connection's log-in. After a step that ends the connection nothing is asked of it any more."""

    def __init__(self, rules: LoginRules) -> None:
        self._rules: Final = rules
        self._state = _State.FIRST
        self._mechanism = ""
        self._asked_for = ""
        self._exchange: ServerExchange | None = None
        self.identity: Identity | None = None
        """Who it is, once that is known."""
        self.expires_at_ms: int | None = None
        """When the session ends that was announced."""
        self._accepted_at_ms = 0

    @property
    def mechanism(self) -> str:
        """By which the client logs in."""
        return self._mechanism

    @property
    def is_known(self) -> bool:
        """Whether requests are served: not while a log-in is under way."""
        return self._state is _State.KNOWN

    def received(self, frame: memoryview, now_ms: int) -> Step:
        """Takes the next frame. Raises `DecodeError` and its like for one that is malformed."""
        if self._state is _State.BARE:
            return self._bare(bytes(frame), now_ms)
        key = int.from_bytes(frame[:2], "big", signed=True)
        if self._state is _State.KNOWN:
            return self._known(frame, key, now_ms)
        if self._state in (_State.EXCHANGE, _State.WRONG_MECHANISM):
            if key != ApiKey.SASL_AUTHENTICATE:
                return self._out_of_turn(frame, key)
            return self._exchanged(frame, now_ms)
        if key == ApiKey.API_VERSIONS and self._state is _State.FIRST:
            version = int.from_bytes(frame[2:4], "big", signed=True)
            if request_type(ApiKey.API_VERSIONS).valid_versions.includes(version):
                self._state = _State.HANDSHAKE
            return PASS
        if key == ApiKey.SASL_HANDSHAKE:
            return self._handshake(frame)
        return self._end(f"API key {key} before the log-in")

    # Once somebody is known

    def _known(self, frame: memoryview, key: int, now_ms: int) -> Step:
        if key == ApiKey.SASL_HANDSHAKE:
            if self.expires_at_ms is None or now_ms - self._accepted_at_ms < _RENEWED_MS_MIN:
                return PASS
            return self._handshake(frame)
        if self.expires_at_ms is not None and now_ms >= self.expires_at_ms:
            return self._end("its session has ended, and it did not log in again")
        return PASS

    # The handshake

    def _handshake(self, frame: memoryview) -> Step:
        header, request = decode_request(frame)
        assert isinstance(request, SaslHandshakeRequest)
        offered = list(self._rules.mechanisms)
        if request.mechanism not in self._rules.mechanisms:
            self._state = _State.OVER
            refusal = SaslHandshakeResponse(error_code=int(ErrorCode.UNSUPPORTED_SASL_MECHANISM), mechanisms=offered)
            return Step(Turn.END, _framed(refusal, header), f"it wants the mechanism {request.mechanism!r:.60}")
        if self.identity is not None and request.mechanism != self._mechanism:
            self._asked_for, self._state = request.mechanism, _State.WRONG_MECHANISM
        else:
            self._mechanism = request.mechanism
            self._exchange = self._rules.mechanisms[request.mechanism]()
            next(self._exchange)
            self._state = _State.EXCHANGE if header.request_api_version else _State.BARE
        return Step(Turn.ANSWER, _framed(SaslHandshakeResponse(mechanisms=offered), header))

    def _out_of_turn(self, frame: memoryview, key: int) -> Step:
        self._state = _State.OVER
        answer = self._rules.refuse(frame, ErrorCode.ILLEGAL_SASL_STATE)
        return Step(Turn.END, answer, f"API key {key} in the middle of the log-in")

    # The mechanism's messages

    def _exchanged(self, frame: memoryview, now_ms: int) -> Step:
        header, request = decode_request(frame)
        assert isinstance(request, SaslAuthenticateRequest)
        try:
            accepted, message = self._next(bytes(request.auth_bytes))
            if accepted is None:
                return Step(Turn.ANSWER, _framed(SaslAuthenticateResponse(auth_bytes=message), header))
            lifetime_ms = self._accept(accepted.identity, now_ms)
        except SaslRefusedError as error:
            self._state = _State.OVER
            refusal = SaslAuthenticateResponse(
                error_code=int(ErrorCode.SASL_AUTHENTICATION_FAILED), error_message=str(error)
            )
            return Step(Turn.REFUSE, _framed(refusal, header), str(error))
        except SaslBrokenError as error:
            return self._break(error)
        response = SaslAuthenticateResponse(auth_bytes=accepted.message, session_lifetime_ms=lifetime_ms)
        return Step(Turn.ACCEPT, _framed(response, header))

    def _bare(self, message: bytes, now_ms: int) -> Step:
        try:
            accepted, answer = self._next(message)
            if accepted is not None:
                self._accept(accepted.identity, now_ms)
                answer = accepted.message
        except (SaslRefusedError, SaslBrokenError) as error:
            return self._break(error)
        return Step(Turn.ANSWER if accepted is None else Turn.ACCEPT, len(answer).to_bytes(4, "big") + answer)

    def _next(self, message: bytes) -> tuple[Accepted | None, bytes]:
        """The next round of the mechanism: its end, or what it says."""
        if self._state is _State.WRONG_MECHANISM:
            raise SaslRefusedError(
                f"SASL mechanism '{self._asked_for}' requested by client is not supported for re-authentication of "
                f"mechanism '{self._mechanism}'"
            )
        assert self._exchange is not None
        try:
            return None, self._exchange.send(message)
        except StopIteration as ended:
            accepted: Accepted = ended.value
            return accepted, b""

    def _accept(self, identity: Identity, now_ms: int) -> int:
        """The client is known; the milliseconds that its session lasts, 0 for ever."""
        before = self.identity
        if before is not None and before.principal != identity.principal:
            raise SaslRefusedError(
                "Cannot change principals during re-authentication from "
                f"{_dotted(before.principal)}: {_dotted(identity.principal)}"
            )
        self.identity, self._exchange, self._state = identity, None, _State.KNOWN
        self._accepted_at_ms = now_ms
        lifetime_ms = self._rules.session_ms_max(self._mechanism)
        self.expires_at_ms = now_ms + lifetime_ms if lifetime_ms > 0 else None
        if identity.expires_at_ms is not None:
            left_ms = max(0, identity.expires_at_ms - now_ms)
            lifetime_ms = min(lifetime_ms, left_ms) if lifetime_ms > 0 else left_ms
            self.expires_at_ms = now_ms + lifetime_ms
        return max(0, lifetime_ms)

    def _break(self, error: Exception) -> Step:
        self._state = _State.OVER
        return Step(Turn.REFUSE, None, str(error))

    def _end(self, reason: str) -> Step:
        self._state = _State.OVER
        return Step(Turn.END, None, reason)


def _framed(response: Response, header: RequestHeader) -> bytes:
    return encode_response(response, header.request_api_version, correlation_id=header.correlation_id)


def _dotted(principal: str) -> str:
    return principal.replace(":", ".", 1)
