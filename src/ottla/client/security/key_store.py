"""Reads files of keys and certificates as PEM text, whatever format they have.

The format is what the setting says if it was given, else what the file begins with: Kafka's default, JKS, is never
what a Python user meant.
"""

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings

_JKS_MAGIC: Final = b"\xfe\xed\xfe\xed"
_PEM_MARK: Final = b"-----BEGIN "


@frozen
class KeyStore:
    """Keys and certificates as PEM."""

    pem: str

    @contextlib.contextmanager
    def as_file(self) -> Iterator[str]:
        """A path that OpenSSL can read the text from, for as long as it takes: in memory where the system can."""
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("keystore")
            path = f"/proc/self/fd/{descriptor}"
        else:
            descriptor, path = tempfile.mkstemp()  # readable by its owner alone
        try:
            os.write(descriptor, self.pem.encode())
            yield path
        finally:
            os.close(descriptor)
            if not path.startswith("/proc/"):
                os.unlink(path)


def read_store(settings: ClientSettings, kind: str, location: Path) -> KeyStore:
    """The `keystore` or `truststore` at `location`. Raises `ConfigError`."""
    name = f"ssl.{kind}.location"
    try:
        raw = location.read_bytes()
    except OSError as error:
        raise ConfigError(name, location, f"the file can't be read: {error.strerror}") from error
    format_name = _format(settings, kind, raw)
    if format_name == "PEM":
        if _PEM_MARK not in raw:
            raise ConfigError(name, location, "the file holds nothing in PEM (-----BEGIN ...)")
        return KeyStore(raw.decode("utf-8", "replace"))
    if format_name == "PKCS12":
        return KeyStore(_from_pkcs12(name, location, raw, settings.secret(f"ssl.{kind}.password")))
    raise ConfigError(name, location, f"a Java key store (JKS) can't be read here; convert it: {_conversion(location)}")


def _format(settings: ClientSettings, kind: str, raw: bytes) -> str:
    name = f"ssl.{kind}.type"
    if settings.is_given(name) and settings.string(name).upper() in ("PEM", "PKCS12"):
        return settings.string(name).upper()
    if raw.startswith(_JKS_MAGIC):
        return "JKS"
    return "PEM" if _PEM_MARK in raw else "PKCS12"


def _conversion(location: Path) -> str:
    store = f"{location.stem}.p12"
    return (
        f"keytool -importkeystore -srckeystore {location} -destkeystore {store} -deststoretype PKCS12 && "
        f"openssl pkcs12 -in {store} -nodes -out {location.stem}.pem"
    )


def _from_pkcs12(name: str, location: Path, raw: bytes, password: str | None) -> str:
    try:
        # Only those who use PKCS#12 need the package, so it is no dependency, and no import for everybody.
        serialization: Any = importlib.import_module("cryptography.hazmat.primitives.serialization")
        pkcs12: Any = importlib.import_module("cryptography.hazmat.primitives.serialization.pkcs12")
    except ImportError:
        command = f"openssl pkcs12 -in {location} -nodes -out {location.stem}.pem"
        raise ConfigError(
            name, location, f"PKCS#12 needs the package cryptography (pip install ottla[tls]), or PEM: {command}"
        ) from None
    try:
        store = pkcs12.load_pkcs12(raw, None if password is None else password.encode())
    except ValueError as error:
        raise ConfigError(name, location, f"not PKCS#12, or the wrong password: {error}") from None
    pem, parts = serialization.Encoding.PEM, []
    if store.key is not None:
        plain = serialization.NoEncryption()
        parts.append(store.key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    certificates = ([store.cert] if store.cert is not None else []) + list(store.additional_certs)
    parts += [each.certificate.public_bytes(pem) for each in certificates]
    return str(b"".join(parts), "ascii")
