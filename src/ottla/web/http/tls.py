"""The TLS contexts of https listeners and of those who dial them, from the `ssl.*` settings of a service."""

import ssl

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.net.tls import context as tls
from ottla.net.tls.setting import TlsSettings


def server_context(settings: ClientSettings) -> ssl.SSLContext:
    """A context with our certificate, which asks clients for theirs if the settings say so. Raises `ConfigError`."""
    wanted = _settings(settings)
    if wanted.client_auth != "none" and wanted.truststore_location is None:
        raise ConfigError("ssl.truststore.location", None, "clients' certificates can't be checked without it")
    return tls.server_context(wanted)


def peer_context(settings: ClientSettings) -> ssl.SSLContext | None:
    """A context for talking to other instances: their authority is that of clients; None is the system's own ones."""
    wanted = _settings(settings)
    if wanted.truststore_location is None:
        return None
    context = tls.client_context(wanted)
    context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    return context


def _settings(settings: ClientSettings) -> TlsSettings:
    return TlsSettings(
        keystore_type=_type(settings, "ssl.keystore.type"),
        keystore_location=settings.optional_string("ssl.keystore.location"),
        keystore_password=settings.secret("ssl.keystore.password"),
        key_password=settings.secret("ssl.key.password") or settings.secret("ssl.keystore.password") or "",
        truststore_type=_type(settings, "ssl.truststore.type"),
        truststore_location=settings.optional_string("ssl.truststore.location"),
        truststore_password=settings.secret("ssl.truststore.password"),
        protocols=settings.list("ssl.enabled.protocols"),
        cipher_suites=settings.list("ssl.cipher.suites"),
        client_auth=_client_auth(settings),
    )


def _client_auth(settings: ClientSettings) -> str:
    """Whether clients show a certificate, under either of its names."""
    other = settings.string("ssl.client.auth").lower()
    if settings.is_given("ssl.client.authentication") or not other:
        return settings.string("ssl.client.authentication").lower()
    return {"true": "required", "false": "none"}.get(other, other)


def _type(settings: ClientSettings, name: str) -> str | None:
    return settings.string(name) if settings.is_given(name) else None
