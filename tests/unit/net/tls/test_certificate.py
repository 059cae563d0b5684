"""Names in certificates as Java writes them; those below were made by openssl and read by Java's X500Principal."""

import ssl
from pathlib import Path

import pytest

from ottla.net.tls.certificate import CertificateError, first_certificate, read_certificate

STORES = Path(__file__).parent / "certificates"


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("plain", "CN=alice,OU=sales,O=ottla,C=DE"),
        ("signs", 'CN=a\\,b\\+c\\"d\\\\e\\<f\\>g\\;h\\=i\\#j,O=\\ blanks\\ '),
        ("unknown", "1.2.840.113549.1.9.1=#160a616c69636540782e6465,CN=müller,UID=7,DC=de"),
        ("several", "CN=a+OU=b,O=c"),
    ],
)
def test_subjects(name: str, subject: str) -> None:
    found = first_certificate((STORES / f"{name}.pem").read_text())
    assert found.subject == subject


def test_other_names() -> None:
    found = first_certificate((STORES / "named.pem").read_text())
    assert found.other_names == {
        "DNS:localhost",
        "DNS:*.example.org",
        "IP:127.0.0.1",
        "IP:0000:0000:0000:0000:0000:0000:0000:0001",
        "email:a@b.c",
        "URI:urn:x",
    }


def test_what_is_no_certificate_is_refused() -> None:
    whole = ssl.PEM_cert_to_DER_cert((STORES / "named.pem").read_text())
    for end in range(len(whole)):
        with pytest.raises(CertificateError):
            read_certificate(whole[:end])
    with pytest.raises(CertificateError, match="there is no certificate"):
        first_certificate("nothing")
