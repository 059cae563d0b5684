"""What users who have logged in may do, as a client that we did not write sees it."""

from collections.abc import Iterator

import confluent_kafka
import pytest
from confluent_kafka import KafkaError
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclPermissionType, AclResourceType, PatternType
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from tests.clients.patience import until
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_clients import librdkafka
from tests.kafka.wire import Wire

TIMEOUT_S = 60.0
GUARDED = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}
"""The node itself comes over the plaintext listener."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("guarded"), **GUARDED) as found:
        yield found


def allow(
    node: SecuredNode,
    operation: AclOperation,
    kind: AclResourceType,
    name: str,
    *,
    user: str = "alice",
    pattern: PatternType = PatternType.LITERAL,
) -> None:
    creation = AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal=f"User:{user}",
        host="*",
        operation=operation,
        permission_type=AclPermissionType.ALLOW,
    )
    with Wire(("127.0.0.1", node.port("PLAINTEXT"))) as wire:
        [result] = wire.ask(CreateAclsRequest(creations=[creation]), 3).results  # type: ignore[attr-defined]
    assert result.error_code == 0


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_user_may_do_what_rules_allow(node: SecuredNode, mechanism: str) -> None:
    topic = f"by-{mechanism.lower()}"
    settings = librdkafka(node, "SASL", mechanism)
    admin = AdminClient(settings)

    def create() -> str | None:
        try:
            admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(TIMEOUT_S)
        except confluent_kafka.KafkaException as error:
            return str(error.args[0].name())
        return None

    assert create() == "TOPIC_AUTHORIZATION_FAILED"
    allow(node, AclOperation.CREATE, AclResourceType.TOPIC, topic)
    until(None, create)
    assert _produced(settings, topic) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    allow(node, AclOperation.WRITE, AclResourceType.TOPIC, topic)
    until(None, lambda: _produced(settings, topic))


def _produced(settings: dict[str, object], topic: str) -> int | None:
    """The error that a record comes to."""
    codes: list[int | None] = []
    producer = confluent_kafka.Producer({**settings, "acks": "1"})
    producer.produce(topic, b"v", on_delivery=lambda error, _: codes.append(error and error.code()))
    assert producer.flush(TIMEOUT_S) == 0
    return codes[0]


def test_the_cluster_is_the_operators(node: SecuredNode) -> None:
    admin = AdminClient(librdkafka(node, "SASL", "PLAIN"))

    def names() -> list[str]:
        return sorted(admin.list_topics(timeout=TIMEOUT_S).topics)

    assert all(name.startswith("by-") for name in names())
    allow(node, AclOperation.CREATE, AclResourceType.CLUSTER, CLUSTER_NAME)
    admin.create_topics([NewTopic("unseen", 1, 1)])["unseen"].result(TIMEOUT_S)
    assert "unseen" not in names()
