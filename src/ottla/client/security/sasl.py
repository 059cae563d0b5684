"""SASL of a client: what the settings say it logs in with, and the messages of `net.sasl` over its connections."""

import os
from typing import Final

from ottla.base.config import ConfigError
from ottla.client.cluster.connecting import Authenticate
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.security.mechanism import CLIENT_MECHANISMS, Begin, beginning
from ottla.net.errors import LoginFailedError, LoginRefusedError
from ottla.net.sasl.client_login import ClientExchange
from ottla.net.sasl.jaas import JaasConfig, parse_jaas
from ottla.net.sasl.jaas_file import is_for, sections_of_environment

_SECTION: Final = "KafkaClient"


def sasl_authenticate(settings: ClientSettings) -> Authenticate:
    """The log-in of new connections. Raises `ConfigError`."""
    mechanism = settings.string("sasl.mechanism")
    if mechanism not in CLIENT_MECHANISMS:
        known = ", ".join(CLIENT_MECHANISMS)
        default = "" if settings.is_given("sasl.mechanism") else " (Kafka's default)"
        raise ConfigError("sasl.mechanism", f"{mechanism}{default}", f"Expected one of {known}")
    begin = login_of(settings, mechanism)

    async def begin_login(host: str) -> tuple[str, ClientExchange]:
        return mechanism, await begin(host)

    async def authenticate(connection: NodeConnection) -> None:
        try:
            await connection.log_in(begin_login)
        except LoginRefusedError as error:
            raise AuthenticationFailedError(f"{connection.node} {error}") from None
        except LoginFailedError as error:
            raise AuthenticationFailedError(f"{connection.node}: {error}") from None

    return authenticate


def login_of(settings: ClientSettings, mechanism: str) -> Begin:
    """A factory of log-ins, with the login module of the settings or of the JAAS file. Raises `ConfigError`."""
    secret = settings.secret("sasl.jaas.config")
    return beginning(settings, mechanism, _of_file(settings, mechanism) if secret is None else parse_jaas(secret))


def _of_file(settings: ClientSettings, mechanism: str) -> JaasConfig:
    """The JAAS file's login module, for settings with neither user nor module."""
    if settings.optional_string("sasl.username") is None:
        for entry in sections_of_environment(os.environ).get(_SECTION, ()):
            if is_for(entry, mechanism):
                return entry
    return JaasConfig("", {})
