"""SASL on a new connection from the client's side: choose the mechanism, carry its messages (KIP-152).

Sans I/O: `login_steps` yields requests, is sent their responses, and returns how long the session lasts (KIP-368).
What keeps us out is a `LoginFailedError` that says what to do about it.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Final, TypeAlias

from ottla.net.errors import LoginRefusedError
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

ClientExchange: TypeAlias = Generator[bytes, bytes, None]
"""A mechanism's messages: it yields ours, and is sent the broker's."""
LoginSteps: TypeAlias = Generator[Request, Response, int]
BeginLogin: TypeAlias = Callable[[str], Awaitable[tuple[str, ClientExchange]]]
"""The mechanism's name and a new exchange, for a connection to a host. Raises `LoginFailedError` and `NetworkError`."""

RETIRE_SHARE: Final = (0.85, 0.95)
"""Of a session's life, after which it is renewed: as Kafka's clients choose it."""


def login_steps(mechanism: str, exchange: ClientExchange) -> LoginSteps:
    """The whole log-in; the milliseconds that the session lasts, 0 for ever."""
    answer = yield SaslHandshakeRequest(mechanism=mechanism)
    assert isinstance(answer, SaslHandshakeResponse)
    _check_handshake(answer, mechanism)
    lifetime_ms = 0
    message: bytes | None = next(exchange)
    while message is not None:
        response = yield SaslAuthenticateRequest(auth_bytes=message)
        assert isinstance(response, SaslAuthenticateResponse)
        if response.error_code != ErrorCode.NONE:
            said = response.error_message or str(error_for(response.error_code))
            raise LoginRefusedError(f"refused {mechanism}: {said}{_advice(mechanism)}")
        lifetime_ms = response.session_lifetime_ms
        try:
            message = exchange.send(bytes(response.auth_bytes))
        except StopIteration:
            message = None
    return lifetime_ms


def _check_handshake(response: SaslHandshakeResponse, mechanism: str) -> None:
    if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(response.mechanisms)
        raise LoginRefusedError(f"does not offer {mechanism} but {offered}: set sasl.mechanism to one of these")
    if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        raise LoginRefusedError(
            "wants no SASL on this listener: set security.protocol to PLAINTEXT or SSL, "
            "or use the port of its SASL listener"
        )
    if response.error_code != ErrorCode.NONE:
        raise error_for(response.error_code)


def _advice(mechanism: str) -> str:
    """Advice for the user; a broker does not tell whether name or password is wrong."""
    if mechanism == "OAUTHBEARER":
        return ""
    if mechanism == "GSSAPI":
        return "; its log says why the ticket does not do"
    hint = "" if mechanism == "PLAIN" else f", and whether the user was created for {mechanism}"
    return f"; check sasl.username and sasl.password{hint}"
