"""The TLS context of https listeners, from the `ssl.*` settings; PEM and PKCS#12 as in the clients."""

import ssl
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.client.security.key_store import read_store

_MODES: Final = {"NONE": ssl.CERT_NONE, "REQUESTED": ssl.CERT_OPTIONAL, "REQUIRED": ssl.CERT_REQUIRED}


def server_context(settings: ClientSettings) -> ssl.SSLContext:
    """A context with our certificate, which asks clients for theirs if the settings say so. Raises `ConfigError`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _identify(context, settings)
    context.verify_mode = _MODES[settings.string("ssl.client.authentication").upper()]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, settings)
    return context


def peer_context(settings: ClientSettings) -> ssl.SSLContext | None:
    """A context for talking to other instances: their authority is that of clients; None is the system's own ones."""
    if settings.optional_string("ssl.truststore.location") is None:
        return None
    context = ssl.create_default_context()
    _trust(context, settings)
    if settings.optional_string("ssl.keystore.location") is not None:
        _identify(context, settings)
    return context


def _identify(context: ssl.SSLContext, settings: ClientSettings) -> None:
    location = settings.string("ssl.keystore.location")
    store = read_store(settings, "keystore", Path(location))
    secret = settings.secret("ssl.key.password") or settings.secret("ssl.keystore.password") or ""
    try:
        with store.as_file() as path:
            context.load_cert_chain(path, password=lambda: secret)
    except ssl.SSLError as error:
        reason = f"no key with its certificate can be read from it: {error.reason or error}"
        raise ConfigError("ssl.keystore.location", location, f"{reason}; is ssl.key.password right?") from None


def _trust(context: ssl.SSLContext, settings: ClientSettings) -> None:
    name = "ssl.truststore.location"
    location = settings.optional_string(name)
    if location is None:
        raise ConfigError(name, None, "clients' certificates can't be checked without it")
    try:
        context.load_verify_locations(cadata=read_store(settings, "truststore", Path(location)).pem)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(name, location, f"no certificates can be read from it: {error}") from None
