"""The TLS context of a client, from its `ssl.*` settings, or as its user made it."""

import ssl

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.net.tls.context import client_context
from ottla.net.tls.setting import TlsSettings


def tls_context(settings: ClientSettings) -> ssl.SSLContext:
    """The context for all connections of a client. Raises `ConfigError`."""
    given = _given_context(settings)
    return client_context(tls_settings(settings)) if given is None else given


def tls_settings(settings: ClientSettings) -> TlsSettings:
    """The TLS settings of a client or a service."""
    return TlsSettings(
        keystore_type=_type(settings, "ssl.keystore.type"),
        keystore_location=settings.optional_string("ssl.keystore.location"),
        keystore_password=settings.secret("ssl.keystore.password"),
        key_password=settings.secret("ssl.key.password"),
        keystore_key=_secret(settings, "ssl.keystore.key"),
        keystore_certificate_chain=_secret(settings, "ssl.keystore.certificate.chain"),
        truststore_type=_type(settings, "ssl.truststore.type"),
        truststore_location=settings.optional_string("ssl.truststore.location"),
        truststore_password=settings.secret("ssl.truststore.password"),
        truststore_certificates=_secret(settings, "ssl.truststore.certificates"),
        protocols=tuple(settings.list("ssl.enabled.protocols")),
        cipher_suites=tuple(settings.list("ssl.cipher.suites")),
        checks_host_name=settings.string("ssl.endpoint.identification.algorithm").lower() == "https",
    )


def _type(settings: ClientSettings, name: str) -> str | None:
    """Kafka's default, JKS, is never what a Python user meant."""
    return settings.string(name) if settings.is_given(name) else None


def _secret(settings: ClientSettings, name: str) -> str | None:
    return settings.secret(name) if name in settings else None


def _given_context(settings: ClientSettings) -> ssl.SSLContext | None:
    name = "ssl.engine.factory.class"
    found = settings.plugin(name)
    if found is None:
        return None
    if not isinstance(found, ssl.SSLContext) and callable(found):
        found = found()
    if not isinstance(found, ssl.SSLContext):
        raise ConfigError(name, found, "Expected an ssl.SSLContext, or a callable that returns one")
    return found
