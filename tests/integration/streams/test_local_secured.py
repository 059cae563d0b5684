"""An application on a cluster with TLS, log-in and rules: it runs with the least rights, and names what it lacks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.protocol.acl import AclOperation, AclResourceType, PatternType
from ottla.streams.local.kafka_streams import KafkaStreams
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow
from tests.integration.streams.counting import counting, counts, expected, local, produce, wait_until

_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
VALUES = [f"v{number % 5}" for number in range(20)]

Right = tuple[AclOperation, AclResourceType, str, PatternType]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    settings = {
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "1",
        # Records are dated long ago.
        "log.initial.task.delay.ms": "86400000",
    }
    with SecuredNode(tmp_path_factory.mktemp("secured"), **GUARDED, **settings) as found:
        yield found


def rights(name: str, guarantee: str) -> dict[str, Right]:
    """The least that an application needs; its topics are `name-in` and `name-out`."""
    topic, group = AclResourceType.TOPIC, AclResourceType.GROUP
    literal, prefixed = PatternType.LITERAL, PatternType.PREFIXED
    found = {
        "read its input": (AclOperation.READ, topic, f"{name}-in", literal),
        "write its output": (AclOperation.WRITE, topic, f"{name}-out", literal),
        "read its group": (AclOperation.READ, group, name, literal),
        "create internal topics": (AclOperation.CREATE, topic, f"{name}-counts", prefixed),
        "read internal topics": (AclOperation.READ, topic, f"{name}-counts", prefixed),
        "write internal topics": (AclOperation.WRITE, topic, f"{name}-counts", prefixed),
        "purge internal topics": (AclOperation.DELETE, topic, f"{name}-counts", prefixed),
    }
    if guarantee == "exactly_once_v2":
        found["write transactions"] = (AclOperation.WRITE, AclResourceType.TRANSACTIONAL_ID, name, prefixed)
    return found


def application(node: SecuredNode, name: str, directory: Path, guarantee: str, lacking: str = "") -> KafkaStreams:
    """An application of alice's, who has all rights that it needs but one."""
    with Admin(bootstrap_servers=node.address("PLAINTEXT", "127.0.0.1")) as admin:
        admin.create_topics([NewTopic(f"{name}-{end}", 2, 1) for end in ("in", "out")])
    produce(node.address("PLAINTEXT", "127.0.0.1"), f"{name}-in", VALUES)
    for what, (operation, kind, resource, pattern) in rights(name, guarantee).items():
        if what != lacking:
            allow(node, operation, kind, resource, pattern=pattern)
    config = {
        "application_id": name,
        "state_dir": str(directory),
        "processing_guarantee": guarantee,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_jaas_config": f'{_MODULE} username="alice" password="secret";',
        "ssl_truststore_location": str(node.authority.certificate),
        "repartition_purge_interval_ms": "100",
    }
    return local(counting(f"{name}-in", f"{name}-out"), node.address("SASLTLS"), **config)


@pytest.mark.parametrize("guarantee", [pytest.param("at_least_once", marks=pytest.mark.long), "exactly_once_v2"])
def test_the_least_rights(node: SecuredNode, tmp_path: Path, guarantee: str) -> None:
    name = f"least-{guarantee.replace('_', '-')}"
    plain = node.address("PLAINTEXT", "127.0.0.1")
    with application(node, name, tmp_path, guarantee) as streams:
        wait_until(lambda: counts(plain, f"{name}-out") == expected(VALUES), streams)


_REFUSALS = {
    "read its input": "there is no topic NAME-in: create it first, or allow READ on it",
    "write its output": "NAME-out: Topic authorization failed.+ WRITE on those that it writes",
    "read its group": "Group authorization failed.+ needs READ on the group NAME",
    "create internal topics": "the topic NAME-counts-repartition cannot be made:.+ needs CREATE on the topic",
    "read internal topics": "NAME-counts-repartition-.: Topic authorization failed.+ READ, WRITE and DELETE on its own",
    "write internal topics": "NAME-counts-repartition: Topic authorization failed.+ READ, WRITE and DELETE on its own",
    "write transactions": "Transactional Id authorization failed.+ WRITE on transactional ids that begin with NAME",
}
"""How the application ends that lacks a right; without the right to purge it goes on, as in Kafka Streams."""

_SHORT = ("read its group", "write its output")


@pytest.mark.parametrize(
    "lacking",
    [pytest.param(each, marks=[] if each in _SHORT else pytest.mark.long) for each in _REFUSALS],
)
def test_a_right_that_is_missing(node: SecuredNode, tmp_path: Path, lacking: str) -> None:
    name = f"lacking-{lacking.replace(' ', '-')}"
    with application(node, name, tmp_path, "exactly_once_v2", lacking) as streams:
        wait_until(lambda: streams.failure is not None)
    assert re.search(_REFUSALS[lacking].replace("NAME", name), str(streams.failure))
