"""`ottla security check` on files that `ottla security init` made, and on what became of them."""

from pathlib import Path

import pytest

from ottla.cli.commands.doctor.finding import Verdict
from ottla.cli.commands.security.certificate import certificate_text, key_text, make_authority, sign
from ottla.cli.commands.security.check import check, check_settings
from ottla.cli.commands.security.check_certificate import check_certificates
from ottla.cli.commands.security.file import Plan, write
from ottla.cli.main import main

WRONG, DOUBTFUL = Verdict.WRONG, Verdict.DOUBTFUL


@pytest.fixture
def secure(tmp_path: Path) -> Path:
    list(write(Plan(tmp_path, ("localhost",), ("admin", "alice"), (9092, 9093), 825)))
    return tmp_path


def said(place: Path) -> dict[str, str]:
    """What is not fine, by file."""
    return {finding.check: finding.said for finding in check(place) if finding.verdict is not Verdict.FINE}


def test_what_init_made_is_fine(secure: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(secure) == {}
    assert main(["security", "check", str(secure)]) == 0
    assert "All is well." in capsys.readouterr().out


def test_secrets_that_others_may_read(secure: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in secure.iterdir():
        path.chmod(0o644)
    assert set(said(secure)) == {path.name for path in secure.iterdir()} - {"ca.pem"}
    assert main(["security", "check", str(secure)]) == 1
    assert (secure / "users").read_text().split()[1] not in capsys.readouterr().out


def test_a_file_of_settings_with_the_files_it_names(secure: Path) -> None:
    (secure / "ca.pem").unlink()
    (secure / "users").chmod(0o640)
    found = said(secure / "server.properties")
    assert set(found) == {"server.properties", "users"}
    assert "ca.pem, which is not there" in found["server.properties"]


def test_settings_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_bytes(b"a=\\uXYZ")
    assert said(tmp_path) == {"a.properties": "it can't be read as a file of settings"}


@pytest.mark.parametrize(
    ("text", "verdict", "words"),
    [
        ("security.protocol=SASL_PLAINTEXT bootstrap.servers=b:1 sasl.mechanism=PLAIN", WRONG, "PLAIN without TLS"),
        ("security.protocol=SASL_PLAINTEXT bootstrap.servers=localhost:1 sasl.mechanism=PLAIN", None, ""),
        ("security.protocol=SASL_SSL bootstrap.servers=b:1 sasl.mechanism=PLAIN", None, ""),
        ("ssl.endpoint.identification.algorithm=", WRONG, "is empty"),
        ("listener.name.a.ssl.endpoint.identification.algorithm=", WRONG, "is empty"),
        ("ssl.endpoint.identification.algorithm=https", None, ""),
        ("listeners=SASL_PLAINTEXT://:1 authorizer.class.name=x sasl.enabled.mechanisms=PLAIN", WRONG, "PLAIN"),
        ("listeners=SASL_PLAINTEXT://127.0.0.1:1 authorizer.class.name=x sasl.enabled.mechanisms=PLAIN", None, ""),
        (
            "listeners=A://:1 listener.security.protocol.map=A:SASL_PLAINTEXT authorizer.class.name=x "
            "sasl.enabled.mechanisms=OAUTHBEARER listener.name.a.sasl.enabled.mechanisms=SCRAM-SHA-256",
            WRONG,
            "SCRAM-SHA-256",
        ),
        ("listeners=PLAINTEXT://localhost:1", DOUBTFUL, "no authorizer"),
    ],
)
def test_settings(text: str, verdict: Verdict | None, words: str) -> None:
    settings = dict(pair.partition("=")[::2] for pair in text.split())
    found = list(check_settings("f", settings))
    assert [finding.verdict for finding in found] == ([] if verdict is None else [verdict])
    assert all(words in finding.said for finding in found)


@pytest.mark.parametrize(
    ("days", "verdict", "words"),
    [(-1, WRONG, "expired on"), (5, DOUBTFUL, "expires on"), (100, None, "")],
)
def test_the_time_of_certificates(days: int, verdict: Verdict | None, words: str) -> None:
    content = _expired() if days < 0 else sign(make_authority("a", 900), "b", ["b"], days)
    found = list(check_certificates("f", content))
    assert [finding.verdict for finding in found] == ([] if verdict is None else [verdict])
    assert all(words in finding.said for finding in found)


def _expired() -> bytes:
    """An authority that was good for the past hour and no longer."""
    return certificate_text(make_authority("a", 0).certificate)


def test_a_key_and_its_certificate() -> None:
    authority, other = make_authority("a", 900), make_authority("b", 900)
    assert list(check_certificates("f", key_text(authority.key) + certificate_text(authority.certificate))) == []
    mixed = key_text(other.key) + certificate_text(authority.certificate)
    assert [finding.said for finding in check_certificates("f", mixed)] == [
        "the key belongs to none of its certificates"
    ]


def test_a_chain_in_the_wrong_order() -> None:
    authority = make_authority("a", 900)
    store = sign(authority, "b", ["b"], 900)
    assert list(check_certificates("f", store + certificate_text(authority.certificate))) == []
    [found] = check_certificates("f", certificate_text(authority.certificate) + store)
    assert found.verdict is WRONG
    assert "own certificate is not the first one" in found.said


def test_a_store_that_only_a_password_opens(tmp_path: Path) -> None:
    path = tmp_path / "broker.p12"
    path.write_bytes(b"0\x82")
    [found] = check(path)
    assert found.verdict is Verdict.SKIPPED


def test_names() -> None:
    authority = make_authority("a", 900)
    assert list(check_certificates("f", sign(authority, "client", [], 900))) == [], "nobody dials a client"
    assert list(check_certificates("f", sign(authority, "b", ["b"], 900))) == []
    [found] = check_certificates("f", _without_names())
    assert found.verdict is WRONG
    assert "no subject alternative name" in found.said


def _without_names() -> bytes:
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "b")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=90))
    return key_text(key) + certificate_text(builder.sign(key, SHA256()))


def test_what_is_not_readable() -> None:
    broken = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
    assert [finding.said for finding in check_certificates("f", broken)] == ["a certificate in it can't be read"]
    broken = broken.replace(b"CERTIFICATE", b"PRIVATE KEY")
    assert [finding.said for finding in check_certificates("f", broken)] == ["the key in it can't be read"]
