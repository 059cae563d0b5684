"""Which certificate may follow which."""

import os
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.broker.authentication.rotation import TlsState, check_successor, own_certificate
from ottla.net.tls.certificate import Certificate
from ottla.net.tls.setting import TlsSettings
from tests.unit.broker.authentication.test_server_security import settings

BEFORE = Certificate("CN=a", frozenset({"DNS:a", "DNS:b"}))


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (
            Certificate("CN=b", BEFORE.other_names),
            "DistinguishedName does not match: existing={DN=CN=a}, new={DN=CN=b}",
        ),
        (
            Certificate("CN=a", frozenset({"DNS:a"})),
            "SubjectAltNames do not match: existing={DNS:a, DNS:b}, new={DN",
        ),
    ],
)
def test_other_names_are_refused_unless_allowed(after: Certificate, text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_successor(settings(), BEFORE, after)
    assert text in str(refused.value)
    check_successor(settings(ssl_allow_dn_changes="true", ssl_allow_san_changes="true"), BEFORE, after)


def test_more_names_may_come() -> None:
    check_successor(settings(), BEFORE, Certificate("CN=a", BEFORE.other_names | {"DNS:c"}))


def test_another_file_at_the_same_path_is_another_store(tmp_path: Path) -> None:
    path = tmp_path / "store.pem"
    path.write_text("one")
    tls = TlsSettings(keystore_location=str(path))
    state = TlsState.of(tls)
    assert TlsState.of(tls) == state
    os.utime(path, ns=(1, 1))
    assert TlsState.of(tls) != state
    path.unlink()
    assert TlsState.of(tls) != state


def test_a_store_without_a_certificate(tmp_path: Path) -> None:
    path = tmp_path / "store.pem"
    path.write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(ConfigError, match="there is no certificate"):
        own_certificate(TlsSettings(keystore_location=str(path)))
    with pytest.raises(ConfigError, match="needs a key"):
        own_certificate(TlsSettings())
