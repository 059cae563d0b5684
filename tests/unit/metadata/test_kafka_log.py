"""A metadata log and a snapshot that Apache Kafka 4.3.1 wrote (see `make_fixture`), against what its tools showed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.metadata.batch import CommittedBatch, read_batches, record_values
from ottla.metadata.image.client_quota import entity_of
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType, topic_resource
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.snapshot import load_snapshot, snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType, PatternType
from ottla.protocol.metadata_log.log import decode_record, encode_record
from ottla.protocol.records.batch import batches
from ottla.protocol.records.reader import decode_batch
from ottla.protocol.scram import ScramMechanism

FIXTURE = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1-metadata"
LOG = "00000000000000000000.log"
SNAPSHOT = "00000000000000000191-0000000002.checkpoint"
SNAPSHOT_END = 191


def batches_of(name: str) -> list[CommittedBatch]:
    return list(read_batches((FIXTURE / name).read_bytes()))


def values_of(name: str) -> Iterator[bytes]:
    """The bytes of every record that is not the quorum's own."""
    for batch in batches((FIXTURE / name).read_bytes()):
        assert batch.crc_matches()
        if not batch.is_control:
            yield from (bytes(value or b"") for _, _, _, value, _ in decode_batch(batch))


@pytest.fixture(scope="module")
def image() -> MetadataImage:
    """The log up to the snapshot's end."""
    loader = MetadataLoader()
    loader.load(batch for batch in batches_of(LOG) if batch.last_offset < SNAPSHOT_END)
    return loader.image


def shown(name: str) -> str:
    return (FIXTURE / name).read_text()


def test_the_log_and_the_snapshot_give_the_same_image(image: MetadataImage) -> None:
    snapshot = [record for batch in batches_of(SNAPSHOT) for record in batch.records]
    assert load_snapshot(snapshot, image.provenance) == image
    assert image.provenance.offset == SNAPSHOT_END - 1


def test_our_snapshot_has_the_very_records_of_kafkas(image: MetadataImage) -> None:
    """Byte for byte, but in our order: Kafka's is that of its hash tables, also within a registration's features."""

    def in_our_order(value: bytes) -> bytes:
        record = decode_record(value)
        features = getattr(record.record, "features", None)
        if features is not None:
            features.sort(key=lambda feature: feature.name)
        return encode_record(*record)

    ours = sorted(record_values(list(snapshot_records(image))))
    assert ours == sorted(map(in_our_order, values_of(SNAPSHOT)))


def test_every_record_is_written_back_as_it_was() -> None:
    for name in (LOG, SNAPSHOT, "bootstrap.checkpoint"):
        for value in values_of(name):
            assert encode_record(*decode_record(value)) == value


def test_topics(image: MetadataImage) -> None:
    lines = []
    for name in ("payments.eu", "orders"):
        topic = image.topics.topic(name)
        assert topic is not None
        own = sorted(image.configs_of(topic_resource(name)).items())
        configs = dict([("min.insync.replicas", image.configs_of(CLUSTER_DEFAULT)["min.insync.replicas"]), *own])
        lines.append(
            f"Topic: {name}\tTopicId: {topic.id}\tPartitionCount: {len(topic.partitions)}\tReplicationFactor: 1\t"
            f"Configs: {','.join(f'{key}={value}' for key, value in configs.items())}"
        )
        for index, partition in enumerate(topic.partitions):
            replicas, isr = (",".join(map(str, ids)) for ids in (partition.replicas, partition.isr))
            lines.append(
                f"\tTopic: {name}\tPartition: {index}\tLeader: {partition.leader}\tReplicas: {replicas}\tIsr: {isr}\t"
                "Elr: \tLastKnownElr: "
            )
    assert lines == shown("topics.txt").rstrip("\n").split("\n")
    assert set(image.topics.ids) == {"orders", "payments.eu"}


def test_replicas_live_in_the_brokers_directories(image: MetadataImage) -> None:
    directories = set(image.cluster.brokers[1].directories)
    assert len(directories) == 2
    used = {d for topic in image.topics.by_id.values() for p in topic.partitions for d in p.directories}
    assert used == directories


def test_configs(image: MetadataImage) -> None:
    text = shown("configs-topics.txt") + shown("configs-brokers.txt")
    expected = [line.split(" sensitive=")[0].strip() for line in text.splitlines() if line.startswith("  ")]
    resources = [
        topic_resource("orders"),
        topic_resource("payments.eu"),
        ConfigResource(ResourceType.BROKER, "1"),
        CLUSTER_DEFAULT,
    ]
    ours = [f"{name}={value}" for resource in resources for name, value in sorted(image.configs_of(resource).items())]
    assert ours == expected
    assert set(image.configs) == set(resources)


def test_quotas(image: MetadataImage) -> None:
    alice = image.client_quotas[entity_of([("user", "alice")])]
    assert dict(alice) == {"producer_byte_rate": 1024.0, "request_percentage": 50.0}
    assert "user-principal 'alice' are request_percentage=50.0, producer_byte_rate=1024.0" in shown("users.txt")
    app = image.client_quotas[entity_of([("user", None), ("client-id", "app")])]
    assert f"client-id 'app' are consumer_byte_rate={app['consumer_byte_rate']}" in shown("clients.txt")
    address = image.client_quotas[entity_of([("ip", "127.0.0.9")])]
    assert f"ip '127.0.0.9' are connection_creation_rate={address['connection_creation_rate']}" in shown("ips.txt")


def test_scram_users(image: MetadataImage) -> None:
    [(user, credential)] = image.scram.items()
    mechanism = ScramMechanism(user.mechanism).name.replace("_", "-")
    line = (
        f"SCRAM credential configs for user-principal '{user.name}' are {mechanism}=iterations={credential.iterations}"
    )
    assert line in shown("users.txt")


def test_acls(image: MetadataImage) -> None:
    text = shown("acls.txt")
    assert len(image.acls.by_id) == text.count("principal=")
    for acl in image.acls.by_id.values():
        pattern = (
            f"resourceType={AclResourceType(acl.resource_type).name}, name={acl.resource_name}, "
            f"patternType={PatternType(acl.pattern_type).name}"
        )
        entry = (
            f"(principal={acl.principal}, host={acl.host}, operation={AclOperation(acl.operation).name}, "
            f"permissionType={AclPermissionType(acl.permission_type).name})"
        )
        assert f"{pattern})`:\n\t{entry}" in text


def test_features(image: MetadataImage) -> None:
    finalized = {}
    for line in shown("features.txt").splitlines():
        words = line.split()
        finalized[words[1]] = words[words.index("FinalizedVersionLevel:") + 1]
    ours = {name: str(level) for name, level in image.features.levels().items()}
    ours["metadata.version"] = str(image.features.version)
    assert ours == {name: level for name, level in finalized.items() if name != "kraft.version"}


def test_nodes(image: MetadataImage) -> None:
    broker = image.cluster.brokers[1]
    assert (broker.rack, broker.fenced, broker.in_controlled_shutdown) == ("rack-a", False, False)
    assert broker.listeners[0].name == "PLAINTEXT"
    assert image.cluster.controllers[1].listeners[0].name == "CONTROLLER"


def test_the_whole_log_ends_with_the_broker_gone() -> None:
    loader = MetadataLoader()
    loader.load(batches_of(LOG))
    assert loader.image.cluster.brokers[1].fenced
    assert all(
        (partition.leader, partition.isr, partition.elr, partition.last_known_elr) == (-1, (), (1,), (1,))
        for topic in loader.image.topics.by_id.values()
        for partition in topic.partitions
    )
