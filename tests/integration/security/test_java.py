"""Java's clients and tools on our listeners: every mechanism and certificates, right and wrong."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.security.secured_node import MECHANISMS, SecuredNode
from tests.kafka.peer import java, require_kafka

_MODULES = "org.apache.kafka.common.security"
_TOPICS = "org.apache.kafka.tools.TopicCommand"
_PRODUCER = "org.apache.kafka.tools.VerifiableProducer"
_USER = 'username="alice" password="{}"'

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    require_kafka()
    changes = {"listener.name.sasltls.scram-sha-512.connections.max.reauth.ms": "2000"}
    with SecuredNode(tmp_path_factory.mktemp("java"), **changes) as found:
        yield found


def config(node: SecuredNode, path: Path, mechanism: str | None, password: str = "secret") -> str:
    """A file of settings for a mechanism, or for a client's certificate."""
    settings = {
        "security.protocol": "SSL" if mechanism is None else "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(node.authority.certificate),
    }
    if mechanism is None:
        settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(node.client.both)}
    else:
        settings |= {"sasl.mechanism": mechanism, "sasl.jaas.config": _jaas(mechanism, password)}
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(path)


def _jaas(mechanism: str, password: str) -> str:
    if mechanism == "PLAIN":
        return f"{_MODULES}.plain.PlainLoginModule required {_USER.format(password)};"
    if mechanism == "OAUTHBEARER":
        claim = 'unsecuredLoginStringClaim_sub="alice"'
        return f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required {claim};"
    return f"{_MODULES}.scram.ScramLoginModule required {_USER.format(password)};"


@pytest.mark.parametrize("mechanism", [*MECHANISMS, None])
def test_topics_and_records(node: SecuredNode, tmp_path: Path, mechanism: str | None) -> None:
    path = config(node, tmp_path / "client.properties", mechanism)
    address = node.address("MUTUAL" if mechanism is None else "SASLTLS")
    topic = f"java-{mechanism or 'mutual'}".lower()
    made = java(_TOPICS, "--bootstrap-server", address, "--command-config", path, "--create", "--topic", topic)
    assert f"Created topic {topic}" in made
    written = java(
        _PRODUCER, "--bootstrap-server", address, "--command-config", path, "--topic", topic, "--max-messages", "20"
    )
    events = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    assert sum(event["name"] == "producer_send_success" for event in events) == 20


def test_sessions_are_renewed(node: SecuredNode, tmp_path: Path) -> None:
    """Ten records a second for longer than a session lasts: none is lost, and no connection."""
    path = config(node, tmp_path / "client.properties", "SCRAM-SHA-512")
    given = ("--bootstrap-server", node.address("SASLTLS"), "--command-config", path, "--topic", "java-renewed")
    written = java(_PRODUCER, *given, "--max-messages", "60", "--throughput", "10")
    events = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    assert sum(event["name"] == "producer_send_success" for event in events) == 60
    assert not any(event["name"] == "producer_send_error" for event in events)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_wrong_password(node: SecuredNode, tmp_path: Path, mechanism: str) -> None:
    path = config(node, tmp_path / "client.properties", mechanism, "wrong")
    with pytest.raises(AssertionError, match=r"SaslAuthenticationException.*Authentication failed"):
        java(_TOPICS, "--bootstrap-server", node.address("SASLTLS"), "--command-config", path, "--list")
