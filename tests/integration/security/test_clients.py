"""Clients that we did not write, and ours, on listeners with TLS and SASL: what works, and what is refused."""

import asyncio
import json
import ssl
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiokafka
import aiokafka.abc
import confluent_kafka
import kafka.errors
import pytest
from confluent_kafka.admin import AdminClient

import kafka
from tests.integration.client.test_security import ALICE, BEARER, ask, mutual, trouble
from tests.integration.security.secured_node import MECHANISMS, SecuredNode

TIMEOUT_S = 60.0
LARGE = bytes(range(256)) * 3_000


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("secured")) as found:
        yield found


def unsigned(name: str, life_s: float = 600) -> str:
    """A token that nobody signed."""
    parts = ({"alg": "none"}, {"sub": name, "exp": time.time() + life_s})
    encoded = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return f"{encoded[0]}.{encoded[1]}."


def librdkafka(node: SecuredNode, listener: str, mechanism: str | None = None) -> dict[str, Any]:
    """What librdkafka is configured with."""
    settings: dict[str, Any] = {"bootstrap.servers": node.address(listener), "security.protocol": "SSL"}
    if listener == "SASL":
        settings["security.protocol"] = "SASL_PLAINTEXT"
    else:
        settings["ssl.ca.location"] = str(node.authority.certificate)
    if mechanism is not None:
        settings["security.protocol"] = "SASL_PLAINTEXT" if listener == "SASL" else "SASL_SSL"
        settings["sasl.mechanism"] = mechanism
        if mechanism == "OAUTHBEARER":
            settings["oauth_cb"] = lambda _: (unsigned("alice"), time.time() + 600)
        else:
            settings |= {"sasl.username": "alice", "sasl.password": "secret"}
    return settings


def round_trip(settings: dict[str, Any], topic: str) -> None:
    """Writes small and large records and reads them."""
    values = [b"small", LARGE, b"again"]
    producer = confluent_kafka.Producer({**settings, "message.max.bytes": 2_000_000})
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(TIMEOUT_S) == 0
    consumer = confluent_kafka.Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[bytes] = []
    deadline = time.monotonic() + TIMEOUT_S
    while len(found) < len(values) and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and not message.error():
            found.append(message.value())
    consumer.close()
    assert found == values


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_librdkafka_over_sasl_and_tls(node: SecuredNode, mechanism: str) -> None:
    round_trip(librdkafka(node, "SASLTLS", mechanism), f"rd-{mechanism.lower()}")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_librdkafka_over_sasl(node: SecuredNode, mechanism: str) -> None:
    round_trip(librdkafka(node, "SASL", mechanism), f"rd-clear-{mechanism.lower()}")


def test_librdkafka_over_tls(node: SecuredNode) -> None:
    round_trip(librdkafka(node, "TLS"), "rd-tls")
    shown = {"ssl.key.location": str(node.client.key), "ssl.certificate.location": str(node.client.chain)}
    round_trip({**librdkafka(node, "MUTUAL"), **shown}, "rd-mutual")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_librdkafka_with_a_wrong_password(node: SecuredNode, mechanism: str) -> None:
    errors: list[confluent_kafka.KafkaError] = []
    settings = {**librdkafka(node, "SASLTLS", mechanism), "sasl.password": "wrong", "error_cb": errors.append}
    admin = AdminClient(settings)
    deadline = time.monotonic() + TIMEOUT_S
    while not errors and time.monotonic() < deadline:
        admin.poll(0.2)
    assert errors[0].code() == confluent_kafka.KafkaError._AUTHENTICATION
    assert "Authentication failed" in errors[0].str()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_kafka_python(node: SecuredNode, mechanism: str) -> None:
    settings = {
        "bootstrap_servers": node.address("SASLTLS"),
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(node.authority.certificate),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "alice",
        "sasl_plain_password": "secret",
    }
    topic = f"kp-{mechanism.lower()}"
    producer = kafka.KafkaProducer(**settings)
    producer.send(topic, b"hello").get(TIMEOUT_S)
    producer.close()
    consumer = kafka.KafkaConsumer(topic, **settings, auto_offset_reset="earliest", consumer_timeout_ms=60_000)
    assert next(consumer).value == b"hello"
    consumer.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_aiokafka(node: SecuredNode, mechanism: str) -> None:
    class Provider(aiokafka.abc.AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return unsigned("alice")

    async def main() -> None:
        login = {"sasl_plain_username": "alice", "sasl_plain_password": "secret"}
        if mechanism == "OAUTHBEARER":
            login = {"sasl_oauth_token_provider": Provider()}
        settings = {
            "bootstrap_servers": node.address("SASLTLS"),
            "security_protocol": "SASL_SSL",
            "ssl_context": ssl.create_default_context(cafile=str(node.authority.certificate)),
            "sasl_mechanism": mechanism,
            **login,
        }
        producer = aiokafka.AIOKafkaProducer(**settings)
        await producer.start()
        await producer.send_and_wait(f"aio-{mechanism.lower()}", b"hello")
        await producer.stop()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("mechanism", "listener"), [(name, place) for name in MECHANISMS for place in ("SASL", "SASLTLS")]
)
def test_ours(node: SecuredNode, mechanism: str, listener: str) -> None:
    ask(node.address(listener), **ours(node, mechanism, listener))


def test_ours_over_tls(node: SecuredNode) -> None:
    trust = {"security_protocol": "SSL", "ssl_truststore_location": node.authority.certificate}
    for version in ("TLSv1.2", "TLSv1.3"):
        ask(node.address("TLS"), **trust, ssl_enabled_protocols=version)
        ask(node.address("MUTUAL"), **trust, **mutual(node.client), ssl_enabled_protocols=version)
        assert "ssl.keystore.location" in trouble(node.address("MUTUAL"), **trust, ssl_enabled_protocols=version)
    ask(node.address("ASKING"), **trust)
    assert "TLS" in trouble(node.address("TLS"))
    assert "TLS" in trouble(node.address("PLAINTEXT"), **trust)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_ours_with_a_wrong_password(node: SecuredNode, mechanism: str) -> None:
    settings = {**ours(node, mechanism, "SASL"), "sasl_password": "wrong"}
    text = trouble(node.address("SASL"), **settings)
    assert f"refused {mechanism}: Authentication failed" in text


def ours(node: SecuredNode, mechanism: str, listener: str) -> dict[str, object]:
    """What our clients are configured with."""
    settings: dict[str, object] = {"sasl_mechanism": mechanism, "security_protocol": "SASL_PLAINTEXT"}
    if listener == "SASLTLS":
        settings |= {"security_protocol": "SASL_SSL", "ssl_truststore_location": node.authority.certificate}
    return settings | (BEARER if mechanism == "OAUTHBEARER" else ALICE)


def test_certificates_of_strangers_are_refused(node: SecuredNode, tmp_path: Path) -> None:
    other = node.stranger.sign("mallory")
    trust = {"security_protocol": "SSL", "ssl_truststore_location": node.authority.certificate}
    for listener in ("MUTUAL", "ASKING"):
        trouble(node.address(listener), **trust, **mutual(other))
