"""SASL of a client: what the settings say it logs in with, and the messages of `net.sasl` over its connections."""

import os
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

from ottla.base.config import ConfigError
from ottla.base.dice import DICE
from ottla.client.cluster.connecting import Authenticate
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.security.token_source import TokenSource
from ottla.net.errors import LoginFailedError, LoginRefusedError
from ottla.net.sasl.client_login import RETIRE_SHARE, ClientExchange, login_steps
from ottla.net.sasl.jaas import JaasConfig, parse_jaas
from ottla.net.sasl.jaas_file import is_for, sections_of_environment
from ottla.net.sasl.oauthbearer import oauthbearer_exchange
from ottla.net.sasl.plain import plain_exchange
from ottla.net.sasl.scram import MECHANISMS as SCRAM_MECHANISMS
from ottla.net.sasl.scram import ScramLogin, scram_exchange

_Begin: TypeAlias = Callable[[], Awaitable[ClientExchange]]

_SUPPORTED: Final = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER")
_SECTION: Final = "KafkaClient"
_TIMEOUT_MS: Final = 60_000
"""The whole set-up has a time-out of its own, and a shorter one."""


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
        steps = login_steps(mechanism, await begin())
        request = next(steps)
        try:
            while True:
                request = steps.send(await connection.ask(request, timeout_ms=_TIMEOUT_MS))
        except StopIteration as done:
            # The session ends with it (KIP-368).
            connection.retire_after(done.value * DICE.uniform(*RETIRE_SHARE))
        except LoginRefusedError as error:
            raise AuthenticationFailedError(f"{connection.node} {error}") from None
        except LoginFailedError as error:
            raise AuthenticationFailedError(f"{connection.node}: {error}") from None

    return authenticate


def _beginning(settings: ClientSettings, mechanism: str) -> _Begin:
    secret = settings.secret("sasl.jaas.config")
    jaas = _of_file(settings, mechanism) if secret is None else parse_jaas(secret)
    if mechanism == "OAUTHBEARER":
        source = TokenSource(settings, jaas.options)
        prefix = "extension_"
        extensions = {
            name.removeprefix(prefix): value for name, value in jaas.options.items() if name.startswith(prefix)
        }

        async def begin_bearer() -> ClientExchange:
            return oauthbearer_exchange(await source.token(), extensions)

        return begin_bearer
    credentials = _credentials(settings, jaas)

    async def begin() -> ClientExchange:
        if mechanism == "PLAIN":
            return plain_exchange(*credentials)
        is_token = jaas.options.get("tokenauth", "").lower() == "true"
        return scram_exchange(ScramLogin(mechanism, *credentials, is_token=is_token))

    return begin


def _of_file(settings: ClientSettings, mechanism: str) -> JaasConfig:
    """What the file says that Java's tools would be started with, for those who set neither user nor module."""
    if settings.optional_string("sasl.username") is None:
        for entry in sections_of_environment(os.environ).get(_SECTION, ()):
            if is_for(entry, mechanism):
                return entry
    return JaasConfig("", {})


def _credentials(settings: ClientSettings, jaas: JaasConfig) -> _Credentials:
    handler = settings.plugin("sasl.client.callback.handler.class")
    if callable(handler):
        return _Credentials(*handler())
    username = settings.optional_string("sasl.username") or jaas.options.get("username")
    password = settings.secret("sasl.password") or jaas.options.get("password")
    if username is None or password is None:
        raise ConfigError("sasl.username", username, "sasl.username and sasl.password are needed, or sasl.jaas.config")
    return _Credentials(username, password)
