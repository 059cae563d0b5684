"""Keys and certificates of `ottla security init`, as PEM. Needs the package `cryptography`."""

import datetime
import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ottla.cli.output.advice import CommandError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.x509 import Certificate, CertificateBuilder, GeneralName

_AUTHORITY_FACTOR = 4
"""An authority lives so much longer than what it signs."""


class Authority(NamedTuple):
    """A certificate authority with its key."""

    key: "EllipticCurvePrivateKey"
    certificate: "Certificate"


def make_authority(name: str, days: int) -> Authority:
    """An authority that signs itself. Raises `CommandError` where the package is missing."""
    require_cryptography()
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256

    key = ec.generate_private_key(ec.SECP256R1())
    builder = _builder(name, name, key, days * _AUTHORITY_FACTOR)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    return Authority(key, builder.add_extension(usage, critical=True).sign(key, SHA256()))


def sign(authority: Authority, name: str, hosts: Sequence[str], days: int) -> bytes:
    """A new key and its certificate in one text, for hosts, or for a client if there are none."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import ExtendedKeyUsageOID

    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate.subject.rfc4514_string().removeprefix("CN=")
    builder = _builder(name, issuer, key, days)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    uses = [ExtendedKeyUsageOID.CLIENT_AUTH]
    if hosts:
        # A broker is the client of other brokers.
        uses.append(ExtendedKeyUsageOID.SERVER_AUTH)
        builder = builder.add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    signed = builder.add_extension(issuer_key, critical=False).sign(authority.key, SHA256())
    return key_text(key) + certificate_text(signed)


def key_text(key: "EllipticCurvePrivateKey") -> bytes:
    """A key as PEM, not encrypted: the file's mode protects it."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def certificate_text(certificate: "Certificate") -> bytes:
    """A certificate as PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _builder(name: str, issuer: str, key: "EllipticCurvePrivateKey", days: int) -> "CertificateBuilder":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    now = datetime.datetime.now(datetime.UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # Clocks differ.
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(identifier, critical=False)
    )


def _host(host: str) -> "GeneralName":
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def require_cryptography() -> None:
    """Raises `CommandError` where the package is missing."""
    try:
        import cryptography
    except ImportError:
        raise CommandError("certificates need the package cryptography: pip install 'ottla[tls]'") from None
    assert cryptography.__version__
