"""SASL on a new connection: choose the mechanism, exchange its messages, note when the session ends (KIP-152, KIP-368).

The mechanisms are generators that do no I/O; this carries their messages.
"""

from collections.abc import Awaitable, Callable, Generator
from typing import Final, NamedTuple, TypeAlias

from ottla.base.config import ConfigError
from ottla.base.dice import DICE
from ottla.client.cluster.connecting import Authenticate
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.security.jaas import JaasConfig, parse_jaas
from ottla.client.security.oauthbearer import oauthbearer_exchange
from ottla.client.security.plain import plain_exchange
from ottla.client.security.scram import MECHANISMS as SCRAM_MECHANISMS
from ottla.client.security.scram import ScramLogin, scram_exchange
from ottla.client.security.token_source import TokenSource
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse

Exchange: TypeAlias = Generator[bytes, bytes, None]
_Begin: TypeAlias = Callable[[], Awaitable[Exchange]]

_SUPPORTED: Final = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER")
_TIMEOUT_MS: Final = 60_000
"""The whole set-up has a time-out of its own, and a shorter one."""
_RETIRE_SHARE: Final = (0.85, 0.95)
"""Of a session's life, after which a new connection takes over: as Kafka's clients choose it."""


class _Credentials(NamedTuple):
    username: str
    password: str


def sasl_authenticate(settings: ClientSettings) -> Authenticate:
    """What proves on each new connection who we are. Raises `ConfigError`."""
    mechanism = settings.string("sasl.mechanism")
    if mechanism not in _SUPPORTED:
        known = ", ".join(_SUPPORTED)
        default = "" if settings.is_given("sasl.mechanism") else " (Kafka's default)"
        raise ConfigError("sasl.mechanism", f"{mechanism}{default}", f"Expected one of {known}")
    begin = _beginning(settings, mechanism)

    async def authenticate(connection: NodeConnection) -> None:
        await _handshake(connection, mechanism)
        await _exchange(connection, mechanism, await begin())

    return authenticate


def _beginning(settings: ClientSettings, mechanism: str) -> _Begin:
    secret = settings.secret("sasl.jaas.config")
    jaas = JaasConfig("", {}) if secret is None else parse_jaas(secret)
    if mechanism == "OAUTHBEARER":
        source = TokenSource(settings, jaas.options)
        prefix = "extension_"
        extensions = {
            name.removeprefix(prefix): value for name, value in jaas.options.items() if name.startswith(prefix)
        }

        async def begin_bearer() -> Exchange:
            return oauthbearer_exchange(await source.token(), extensions)

        return begin_bearer
    credentials = _credentials(settings, jaas)

    async def begin() -> Exchange:
        if mechanism == "PLAIN":
            return plain_exchange(*credentials)
        is_token = jaas.options.get("tokenauth", "").lower() == "true"
        return scram_exchange(ScramLogin(mechanism, *credentials, is_token=is_token))

    return begin


def _credentials(settings: ClientSettings, jaas: JaasConfig) -> _Credentials:
    handler = settings.plugin("sasl.client.callback.handler.class")
    if callable(handler):
        return _Credentials(*handler())
    username = settings.optional_string("sasl.username") or jaas.options.get("username")
    password = settings.secret("sasl.password") or jaas.options.get("password")
    if username is None or password is None:
        raise ConfigError("sasl.username", username, "sasl.username and sasl.password are needed, or sasl.jaas.config")
    return _Credentials(username, password)


async def _handshake(connection: NodeConnection, mechanism: str) -> None:
    response = await connection.ask(SaslHandshakeRequest(mechanism=mechanism), timeout_ms=_TIMEOUT_MS)
    assert isinstance(response, SaslHandshakeResponse)
    if response.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(response.mechanisms)
        raise AuthenticationFailedError(
            f"{connection.node} does not offer {mechanism} but {offered}: set sasl.mechanism to one of these"
        )
    if response.error_code == ErrorCode.ILLEGAL_SASL_STATE:
        raise AuthenticationFailedError(
            f"{connection.node} wants no SASL on this listener: set security.protocol to PLAINTEXT or SSL, "
            "or use the port of its SASL listener"
        )
    if response.error_code != ErrorCode.NONE:
        raise error_for(response.error_code)


async def _exchange(connection: NodeConnection, mechanism: str, exchange: Exchange) -> None:
    message: bytes | None = next(exchange)
    while message is not None:
        response = await connection.ask(SaslAuthenticateRequest(auth_bytes=message), timeout_ms=_TIMEOUT_MS)
        assert isinstance(response, SaslAuthenticateResponse)
        if response.error_code != ErrorCode.NONE:
            said = response.error_message or str(error_for(response.error_code))
            raise AuthenticationFailedError(f"{connection.node} refused {mechanism}: {said}{_advice(mechanism)}")
        connection.retire_after(response.session_lifetime_ms * DICE.uniform(*_RETIRE_SHARE))
        try:
            message = exchange.send(response.auth_bytes)
        except StopIteration:
            message = None
        except AuthenticationFailedError as error:
            raise AuthenticationFailedError(f"{connection.node}: {error}") from None


def _advice(mechanism: str) -> str:
    """What the user can do; a broker does not tell which of the two is wrong."""
    if mechanism == "OAUTHBEARER":
        return ""
    hint = "" if mechanism == "PLAIN" else f", and whether the user was created for {mechanism}"
    return f"; check sasl.username and sasl.password{hint}"
