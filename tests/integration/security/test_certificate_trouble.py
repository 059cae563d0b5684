"""Keys and certificates that can't be used, or not now: what is told of them, and what is read all the same."""

import asyncio
import datetime
import logging
import ssl
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.broker.authentication.node_security import NodeSecurity
from ottla.broker.config.server_config import ServerConfig
from ottla.net.tls.context import server_context
from ottla.net.tls.setting import TlsSettings
from tests.integration.client.certificate import Authority, Certificate, encrypted, require_openssl
from tests.integration.client.test_security import trouble

pytest.importorskip("cryptography", reason="needs cryptography to make certificates of other times")
YEAR = datetime.timedelta(days=365)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    require_openssl()
    return Authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="module")
def good(authority: Authority) -> Certificate:
    return authority.sign("localhost", "DNS:localhost")


def dated(authority: Authority, good: Certificate, begin: datetime.timedelta, path: Path) -> Path:
    """The same key with a certificate of a year's time that begins so long from now."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

    signer = load_pem_private_key(authority.certificate.with_suffix(".key").read_bytes(), None)
    like = x509.load_pem_x509_certificate(good.chain.read_bytes())
    start = datetime.datetime.now(datetime.UTC) + begin
    builder = x509.CertificateBuilder(like.issuer, like.subject, like.public_key(), 7, start, start + YEAR)
    for extension in like.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    made = builder.sign(signer, hashes.SHA256())  # type: ignore[arg-type]  # an RSA key
    path.write_bytes(good.key.read_bytes() + made.public_bytes(Encoding.PEM))
    return path


def test_parts_that_do_not_fit(authority: Authority, good: Certificate, tmp_path: Path) -> None:
    key, chain, other = good.key.read_text(), good.chain.read_text(), authority.certificate.read_text()
    locked = encrypted(good.key, "right").read_text()
    for content, password, text in (
        (chain, None, "it holds no private key"),
        (key, None, "it holds no certificate"),
        (key + other + chain, None, "the key's own certificate comes first"),
        (locked + chain, "wrong", "can't be decrypted: is ssl.key.password right?"),
        (locked + chain, None, "its password is needed"),
    ):
        path = tmp_path / "store.pem"
        path.write_text(content)
        settings = TlsSettings(keystore_location=str(path), key_password=password)
        with pytest.raises(ConfigError) as refused:
            server_context(settings)
        assert text in str(refused.value)


def test_pem_in_one_line(good: Certificate) -> None:
    """Java takes a setting without line ends, so files for Kafka have them."""
    key, chain = (path.read_text().replace("\n", " ") for path in (good.key, good.chain))
    server_context(TlsSettings(keystore_key=key, keystore_certificate_chain=chain, truststore_certificates=chain))


def started(store: Path) -> None:
    """A listener with the store."""
    settings = {
        "process.roles": "broker",
        "node.id": "7",
        "listeners": "A://localhost:0",
        "listener.security.protocol.map": "A:SSL,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": "localhost:1",
        "inter.broker.listener.name": "A",
        "ssl.keystore.location": str(store),
    }
    config = ServerConfig(settings)
    now_ms = round(datetime.datetime.now().timestamp() * 1000)
    made = NodeSecurity(config, lambda: now_ms).of_listener(config, "A", "localhost")
    assert made is not None
    made.close()


@pytest.mark.parametrize(
    ("begin", "told", "client_told"),
    [
        (-2 * YEAR, "expired at", "certificate has expired"),
        (YEAR, "is not good before", "certificate is not yet valid"),
    ],
)
def test_a_certificate_of_another_time(
    authority: Authority,
    good: Certificate,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    begin: datetime.timedelta,
    told: str,
    client_told: str,
) -> None:
    store = dated(authority, good, begin, tmp_path / "store.pem")
    with caplog.at_level(logging.WARNING):
        started(store)
    assert any(f"The certificate of the listener A {told}" in line for line in caplog.messages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(store)

    async def main() -> str:
        server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0, ssl=context)
        async with server:
            address = f"localhost:{server.sockets[0].getsockname()[1]}"
            given = {"security_protocol": "SSL", "ssl_truststore_location": authority.certificate}
            return await asyncio.to_thread(trouble, address, **given)

    said = asyncio.run(main())
    year = (datetime.datetime.now(datetime.UTC) + begin).year
    assert f"{client_told} (CN=localhost is good from {year}" in said
    assert "check its dates and both clocks" in said


def test_nothing_is_said_of_a_good_one(good: Certificate, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        started(good.both)
    assert not caplog.messages
