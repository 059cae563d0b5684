"""The TLS context of a client, from the `ssl.*` settings.

Certificates come as PEM files or text; PKCS#12 needs the package `cryptography`; Java's own JKS can't be read here, and
says how to convert it. The broker's certificate is always checked; its host name unless the user switched that off.
"""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError
from ottla.client.config.settings import ClientSettings
from ottla.client.security.key_store import KeyStore, read_store

_VERSIONS: Final = {
    "TLSv1": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}


def tls_context(settings: ClientSettings) -> ssl.SSLContext:
    """The context for all connections of a client. Raises `ConfigError`."""
    given = _given_context(settings)
    if given is not None:
        return given
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.string("ssl.endpoint.identification.algorithm").lower() == "https"
    context.verify_mode = ssl.CERT_REQUIRED
    _set_versions(context, settings)
    _set_ciphers(context, settings)
    _trust(context, settings)
    _identify(context, settings)
    return context


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


def _set_versions(context: ssl.SSLContext, settings: ClientSettings) -> None:
    name = "ssl.enabled.protocols"
    unknown = [version for version in settings.list(name) if version not in _VERSIONS]
    if unknown or not settings.list(name):
        raise ConfigError(name, ",".join(settings.list(name)), f"Expected some of {', '.join(_VERSIONS)}")
    versions = sorted(_VERSIONS[version] for version in settings.list(name))
    context.minimum_version, context.maximum_version = versions[0], versions[-1]


def _set_ciphers(context: ssl.SSLContext, settings: ClientSettings) -> None:
    name = "ssl.cipher.suites"
    suites = [_openssl_name(suite) for suite in settings.list(name)]
    # OpenSSL does not let TLS 1.3's suites be chosen this way: all of them are good.
    chosen = [suite for suite in suites if not suite.startswith("TLS_")]
    if not chosen:
        return
    try:
        context.set_ciphers(":".join(chosen))
    except ssl.SSLError:
        raise ConfigError(name, ",".join(settings.list(name)), "OpenSSL knows none of these") from None


def _openssl_name(suite: str) -> str:
    """Java names suites as IANA does, OpenSSL differently.

    >>> _openssl_name("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"), _openssl_name("TLS_AES_128_GCM_SHA256")
    ('ECDHE-RSA-AES256-GCM-SHA384', 'TLS_AES_128_GCM_SHA256')
    """
    if "_WITH_" not in suite:
        return suite
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_", "AES").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305").replace("_CBC", "")
    exchange = "" if exchange == "RSA" else f"{exchange}-"
    return f"{exchange}{cipher}".replace("_", "-")


def _trust(context: ssl.SSLContext, settings: ClientSettings) -> None:
    inline = settings.secret("ssl.truststore.certificates")
    location = settings.optional_string("ssl.truststore.location")
    if inline is None and location is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
        return
    name = "ssl.truststore.certificates" if location is None else "ssl.truststore.location"
    store = KeyStore(pem=inline or "") if location is None else read_store(settings, "truststore", Path(location))
    try:
        context.load_verify_locations(cadata=store.pem)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(name, location or "...", f"no certificates in PEM can be read from it: {error}") from None


def _identify(context: ssl.SSLContext, settings: ClientSettings) -> None:
    key, chain = settings.secret("ssl.keystore.key"), settings.secret("ssl.keystore.certificate.chain")
    location = settings.optional_string("ssl.keystore.location")
    if location is not None:
        name, store = "ssl.keystore.location", read_store(settings, "keystore", Path(location))
    elif key is not None and chain is not None:
        name, store = "ssl.keystore.key", KeyStore(pem=f"{key}\n{chain}\n")
    elif key is not None or chain is not None:
        raise ConfigError("ssl.keystore.key", "***", "ssl.keystore.certificate.chain belongs to it: give both")
    else:
        return
    try:
        with store.as_file() as path:
            context.load_cert_chain(path, password=_password(settings))
    except ssl.SSLError as error:
        reason = f"no key with its certificate can be read from it: {error.reason or error}"
        raise ConfigError(name, location or "***", f"{reason}; is ssl.key.password right?") from None


def _password(settings: ClientSettings) -> Callable[[], str]:
    """Without this, OpenSSL would ask the terminal."""

    def answer() -> str:
        secret = settings.secret("ssl.key.password")
        if secret is None:
            raise ConfigError("ssl.key.password", None, "the key is encrypted, so its password is needed")
        return secret

    return answer
