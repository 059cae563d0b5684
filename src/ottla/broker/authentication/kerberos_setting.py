"""Kerberos as a listener's settings describe it: the keys that tickets are checked with, and whom they name."""

import logging
import os
from collections.abc import Callable
from typing import Final

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.kerberos.place import Place, place_of, use_configuration
from ottla.net.sasl.gssapi import MECHANISM, GssFailedError, gssapi_server
from ottla.net.sasl.jaas import JaasConfig
from ottla.net.sasl.kerberos_rule import local_name, parse_rules
from ottla.net.sasl.server import ServerExchange

_log = logging.getLogger(__name__)

_RULES: Final = "sasl.kerberos.principal.to.local.rules"


def accepts_tickets(settings: ListenerSettings, entry: JaasConfig) -> Callable[[], ServerExchange]:
    """A factory of the server's side of exchanges. Raises `ConfigError`, also where the package is missing."""
    place = _place(settings, entry)
    name_user = _namer(settings)
    try:
        from ottla.net.kerberos.credential import Acceptor

        acceptor = Acceptor(place)
    except ImportError:
        raise _no_package(settings) from None
    except GssFailedError as error:
        shown = f"keyTab={place.keytab} principal={place.principal}"
        raise ConfigError(_key(settings), shown, f"no key to check tickets with: {error}") from None
    return lambda: gssapi_server(acceptor.context(), name_user)


def _place(settings: ListenerSettings, entry: JaasConfig) -> Place:
    use_configuration(os.environ)
    try:
        return place_of(entry.options)
    except ValueError as error:
        raise ConfigError(_key(settings), None, str(error)) from None


def _namer(settings: ListenerSettings) -> Callable[[str], str]:
    items = settings.mechanism_value(MECHANISM, _RULES)
    assert isinstance(items, tuple)
    try:
        rules = parse_rules(items)
    except ValueError as error:
        raise ConfigError(f"{settings.prefix}{_RULES}", ",".join(items), str(error)) from None

    def name_user(principal: str) -> str:
        from ottla.net.kerberos.credential import default_realm

        try:
            return local_name(principal, rules, default_realm())
        except ValueError as error:
            _log.info("A client's ticket is refused: %s", error)
            raise

    return name_user


def _key(settings: ListenerSettings) -> str:
    return f"{settings.prefix}{MECHANISM.lower()}.sasl.jaas.config"


def _no_package(settings: ListenerSettings) -> ConfigError:
    return ConfigError(
        f"{settings.prefix}sasl.enabled.mechanisms",
        MECHANISM,
        "it needs the package gssapi: pip install 'ottla[gssapi]'",
    )
