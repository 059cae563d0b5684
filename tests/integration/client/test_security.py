"""TLS and SASL against Apache Kafka: what works, and what users are told when it does not."""

import asyncio
import ssl
import time
from collections.abc import Iterator

import pytest

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError, ClientError, NoBrokersAvailableError, TlsFailedError
from ottla.client.metric.metric_name import MetricName
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.certificate import encrypted
from tests.integration.client.cluster import cluster_client
from tests.integration.client.secured import MECHANISMS, SESSION_MS, SecuredKafka, mutual

ALICE = {"sasl_username": "alice", "sasl_password": "secret"}
BEARER = {
    "sasl_jaas_config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="alice";'
}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    found = SecuredKafka(tmp_path_factory.mktemp("secured"))
    try:
        found.start()
        yield found
    finally:
        found.stop()


def ask(bootstrap: str, **settings: object) -> MetadataResponse:
    """Connects, asks the broker twice, and closes."""

    async def main() -> MetadataResponse:
        async with cluster_client(bootstrap, ADMIN_KEYS, **settings) as client:
            answer = await client.request(1, MetadataRequest(topics=[]))
            assert isinstance(answer, MetadataResponse)
            return answer

    return asyncio.run(main())


def trouble(bootstrap: str, kind: type[ClientError] = ClientError, **settings: object) -> str:
    """What a user is told who connects like this."""
    with pytest.raises(kind) as caught:
        asyncio.run(_start(bootstrap, **settings))
    return str(caught.value)


async def _start(bootstrap: str, **settings: object) -> None:
    client = ClusterClient(ClientSettings.of(ADMIN_KEYS, bootstrap_servers=bootstrap, **settings))
    try:
        await client.start()
    finally:
        await client.close()


def test_tls_with_a_trusted_authority(kafka: SecuredKafka) -> None:
    ca = kafka.authority.certificate
    for trust in ({"ssl_truststore_location": ca}, {"ssl_truststore_certificates": ca.read_text()}):
        ask(kafka.address("TLS"), security_protocol="SSL", **trust)
    context = ssl.create_default_context(cafile=str(ca))
    ask(kafka.address("TLS"), security_protocol="ssl", ssl_engine_factory_class=context)


def test_large_answers_and_requests_over_tls(kafka: SecuredKafka) -> None:
    async def main() -> None:
        trust = {"security_protocol": "SSL", "ssl_truststore_location": kafka.authority.certificate}
        async with cluster_client(kafka.address("TLS"), **trust) as client:
            client.want_topics(f"large-{number}" for number in range(300))
            while len((await client.refresh()).topics) < 300:
                await asyncio.sleep(0.05)

    asyncio.run(main())


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_client_certificate(kafka: SecuredKafka, version: str) -> None:
    trust = {
        "security_protocol": "SSL",
        "ssl_truststore_location": kafka.authority.certificate,
        "ssl_enabled_protocols": version,
    }
    address = kafka.address("MUTUAL")
    ask(address, **trust, **mutual(kafka.client))
    key, chain = kafka.client.key.read_text(), kafka.client.chain.read_text()
    ask(address, **trust, ssl_keystore_key=key, ssl_keystore_certificate_chain=chain)
    locked = encrypted(kafka.client.key, "pass").read_text()
    ask(address, **trust, ssl_keystore_key=locked, ssl_keystore_certificate_chain=chain, ssl_key_password="pass")
    assert "ssl.keystore.location" in trouble(address, **trust)


@pytest.mark.parametrize(
    ("mechanism", "listener"), [(name, place) for name in MECHANISMS for place in ("SASL", "SASLTLS")]
)
def test_sasl(kafka: SecuredKafka, mechanism: str, listener: str) -> None:
    ask(kafka.address(listener), **_sasl(kafka, mechanism, listener))


def test_sasl_as_java_configures_it(kafka: SecuredKafka) -> None:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    jaas = f'{module} required username="alice" password="secret";'
    protocol = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-512"}
    ask(kafka.address("SASL"), **protocol, sasl_jaas_config=jaas)


