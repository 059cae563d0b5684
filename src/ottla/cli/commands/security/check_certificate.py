"""Checks the certificates and keys of a PEM file. Needs the package `cryptography`."""

import datetime
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ottla.cli.commands.doctor.finding import Finding, doubtful, skipped, wrong
from ottla.cli.commands.security.certificate import require_cryptography

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

_SOON: Final = datetime.timedelta(days=30)
_BLOCK: Final = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_ANEW: Final = "make a new one"


def check_certificates(name: str, content: bytes) -> Iterator[Finding]:
    """Time, names, and whether the key belongs to the first certificate."""
    require_cryptography()
    from cryptography import x509

    blocks = [(found[1], found[0]) for found in _BLOCK.finditer(content)]
    try:
        certificates = [x509.load_pem_x509_certificate(text) for kind, text in blocks if kind == b"CERTIFICATE"]
    except ValueError:
        yield wrong(name, "a certificate in it can't be read", _ANEW)
        return
    for certificate in certificates:
        yield from _check_time(name, certificate)
    for kind, text in blocks:
        if kind.endswith(b"PRIVATE KEY"):
            yield from _check_key(name, text, certificates)


def _check_time(name: str, certificate: "Certificate") -> Iterator[Finding]:
    now = datetime.datetime.now(datetime.UTC)
    who, end = certificate.subject.rfc4514_string(), certificate.not_valid_after_utc
    if end < now:
        yield wrong(name, f"the certificate of {who} expired on {end:%Y-%m-%d}", _ANEW)
    elif end < now + _SOON:
        yield doubtful(name, f"the certificate of {who} expires on {end:%Y-%m-%d}", _ANEW)
    if certificate.not_valid_before_utc > now:
        begin = certificate.not_valid_before_utc
        yield wrong(
            name, f"the certificate of {who} is not good before {begin:%Y-%m-%d}", "look at this machine's clock"
        )


def _check_key(name: str, text: bytes, certificates: "list[Certificate]") -> Iterator[Finding]:
    """A key and its own certificate, which has to be the first in the file."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        key = load_pem_private_key(text, None).public_key()
    except TypeError:
        yield skipped(name, "the key is encrypted; whether it belongs to the certificate was not looked at")
        return
    except ValueError:
        yield wrong(name, "the key in it can't be read", _ANEW)
        return
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    own = [one for one in certificates if one.public_key().public_bytes(*form) == key.public_bytes(*form)]
    if certificates and not own:
        yield wrong(name, "the key belongs to none of its certificates", "put the key and its certificate together")
    if own and certificates[0] not in own:
        advice = "put it first, then that of the authority that signed it, and so on"
        yield wrong(name, "the key's own certificate is not the first one, so no listener can use the file", advice)
    for certificate in own:
        yield from _check_names(name, certificate)


def _check_names(name: str, certificate: "Certificate") -> Iterator[Finding]:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    extensions = certificate.extensions
    if any(isinstance(found.value, x509.BasicConstraints) and found.value.ca for found in extensions):
        return  # an authority's; it names no host
    uses = [found.value for found in extensions if isinstance(found.value, x509.ExtendedKeyUsage)]
    if uses and not any(ExtendedKeyUsageOID.SERVER_AUTH in use for use in uses):
        return  # a client's; it is never connected to
    if not any(isinstance(found.value, x509.SubjectAlternativeName) for found in extensions):
        said = f"the certificate of {certificate.subject.rfc4514_string()} has no subject alternative name"
        yield wrong(name, f"{said}: clients refuse a broker with it", "sign it anew for every name and address dialled")
