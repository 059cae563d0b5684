"""A node's log-in to other nodes: brokers on the inter-broker listener, controllers on theirs.

The same settings serve both sides: the listener's key store is what the node shows, and the JAAS entry's `username` and
`password` are what it logs in with. Tokens, tickets and users' classes are those of the clients, by the same settings.
"""

from typing import Final

from ottla.base.config import ConfigError
from ottla.base.config_type import Password
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.net.errors import LoginFailedError
from ottla.net.sasl.client_login import BeginLogin, ClientExchange

_PREFIXES: Final = ("sasl.oauthbearer.", "sasl.login.", "sasl.kerberos.")
_HANDLER: Final = "sasl.client.callback.handler.class"


def begin_login(settings: ListenerSettings, mechanism: str, jaas: JaasEntries) -> BeginLogin:
    """A factory of log-ins by a mechanism. Raises `ConfigError` without credentials."""
    # A node without SASL starts sooner, and stays smaller, without the clients.
    from ottla.client.config.admin import ADMIN_KEYS
    from ottla.client.config.settings import ClientSettings
    from ottla.client.errors import AuthenticationFailedError
    from ottla.client.security.mechanism import CLIENT_MECHANISMS, beginning

    if mechanism not in CLIENT_MECHANISMS:
        raise ConfigError("sasl.mechanism", mechanism, f"Expected one of {', '.join(CLIENT_MECHANISMS)}")
    given = {
        name: value
        for name in SERVER_KEYS
        if name in ADMIN_KEYS
        and (name == _HANDLER or name.startswith(_PREFIXES))
        and (value := _given(settings, mechanism, name)) is not None
    }
    try:
        begin = beginning(ClientSettings.of(ADMIN_KEYS, given), mechanism, jaas.find(settings, mechanism))
    except ConfigError as error:
        raise _with_advice(error, settings, mechanism) from None

    async def logged_in(host: str) -> tuple[str, ClientExchange]:
        try:
            return mechanism, await begin(host)
        except AuthenticationFailedError as error:
            raise LoginFailedError(str(error)) from error

    return logged_in


def _given(settings: ListenerSettings, mechanism: str, name: str) -> object:
    """A setting as a client takes it, if the node's file says something else than the default."""
    value = settings.mechanism_value(mechanism, name)
    if value is None or value == SERVER_KEYS[name].default:
        return None
    if isinstance(value, Password):
        return value.secret
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _with_advice(error: ConfigError, settings: ListenerSettings, mechanism: str) -> ConfigError:
    """Names the node's own setting where a client's is wrong."""
    reason = error.reason
    if error.key == "sasl.username":
        reason = f"this node logs in with {mechanism} to others and needs username and password there"
    if error.key in ("sasl.username", "sasl.jaas.config", "sasl.mechanism"):
        return ConfigError(f"{settings.prefix}{mechanism.lower()}.sasl.jaas.config", None, reason)
    return ConfigError(f"{settings.prefix}{error.key}", error.value, reason)
