"""TLS contexts from settings, for both ends of a connection.

Certificates come as PEM files or text; PKCS#12 needs the package `cryptography`; Java's own JKS can't be read here, and
says how to convert it. A server's certificate is always checked; its host name unless the user switched that off.
"""

import ssl
from collections.abc import Callable
from typing import Final

from ottla.net.tls.name_check import NamingObject
from ottla.net.tls.setting import TlsSettings
from ottla.net.tls.store import KeyStore, key_store, trust_store

_VERSIONS: Final = {
    "TLSv1": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_CERTIFICATE: Final = "-----BEGIN CERTIFICATE-----"
_ENCRYPTED: Final = "ENCRYPTED"
"""Stands in the first line of such a key, or in its headers."""
_MODES: Final = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def client_context(settings: TlsSettings) -> ssl.SSLContext:
    """The client's TLS context. Raises `ConfigError`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.checks_host_name
    context.sslobject_class = NamingObject
    context.verify_mode = ssl.CERT_REQUIRED
    _set_versions(context, settings)
    _set_ciphers(context, settings)
    trusted = trust_store(settings)
    if trusted is None:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    else:
        _trust(context, settings, trusted)
    own = key_store(settings)
    if own is not None:
        _identify(context, settings, own)
    return context


def server_context(settings: TlsSettings) -> ssl.SSLContext:
    """The server's TLS context. Raises `ConfigError`."""
    own = key_store(settings)
    if own is None:
        raise settings.error("ssl.keystore.location", None, "a TLS listener needs a key and its certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = _MODES[settings.client_auth.lower()]
    # Nobody renegotiates but attackers, and a write that waits for a read would wait for ever here.
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    _set_versions(context, settings)
    _set_ciphers(context, settings)
    _identify(context, settings, own)
    trusted = trust_store(settings)
    if trusted is not None:
        _trust(context, settings, trusted)
    elif context.verify_mode is not ssl.CERT_NONE:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
    return context


def _set_versions(context: ssl.SSLContext, settings: TlsSettings) -> None:
    shown = ",".join(settings.protocols)
    if not settings.protocols or not set(settings.protocols) <= _VERSIONS.keys():
        raise settings.error("ssl.enabled.protocols", shown, f"Expected some of {', '.join(_VERSIONS)}")
    versions = sorted(_VERSIONS[version] for version in settings.protocols)
    context.minimum_version, context.maximum_version = versions[0], versions[-1]


def _set_ciphers(context: ssl.SSLContext, settings: TlsSettings) -> None:
    suites = [openssl_name(suite) for suite in settings.cipher_suites]
    # OpenSSL does not let TLS 1.3's suites be chosen this way: all of them are good.
    chosen = [suite for suite in suites if not suite.startswith("TLS_")]
    if not chosen:
        return
    try:
        context.set_ciphers(":".join(chosen))
    except ssl.SSLError:
        shown = ",".join(settings.cipher_suites)
        raise settings.error("ssl.cipher.suites", shown, "OpenSSL knows none of these") from None


def openssl_name(suite: str) -> str:
    """Java names suites as IANA does, OpenSSL differently.

    >>> openssl_name("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"), openssl_name("TLS_AES_128_GCM_SHA256")
    ('ECDHE-RSA-AES256-GCM-SHA384', 'TLS_AES_128_GCM_SHA256')
    """
    if "_WITH_" not in suite:
        return suite
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("AES_", "AES").replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305").replace("_CBC", "")
    exchange = "" if exchange == "RSA" else f"{exchange}-"
    return f"{exchange}{cipher}".replace("_", "-")


def _trust(context: ssl.SSLContext, settings: TlsSettings, store: KeyStore) -> None:
    location = settings.truststore_location
    name = "ssl.truststore.certificates" if location is None else "ssl.truststore.location"
    try:
        context.load_verify_locations(cadata=store.pem)
    except (ssl.SSLError, ValueError) as error:
        raise settings.error(name, location or "...", f"no certificates in PEM can be read from it: {error}") from None


def _identify(context: ssl.SSLContext, settings: TlsSettings, store: KeyStore) -> None:
    location = settings.keystore_location
    name = "ssl.keystore.key" if location is None else "ssl.keystore.location"
    try:
        with store.as_file() as path:
            context.load_cert_chain(path, password=_password(settings))
    except ssl.SSLError as error:
        raise settings.error(name, location or "***", _key_trouble(store.pem, error)) from None


def _key_trouble(pem: str, error: ssl.SSLError) -> str:
    """Why a key and its certificate can't be used, and what helps."""
    if "PRIVATE KEY-----" not in pem:
        return "it holds no private key: put the key beside its certificate"
    if _CERTIFICATE not in pem:
        return "it holds no certificate: put the key's certificate beside it, and those of the authorities between"
    if error.reason == "KEY_VALUES_MISMATCH":
        return (
            "the key is not that of the first certificate: the key's own certificate comes first, then that of the "
            "authority that signed it, and so on"
        )
    if _ENCRYPTED in pem:
        return "its key can't be decrypted: is ssl.key.password right?"
    return f"its key or its certificates can't be read: {error.reason or error}"


def _password(settings: TlsSettings) -> Callable[[], str]:
    """Without this, OpenSSL would ask the terminal."""

    def answer() -> str:
        if settings.key_password is None:
            raise settings.error("ssl.key.password", None, "the key is encrypted, so its password is needed")
        return settings.key_password

    return answer
