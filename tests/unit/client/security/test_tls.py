"""What the `ssl.*` settings refuse, and what they set; real handshakes are in the integration tests."""

import ssl
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.security.connect_option import connect_options
from ottla.client.security.tls import tls_context


def context(**given: object) -> ssl.SSLContext:
    return tls_context(ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", **given))


def test_names_are_checked_unless_switched_off() -> None:
    assert context().check_hostname
    unchecked = context(ssl_endpoint_identification_algorithm="")
    assert not unchecked.check_hostname
    assert unchecked.verify_mode is ssl.CERT_REQUIRED


def test_versions() -> None:
    only = context(ssl_enabled_protocols="TLSv1.3")
    assert only.minimum_version is only.maximum_version is ssl.TLSVersion.TLSv1_3
    assert context().minimum_version is ssl.TLSVersion.TLSv1_2


def test_javas_names_of_cipher_suites() -> None:
    chosen = context(ssl_cipher_suites="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256")
    older = [cipher["name"] for cipher in chosen.get_ciphers() if not cipher["name"].startswith("TLS_")]
    assert older == ["ECDHE-RSA-AES256-GCM-SHA384"]


def test_a_ready_context_is_used_as_it_is() -> None:
    ready = ssl.create_default_context()
    assert context(ssl_engine_factory_class=ready) is ready
    assert context(ssl_engine_factory_class=lambda: ready) is ready


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"ssl_enabled_protocols": "SSLv3"}, "Expected some of TLSv1"),
        ({"ssl_cipher_suites": "TLS_NO_WITH_SUCH"}, "OpenSSL knows none of these"),
        ({"ssl_truststore_location": "/no/such/file"}, "the file can't be read: No such file"),
        ({"ssl_truststore_certificates": "nonsense"}, "no certificates in PEM"),
        ({"ssl_keystore_key": "only the key"}, "ssl.keystore.certificate.chain belongs to it"),
        ({"ssl_keystore_key": "k", "ssl_keystore_certificate_chain": "c"}, "it holds no private key"),
        ({"ssl_engine_factory_class": lambda: 7}, "Expected an ssl.SSLContext"),
    ],
)
def test_what_cannot_be_used_is_refused(given: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        context(**given)
    assert text in str(caught.value)


def test_javas_key_stores_are_refused_with_the_way_out(tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    with pytest.raises(ConfigError, match="keytool -importkeystore"):
        context(ssl_truststore_location=store)


def test_a_pem_file_without_pem_is_refused(tmp_path: Path) -> None:
    store = tmp_path / "trust.pem"
    store.write_text("nothing")
    with pytest.raises(ConfigError, match="nothing in PEM"):
        context(ssl_truststore_location=store, ssl_truststore_type="PEM")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "GSSAPI (Kafka's default)"),
        ({"sasl_mechanism": "CRAM-MD5"}, "Expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER"),
        ({"sasl_mechanism": "PLAIN"}, "sasl.username and sasl.password are needed"),
        ({"sasl_mechanism": "PLAIN", "sasl_jaas_config": "nonsense"}, "must begin with a login module"),
    ],
)
def test_sasl_without_what_it_needs_is_refused(given: dict[str, object], text: str) -> None:
    settings = ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", security_protocol="sasl_plaintext", **given)
    with pytest.raises(ConfigError) as caught:
        connect_options(settings, "me")
    assert text in str(caught.value)
