"""Begins the exchange of a mechanism with what the settings say: user and password, tokens, Kerberos' tickets.

Clients use it, and nodes that log in to other nodes. Nothing is kept between two log-ins but a token that is still
good: who changes a password or a keytab need not start anything again.
"""

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeAlias

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.client.security.token_source import TokenSource
from ottla.net.errors import LoginFailedError
from ottla.net.kerberos.place import KerberosLogin, place_of, service_of, use_configuration
from ottla.net.sasl.client_login import ClientExchange
from ottla.net.sasl.jaas import JaasConfig
from ottla.net.sasl.oauthbearer import oauthbearer_exchange
from ottla.net.sasl.plain import plain_exchange
from ottla.net.sasl.scram import MECHANISMS as SCRAM_MECHANISMS
from ottla.net.sasl.scram import ScramLogin, scram_exchange

Begin: TypeAlias = Callable[[str], Awaitable[ClientExchange]]
"""Begins a log-in to a host. Raises `LoginFailedError`, `AuthenticationFailedError`, or `NetworkError`."""

CLIENT_MECHANISMS: Final = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER", "GSSAPI")
_HANDLER: Final = "sasl.client.callback.handler.class"
_SERVICE: Final = "sasl.kerberos.service.name"
_EXTENSION: Final = "extension_"


class Credentials(NamedTuple):
    """A user and a password."""

    username: str
    password: str


def beginning(settings: ClientSettings, mechanism: str, jaas: JaasConfig) -> Begin:
    """A factory of log-ins by a mechanism; `jaas` is its login module. Raises `ConfigError`."""
    if mechanism == "OAUTHBEARER":
        return _with_token(settings, jaas)
    if mechanism == "GSSAPI":
        return _with_ticket(settings, jaas)
    find = _finder(settings, jaas)

    async def begin(_host: str) -> ClientExchange:
        credentials = await find()
        if mechanism == "PLAIN":
            return plain_exchange(*credentials)
        is_token = jaas.options.get("tokenauth", "").lower() == "true"
        return scram_exchange(ScramLogin(mechanism, *credentials, is_token=is_token))

    return begin


def _with_token(settings: ClientSettings, jaas: JaasConfig) -> Begin:
    source = TokenSource(settings, jaas.options)
    extensions = {
        name.removeprefix(_EXTENSION): value for name, value in jaas.options.items() if name.startswith(_EXTENSION)
    }

    async def begin(_host: str) -> ClientExchange:
        return oauthbearer_exchange(await source.token(), extensions)

    return begin


def _with_ticket(settings: ClientSettings, jaas: JaasConfig) -> Begin:
    use_configuration(os.environ)
    try:
        place = place_of(jaas.options)
    except ValueError as error:
        if not settings.is_given("sasl.mechanism"):
            raise ConfigError("sasl.mechanism", "GSSAPI (Kafka's default)", str(error)) from None
        raise ConfigError("sasl.jaas.config", None, str(error)) from None
    service = settings.optional_string(_SERVICE)
    try:
        login = KerberosLogin(place, service_of(service, jaas.options))
    except ValueError as error:
        raise ConfigError(_SERVICE, service, str(error)) from None
    try:
        from ottla.net.kerberos.login import begin_kerberos
    except ImportError:
        reason = "it needs the package gssapi: pip install 'ottla[gssapi]'"
        raise ConfigError("sasl.mechanism", "GSSAPI", reason) from None
    return lambda host: begin_kerberos(login, host)


def _finder(settings: ClientSettings, jaas: JaasConfig) -> Callable[[], Awaitable[Credentials]]:
    """A callable that finds user and password, for each log-in."""
    handler = settings.plugin(_HANDLER)
    if callable(handler):
        return lambda: _asked(handler)
    username = settings.optional_string("sasl.username") or jaas.options.get("username")
    password = settings.secret("sasl.password") or jaas.options.get("password")
    if username is None or password is None:
        raise ConfigError("sasl.username", username, "sasl.username and sasl.password are needed, or sasl.jaas.config")
    known = Credentials(username, password)

    async def find() -> Credentials:
        return known

    return find


async def _asked(handler: Callable[[], object]) -> Credentials:
    """Asks the user's code; what is not a coroutine may block, so it has a thread."""
    try:
        found = await handler() if inspect.iscoroutinefunction(handler) else await asyncio.to_thread(handler)
    except Exception as error:  # users' code: its trouble is the log-in's
        raise LoginFailedError(f"{_HANDLER} raised {type(error).__name__}: {error}") from error
    if not isinstance(found, tuple) or len(found) != len(Credentials._fields):
        raise LoginFailedError(f"{_HANDLER} returned {type(found).__name__}, where a user and a password were expected")
    return Credentials(*map(str, found))
