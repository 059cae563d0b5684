"""Certificates that change while a node runs (KIP-226): what a new one must have, and when there is one.

A certificate may be followed by one that names the same subject and at least the same other names, unless the settings
allow more: a slip of the hand would lock out everybody who checks names. The same path counts as another store when the
file behind it is another.
"""

from pathlib import Path
from typing import Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.tls.certificate import Certificate, CertificateError, first_certificate
from ottla.net.tls.setting import TlsSettings
from ottla.net.tls.store import key_store

_DN_CHANGES: Final = "ssl.allow.dn.changes"
_SAN_CHANGES: Final = "ssl.allow.san.changes"


class TlsState(NamedTuple):
    """The sources of a listener's TLS: equal if nothing has changed."""

    settings: TlsSettings
    files: tuple[tuple[int, int] | None, ...]

    @classmethod
    def of(cls, settings: TlsSettings) -> "TlsState":
        """Reads the present state of the files."""
        return cls(settings, tuple(map(_seen, (settings.keystore_location, settings.truststore_location))))


def own_certificate(settings: TlsSettings) -> Certificate:
    """The subject and names of a listener's certificate. Raises `ConfigError`."""
    name = "ssl.keystore.location" if settings.keystore_location else "ssl.keystore.certificate.chain"
    store = key_store(settings)
    if store is None:
        raise settings.error(name, None, "a TLS listener needs a key and its certificate")
    try:
        return first_certificate(store.pem)
    except CertificateError as error:
        raise settings.error(name, settings.keystore_location or "***", str(error)) from None


def check_successor(settings: ListenerSettings, before: Certificate, after: Certificate) -> None:
    """Raises a `ConfigError` if a certificate may not follow another."""
    name = f"{settings.prefix}ssl.keystore.location"
    if before.subject != after.subject and not settings.boolean(_DN_CHANGES):
        raise ConfigError(
            name,
            settings.text("ssl.keystore.location"),
            f"Keystore DistinguishedName does not match: existing={{DN={before.subject}}}, "
            f"new={{DN={after.subject}}}; {_DN_CHANGES} allows it",
        )
    if not before.other_names <= after.other_names and not settings.boolean(_SAN_CHANGES):
        raise ConfigError(
            name,
            settings.text("ssl.keystore.location"),
            f"Keystore SubjectAltNames do not match: existing={_shown(before)}, new={_shown(after)}; "
            f"{_SAN_CHANGES} allows it",
        )


def _shown(certificate: Certificate) -> str:
    return f"{{{', '.join(sorted(certificate.other_names))}}}"


def _seen(location: str | None) -> tuple[int, int] | None:
    if location is None:
        return None
    try:
        found = Path(location).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
