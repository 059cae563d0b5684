"""Whom a certificate names: its subject as Java writes it (RFC 2253), its other names, and how long it is good.

Reads as much of X.509 (RFC 5280) as that takes. Java's form matters because users' mapping rules and ACLs were written
for it: `CN=a,OU=b,O=c`, the last part first, and parts that RFC 2253 has no name for as their number and bytes.
"""

import datetime
import ssl
from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError

_NAMES: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_TEXTS: Final = {0x0C: "utf-8", 0x12: "ascii", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-16-be"}
"""UTF8String, NumericString, PrintableString, T61String, IA5String, BMPString."""
_SEQUENCE: Final = 0x30
_OID: Final = 0x06
_VERSION: Final = 0xA0
_EXTENSIONS: Final = 0xA3
_OTHER_NAMES_OID: Final = "2.5.29.17"
_OTHER_NAMES: Final = {0x81: "email", 0x82: "DNS", 0x86: "URI", 0x87: "IP"}
_IP: Final = 0x87
_SHORT_TIME: Final = 0x17
"""UTCTime, with two digits of the year: 50 and more are of the last century (RFC 5280, 4.1.2.5)."""
_PEM_BEGIN: Final = "-----BEGIN CERTIFICATE-----"
_PEM_END: Final = "-----END CERTIFICATE-----"


class CertificateError(OttlaError):
    """Bytes that are no certificate."""


class Certificate(NamedTuple):
    """The owner's names in a certificate, and its validity."""

    subject: str
    """As RFC 2253 has it; empty if it names nobody."""
    other_names: frozenset[str]
    """`DNS:…`, `IP:…`, `email:…` and `URI:…`; others by their bytes."""
    begin: datetime.datetime = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    """It is good from then on."""
    end: datetime.datetime = datetime.datetime.max.replace(tzinfo=datetime.UTC)
    """And until then."""


class _Element(NamedTuple):
    tag: int
    content: bytes
    whole: bytes


def read_certificate(der: bytes) -> Certificate:
    """Reads a certificate in DER. Raises `CertificateError`."""
    try:
        [certificate] = _elements(der)
        fields = [each for each in _elements(next(_elements(certificate.content)).content) if each.tag != _VERSION]
        # Serial number, algorithm, issuer, validity, subject, key; then what is tagged.
        extensions = next((each.content for each in fields if each.tag == _EXTENSIONS), b"")
        begin, end = map(_time, _elements(fields[3].content))
        return Certificate(_name(fields[4].content), frozenset(_other_names(extensions)), begin, end)
    except (ValueError, IndexError, StopIteration, UnicodeDecodeError) as error:
        raise CertificateError(f"this is no certificate: {error}") from error


def first_certificate(pem: str) -> Certificate:
    """Reads the first certificate of a text in PEM, which is the owner's. Raises `CertificateError`."""
    start = pem.find(_PEM_BEGIN)
    end = pem.find(_PEM_END, start)
    if start < 0 or end < 0:
        raise CertificateError("there is no certificate in it")
    return read_certificate(ssl.PEM_cert_to_DER_cert(pem[start : end + len(_PEM_END)]))


def _elements(data: bytes) -> Iterator[_Element]:
    """The elements in a row of DER."""
    position = 0
    while position < len(data):
        tag, length, start = data[position], data[position + 1], position + 2
        if length & 0x80:
            count = length & 0x7F
            if not 0 < count <= 4:
                raise ValueError("a length that DER does not have")
            length, start = int.from_bytes(data[start : start + count], "big"), start + count
        stop = start + length
        if stop > len(data):
            raise ValueError("it ends early")
        yield _Element(tag, data[start:stop], data[position:stop])
        position = stop


def _name(content: bytes) -> str:
    parts = []
    for relative in _elements(content):
        pairs = (list(_elements(pair.content)) for pair in _elements(relative.content))
        parts.append("+".join(_attribute(_oid(oid.content), value) for oid, value in pairs))
    return ",".join(reversed(parts))


def _attribute(oid: str, value: _Element) -> str:
    name, encoding = _NAMES.get(oid), _TEXTS.get(value.tag)
    if name is None or encoding is None:
        return f"{name or oid}=#{value.whole.hex()}"
    return f"{name}={_escaped(value.content.decode(encoding))}"


def _escaped(text: str) -> str:
    r"""A value with Java's escapes, which are more than RFC 2253 asks for.

    >>> _escaped(" a,b#c ") == r"\ a\,b\#c\ "
    True
    """
    inner = text.strip(" \r")
    lead = len(text) - len(text.lstrip(" \r"))
    shown = "".join(f"\\{letter}" if letter in ',=+<>#;"\\' else letter for letter in inner)
    blanks = [f"\\{letter}" for letter in text[:lead] + text[lead + len(inner) :]]
    return "".join((*blanks[:lead], shown, *blanks[lead:]))


def _oid(content: bytes) -> str:
    numbers, value = [], 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _other_names(extensions: bytes) -> Iterator[str]:
    for extension in _elements(next(_elements(extensions)).content) if extensions else ():
        parts = list(_elements(extension.content))
        if parts[0].tag != _OID or _oid(parts[0].content) != _OTHER_NAMES_OID:
            continue
        for name in _elements(next(_elements(parts[-1].content)).content):
            kind = _OTHER_NAMES.get(name.tag)
            if kind is None:
                yield f"#{name.whole.hex()}"
            else:
                yield f"{kind}:{_address(name.content) if name.tag == _IP else name.content.decode('ascii')}"


def _time(element: _Element) -> datetime.datetime:
    text = element.content.decode("ascii")
    if element.tag == _SHORT_TIME:
        text = ("19" if text >= "50" else "20") + text
    return datetime.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=datetime.UTC)


def _address(content: bytes) -> str:
    return ".".join(map(str, content)) if len(content) == 4 else content.hex(":", 2)