def test_a_session_is_renewed_on_its_connection(kafka: SecuredKafka) -> None:
    async def main() -> None:
        settings = _sasl(kafka, "PLAIN", "SASL")
        async with cluster_client(kafka.address("SASL"), ADMIN_KEYS, client_id="me", **settings) as client:
            made = MetricName("connection-creation-total", "admin-client-metrics", (("client-id", "me"),))
            await client.request(1, MetadataRequest(topics=[]))
            before = client.metrics.values()[made]
            ends_at = time.monotonic() + 3 * SESSION_MS / 1000
            while time.monotonic() < ends_at:
                await asyncio.gather(*(client.request(1, MetadataRequest(topics=[])) for _ in range(5)))
                await asyncio.sleep(0.01)
            # What is asked after a session's end is asked after a log-in, too.
            await asyncio.sleep(1.5 * SESSION_MS / 1000)
            await client.request(1, MetadataRequest(topics=[]))
            assert client.metrics.values()[made] == before

    asyncio.run(main())


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_wrong_password(kafka: SecuredKafka, mechanism: str) -> None:
    settings = {**_sasl(kafka, mechanism, "SASL"), "sasl_password": "wrong"}
    text = trouble(kafka.address("SASL"), AuthenticationFailedError, **settings)
    assert f"refused {mechanism}" in text
    assert "check sasl.username and sasl.password" in text
    assert "wrong" not in text


def test_a_refused_token(kafka: SecuredKafka) -> None:
    settings = {**_sasl(kafka, "OAUTHBEARER", "SASL"), "sasl_login_callback_handler_class": lambda: "no.such.token"}
    text = trouble(kafka.address("SASL"), AuthenticationFailedError, **settings)
    assert text == f"{kafka.address('SASL')} (bootstrap): the broker refused the token: invalid_token"


def test_a_mechanism_that_is_not_offered(kafka: SecuredKafka) -> None:
    settings = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN", **ALICE}
    text = trouble(kafka.plaintext, AuthenticationFailedError, **settings)
    assert "wants no SASL on this listener" in text


def test_plaintext_where_sasl_is_wanted(kafka: SecuredKafka) -> None:
    text = trouble(kafka.address("SASL"), NoBrokersAvailableError)
    assert "that listener probably wants SASL" in text


def test_plaintext_where_tls_is_wanted(kafka: SecuredKafka) -> None:
    assert "TLS" in trouble(kafka.address("TLS"), NoBrokersAvailableError)


def test_tls_where_plaintext_is_wanted(kafka: SecuredKafka) -> None:
    text = trouble(kafka.plaintext, security_protocol="SSL", ssl_truststore_location=kafka.authority.certificate)
    assert "TLS" in text


def test_a_name_that_the_certificate_lacks(kafka: SecuredKafka) -> None:
    trust = {"security_protocol": "SSL", "ssl_truststore_location": kafka.authority.certificate}
    address = kafka.address("TLS", "127.0.0.1")
    text = trouble(address, TlsFailedError, **trust)
    assert "the broker's certificate is not for 127.0.0.1" in text
    assert "ssl.endpoint.identification.algorithm" in text
    ask(address, **trust, ssl_endpoint_identification_algorithm="")


def test_an_authority_that_is_not_trusted(kafka: SecuredKafka) -> None:
    for trust in ({}, {"ssl_truststore_location": kafka.stranger.certificate}):
        text = trouble(kafka.address("TLS"), TlsFailedError, security_protocol="SSL", **trust)
        assert "can't be trusted" in text
        assert "ssl.truststore.location" in text


def _sasl(kafka: SecuredKafka, mechanism: str, listener: str) -> dict[str, object]:
    settings: dict[str, object] = {"sasl_mechanism": mechanism, "security_protocol": "SASL_PLAINTEXT"}
    if listener == "SASLTLS":
        settings |= {"security_protocol": "SASL_SSL", "ssl_truststore_location": kafka.authority.certificate}
    return settings | (BEARER if mechanism == "OAUTHBEARER" else ALICE)
