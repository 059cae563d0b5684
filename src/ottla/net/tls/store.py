"""Reads files of keys and certificates as PEM text, whatever format they have.

The format is what the setting says if it was given, else what the file begins with: Kafka's default, JKS, is rarely
what was meant.
"""

import contextlib
import importlib
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.net.tls.setting import TlsSettings

_JKS_MAGICS: Final = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
"""Java's own formats, JKS and JCEKS: no library that is kept up reads them."""
_PEM_MARK: Final = b"-----BEGIN "
_PEM_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----")
"""One with headers, of an encrypted key as older openssl wrote it, is left as it is."""
_PEM_COLUMNS: Final = 64


@frozen
class KeyStore:
    """Keys and certificates as PEM."""

    pem: str = field(repr=False)

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


@frozen
class StoreFile:
    """A file as settings name it: `kind` is `keystore` or `truststore`."""

    settings: TlsSettings
    kind: str
    location: Path
    type: str | None
    password: str | None = field(repr=False)

    @property
    def name(self) -> str:
        """The setting that names the file."""
        return f"ssl.{self.kind}.location"

    def error(self, reason: str) -> Exception:
        """The error of the store."""
        return self.settings.error(self.name, self.location, reason)


def key_store(settings: TlsSettings) -> KeyStore | None:
    """The node's or client's own key and certificates; None if there are none. Raises `ConfigError`."""
    key, chain = settings.keystore_key, settings.keystore_certificate_chain
    if settings.keystore_location is not None:
        location = Path(settings.keystore_location)
        return _read(StoreFile(settings, "keystore", location, settings.keystore_type, settings.keystore_password))
    if key is not None and chain is not None:
        return KeyStore(pem=with_lines(f"{key}\n{chain}\n"))
    if key is not None or chain is not None:
        raise settings.error("ssl.keystore.key", "***", "ssl.keystore.certificate.chain belongs to it: give both")
    return None


def trust_store(settings: TlsSettings) -> KeyStore | None:
    """The trusted certificates; None if none are set. Raises `ConfigError`."""
    if settings.truststore_location is not None:
        location = Path(settings.truststore_location)
        return _read(
            StoreFile(settings, "truststore", location, settings.truststore_type, settings.truststore_password)
        )
    inline = settings.truststore_certificates
    return None if inline is None else KeyStore(pem=with_lines(inline))


def with_lines(pem: str) -> str:
    """PEM as OpenSSL reads it. Java also takes it without line ends, and files of settings have it in one line.

    >>> with_lines("-----BEGIN X----- AAAA BBBB -----END X-----")
    '-----BEGIN X-----\\nAAAABBBB\\n-----END X-----\\n'
    """

    def block(found: re.Match[str]) -> str:
        body = "".join(found[2].split())
        lines = [body[at : at + _PEM_COLUMNS] for at in range(0, len(body), _PEM_COLUMNS)]
        return "\n".join((f"-----BEGIN {found[1]}-----", *lines, f"-----END {found[1]}-----\n"))

    return _PEM_BLOCK.sub(block, pem)


def _read(file: StoreFile) -> KeyStore:
    try:
        raw = file.location.read_bytes()
    except OSError as error:
        raise file.error(f"the file can't be read: {error.strerror}") from error
    format_name = _format(file, raw)
    if format_name == "PEM":
        if _PEM_MARK not in raw:
            raise file.error("the file holds nothing in PEM (-----BEGIN ...)")
        return KeyStore(with_lines(raw.decode("utf-8", "replace")))
    if format_name == "PKCS12":
        return KeyStore(_from_pkcs12(file, raw))
    raise file.error(f"a Java key store (JKS) can't be read here; convert it: {_conversion(file)}")


def _format(file: StoreFile, raw: bytes) -> str:
    if raw.startswith(_JKS_MAGICS):
        return "JKS"
    if file.type is not None and file.type.upper() in ("PEM", "PKCS12"):
        return file.type.upper()
    return "PEM" if _PEM_MARK in raw else "PKCS12"


def _conversion(file: StoreFile) -> str:
    """The command, to be typed as it is; it asks for the passwords."""
    store = file.location.with_suffix(".p12")
    words = ["keytool", "-importkeystore", "-srckeystore", str(file.location), "-destkeystore", str(store)]
    command = shlex.join([*words, "-deststoretype", "PKCS12"])
    return f"{command} (then {file.name}={store}, which needs pip install 'ottla[tls]')"


def _from_pkcs12(file: StoreFile, raw: bytes) -> str:
    try:
        # Only those who use PKCS#12 need the package, so it is no dependency, and no import for everybody.
        serialization: Any = importlib.import_module("cryptography.hazmat.primitives.serialization")
        pkcs12: Any = importlib.import_module("cryptography.hazmat.primitives.serialization.pkcs12")
    except ImportError:
        command = f"openssl pkcs12 -in {file.location} -nodes -out {file.location.stem}.pem"
        raise file.error(
            f"PKCS#12 needs the package cryptography (pip install ottla[tls]), or PEM: {command}"
        ) from None
    try:
        store = pkcs12.load_pkcs12(raw, None if file.password is None else file.password.encode())
    except ValueError as error:
        password = f"ssl.{file.kind}.password"
        advice = f"set {password}" if file.password is None else f"is {password} right?"
        raise file.error(f"it is no PKCS#12, or its password is another ({error}): {advice}") from None
    pem, parts = serialization.Encoding.PEM, []
    if store.key is not None:
        plain = serialization.NoEncryption()
        parts.append(store.key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    certificates = ([store.cert] if store.cert is not None else []) + list(store.additional_certs)
    parts += [each.certificate.public_bytes(pem) for each in certificates]
    return str(b"".join(parts), "ascii")
