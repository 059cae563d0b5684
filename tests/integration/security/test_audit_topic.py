"""The audit log in a topic, as a consumer reads it."""

import json
import time
from collections.abc import Iterator
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, TIMEOUT_S
from tests.integration.security.test_clients import librdkafka

TOPIC = "audit"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    changes = {**GUARDED, "audit.log.topic": TOPIC}
    with SecuredNode(tmp_path_factory.mktemp("audited"), **changes) as found:
        yield found


def read(node: SecuredNode) -> Iterator[dict[str, Any]]:
    """The lines, for as long as somebody wants them."""
    where = {"bootstrap.servers": f"127.0.0.1:{node.port('PLAINTEXT')}"}
    consumer = confluent_kafka.Consumer({**where, "group.id": "auditors", "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    deadline = time.monotonic() + TIMEOUT_S
    try:
        while time.monotonic() < deadline:
            message = consumer.poll(0.5)
            if message is not None and not message.error():
                yield json.loads(message.value())
    finally:
        consumer.close()


def test_who_did_what_is_in_the_topic(node: SecuredNode) -> None:
    """What came before the topic waits for it."""
    alice = AdminClient(librdkafka(node, "SASL", "PLAIN"))
    with pytest.raises(confluent_kafka.KafkaException):
        alice.create_topics([NewTopic("hers", 1, 1)])["hers"].result(TIMEOUT_S)
    operator = AdminClient({"bootstrap.servers": f"127.0.0.1:{node.port('PLAINTEXT')}"})
    operator.create_topics([NewTopic(TOPIC, 2, 1)])[TOPIC].result(TIMEOUT_S)
    wanted = {("User:alice", "CREATE_TOPICS", "hers", False), ("User:ANONYMOUS", "CREATE_TOPICS", TOPIC, True)}
    for line in read(node):
        found = (line["principal"], line["api"], line["resource_name"], line["allowed"])
        if line["resource_type"] == "CLUSTER" and line["allowed"]:
            found = (line["principal"], line["api"], TOPIC, True)
        wanted.discard(found)
        if not wanted:
            break
    assert not wanted
