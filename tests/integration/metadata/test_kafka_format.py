"""A directory that Apache Kafka formatted and one of ours are the same to either."""

from pathlib import Path

import pytest

from ottla.metadata.store.metadata_store import MetadataStore
from ottla.metadata.store.scram_argument import parse_scram_argument
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import NO_VOTERS, VoterSet
from ottla.storage.disk.local import LocalDisk
from tests.integration.metadata.kafka_node import controller_endpoints
from tests.kafka.peer import KafkaServer, java, require_kafka
from tests.unit.metadata.store.node import CLUSTER_ID, NODE_ID, Node, TestClock, format_standalone

pytestmark = pytest.mark.long

USER = 'SCRAM-SHA-256=[name=alice,password=secret,salt="c2FsdHNhbHQ=",iterations=4096]'


@pytest.fixture(autouse=True)
def kafka() -> None:
    require_kafka()


def voters_of(store: MetadataStore) -> tuple[int, VoterSet]:
    history = VoterHistory(NO_VOTERS, store.log, store.snapshots)
    history.update()
    return history.kraft_version, history.last_set


def test_what_kafka_formats_is_what_we_format(tmp_path: Path) -> None:
    server = KafkaServer(tmp_path / "theirs")
    config = str(tmp_path / "theirs" / "server.properties")
    java("kafka.tools.StorageTool", "format", "--standalone", "-t", CLUSTER_ID, "-c", config, "--add-scram", USER)
    theirs = MetadataStore.open(LocalDisk(), str(server.log_directory), TestClock())

    endpoints = controller_endpoints(tmp_path / "theirs")
    kraft_version, voters = voters_of(theirs)
    assert (kraft_version, voters.ids, voters.endpoints(NODE_ID)) == (1, (NODE_ID,), endpoints)
    assert [key.directory_id for key in voters.keys] == [theirs.properties.directory_id]
    assert (theirs.properties.cluster_id, theirs.properties.node_id) == (CLUSTER_ID, NODE_ID)

    format_standalone(LocalDisk(), str(tmp_path / "ours"), scram=[parse_scram_argument(USER, bytes)])
    ours = MetadataStore.open(LocalDisk(), str(tmp_path / "ours"), TestClock())
    assert ours.bootstrap == theirs.bootstrap
    assert files(tmp_path / "ours") == files(server.log_directory)


def files(directory: Path) -> dict[str, int]:
    """Files and their sizes; the text of meta.properties has a date in Java's."""
    found = [path for path in directory.rglob("*") if path.is_file() and path.name != "meta.properties"]
    return {str(path.relative_to(directory)): path.stat().st_size for path in found}


def test_kafka_starts_on_what_we_formatted_and_we_on_what_it_wrote(tmp_path: Path) -> None:
    server = KafkaServer(tmp_path)
    directory, endpoints = str(server.log_directory), controller_endpoints(tmp_path)
    format_standalone(LocalDisk(), directory, endpoints=endpoints, scram=[parse_scram_argument(USER, bytes)])
    server.start()
    try:
        topics = ("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", server.bootstrap)
        java(*topics, "--create", "--topic", "orders", "--partitions", "3", "--config", "retention.ms=12345")
    finally:
        server.kill()

    node = Node(LocalDisk(), directory, endpoints=endpoints)
    image = node.image
    topic = image.topics.topic("orders")
    assert topic is not None
    assert [partition.replicas for partition in topic.partitions] == [(NODE_ID,)] * 3
    configs = {resource.name: dict(values) for resource, values in image.configs.items()}
    assert configs["orders"] == {"retention.ms": "12345"}
    assert [user.name for user in image.scram] == ["alice"]
    assert set(image.cluster.brokers) == set(image.cluster.controllers) == {NODE_ID}
    assert image.features.version == 30
    assert node.core.voters.endpoints(NODE_ID) == endpoints


def test_kafka_goes_on_with_our_log_and_we_with_its(tmp_path: Path) -> None:
    server = KafkaServer(tmp_path)
    directory, endpoints = str(server.log_directory), controller_endpoints(tmp_path)
    format_standalone(LocalDisk(), directory, endpoints=endpoints)
    node = Node(LocalDisk(), directory, endpoints=endpoints)
    node.start_broker(5)
    node.create_topic("before", broker_id=5, cleanup_policy="compact")
    node.core.delete_before_snapshot(node.take_snapshot())
    node.create_topic("behind", broker_id=5)
    before = {topic.name: topic for topic in node.image.topics.by_id.values()}
    node.store.close()

    server.start()
    try:
        topics = ("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", server.bootstrap)
        java(*topics, "--create", "--topic", "theirs", "--replica-assignment", str(NODE_ID))
        listed = java(*topics, "--describe")
    finally:
        server.stop()
    assert {line.split()[1] for line in listed.splitlines() if "TopicId:" in line} == {"before", "behind", "theirs"}
    assert "cleanup.policy=compact" in listed
    assert str(before["behind"].id) in listed

    again = Node(LocalDisk(), directory, endpoints=endpoints)
    assert again.topics() == {"before", "behind", "theirs"}
    assert {name: again.image.topics.topic(name).id for name in before} == {  # type: ignore[union-attr]
        name: topic.id for name, topic in before.items()
    }
    again.start_broker(6)
    again.create_topic("ours", broker_id=6)
    assert len(again.topics()) == 4
