"""The image: records of all kinds and ages, what contradicts it, and the way through a snapshot."""

from typing import Any

import pytest

from ottla.metadata.directory_id import MIGRATING
from ottla.metadata.errors import MetadataError, UnwritableMetadataError
from ottla.metadata.image.difference import difference
from ottla.metadata.image.metadata_delta import MetadataDelta, apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, NOTHING, MetadataImage
from ottla.metadata.image.snapshot import load_snapshot, snapshot_records
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.metadata_log.broker import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
)
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord, ZkMigrationStateRecord
from ottla.protocol.metadata_log.log import RECORD_TYPES, decode_record, encode_record
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.security import RemoveAccessControlEntryRecord, RemoveUserScramCredentialRecord
from ottla.protocol.metadata_log.topic import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.protocol.metadata_log.transaction import BeginTransactionRecord
from tests.unit.metadata import test_security
from tests.unit.metadata.cluster import Cluster, directory_of, uuid_of
from tests.unit.metadata.test_client_quota import alter, entry

TOPIC = TopicRecord(name="t", topic_id=uuid_of(1))


def image_of(*records: MetadataRecord) -> MetadataImage:
    return apply_records(EMPTY_IMAGE, records, NOTHING)[0]


def partition(index: int = 0, **values: Any) -> PartitionRecord:
    defaults = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "leader_epoch": 0, "partition_epoch": 0}
    return PartitionRecord(partition_id=index, topic_id=uuid_of(1), **{**defaults, **values})


class TestPartitions:
    def test_a_change_that_names_the_leader_bumps_its_epoch(self) -> None:
        change = PartitionChangeRecord(partition_id=0, topic_id=uuid_of(1), leader=1)
        changed = image_of(TOPIC, partition(), change).topics.partition(uuid_of(1), 0)
        assert changed is not None
        assert (changed.leader, changed.leader_epoch, changed.partition_epoch) == (1, 1, 1)

    def test_a_change_of_the_isr_does_not(self) -> None:
        change = PartitionChangeRecord(partition_id=0, topic_id=uuid_of(1), isr=[1])
        changed = image_of(TOPIC, partition(), change).topics.partition(uuid_of(1), 0)
        assert changed is not None
        assert (changed.isr, changed.leader_epoch, changed.partition_epoch) == ((1,), 0, 1)

    def test_records_from_before_directories_get_the_placeholder(self) -> None:
        change = PartitionChangeRecord(partition_id=0, topic_id=uuid_of(1), replicas=[1, 2, 3])
        changed = image_of(TOPIC, partition(), change).topics.partition(uuid_of(1), 0)
        assert changed is not None
        assert changed.directories == (MIGRATING,) * 3

    def test_directories_must_match_the_replicas(self) -> None:
        with pytest.raises(MetadataError, match="1 directories for 2 replicas"):
            image_of(TOPIC, partition(directories=[directory_of(1)]))

    def test_a_gap_is_an_error(self) -> None:
        with pytest.raises(MetadataError, match="partition 2 of topic t has no partition 1 before it"):
            image_of(TOPIC, partition(0), partition(2))

    def test_the_order_within_a_batch_does_not_matter(self) -> None:
        assert image_of(TOPIC, partition(1, leader=2), partition(0)) == image_of(
            TOPIC, partition(0), partition(1, leader=2)
        )


class TestContradictions:
    @pytest.mark.parametrize(
        "records",
        [
            [partition()],
            [TOPIC, TOPIC],
            [TOPIC, PartitionChangeRecord(partition_id=3, topic_id=uuid_of(1))],
            [RemoveTopicRecord(topic_id=uuid_of(1))],
            [TOPIC, RemoveTopicRecord(topic_id=uuid_of(1)), partition()],
            [ClearElrRecord(topic_name="nope")],
            [UnregisterBrokerRecord(broker_id=1)],
            [RegisterBrokerRecord(broker_id=1, broker_epoch=5), FenceBrokerRecord(id=1, epoch=4)],
            [BrokerRegistrationChangeRecord(broker_id=1)],
            [RemoveUserScramCredentialRecord(name="alice", mechanism=1)],
            [RemoveAccessControlEntryRecord(id=uuid_of(1))],
            [FeatureLevelRecord(name="metadata.version", feature_level=6)],
            [FeatureLevelRecord(name="metadata.version", feature_level=31)],
            [FeatureLevelRecord(name="share.version", feature_level=2)],
            [FeatureLevelRecord(name="share.version", feature_level=-1)],
            [FeatureLevelRecord(name="feature.of.tomorrow", feature_level=1)],
            [BeginTransactionRecord()],
        ],
    )
    def test_stop_the_reader(self, records: list[MetadataRecord]) -> None:
        with pytest.raises(MetadataError):
            image_of(*records)


class TestOtherRecords:
    def test_fence_and_unfence_of_old_logs(self) -> None:
        register = RegisterBrokerRecord(broker_id=1, broker_epoch=5)
        assert not image_of(register, UnfenceBrokerRecord(id=1, epoch=5)).cluster.brokers[1].fenced
        fenced = image_of(register, UnfenceBrokerRecord(id=1, epoch=5), FenceBrokerRecord(id=1, epoch=5))
        assert fenced.cluster.brokers[1].fenced

    def test_a_topic_that_comes_and_goes_in_a_batch_leaves_no_trace(self) -> None:
        image, delta = apply_records(EMPTY_IMAGE, [TOPIC, partition(), RemoveTopicRecord(topic_id=uuid_of(1))], NOTHING)
        assert image == EMPTY_IMAGE
        assert (delta.topics.created, delta.topics.deleted, delta.topics.changed) == ({}, {}, {})

    def test_deleted_and_created_again_it_is_another_topic(self) -> None:
        base = image_of(TOPIC, partition())
        records = [RemoveTopicRecord(topic_id=uuid_of(1)), TopicRecord(name="t", topic_id=uuid_of(2))]
        image, delta = apply_records(base, records, NOTHING)
        assert image.topics.ids["t"] == uuid_of(2)
        assert (set(delta.topics.deleted), delta.topics.created) == ({uuid_of(1)}, {"t": uuid_of(2)})

    def test_a_kraft_version_in_the_log_is_ignored(self) -> None:
        assert image_of(FeatureLevelRecord(name="kraft.version", feature_level=1)).features.levels() == {}

    def test_a_feature_of_tomorrow_may_be_switched_off(self) -> None:
        assert image_of(FeatureLevelRecord(name="feature.of.tomorrow", feature_level=0)).features.levels() == {}

    def test_a_zookeeper_migration_says_nothing(self) -> None:
        assert image_of(ZkMigrationStateRecord(zk_migration_state=2)) == EMPTY_IMAGE

    def test_every_record_type_but_the_brackets_is_known(self) -> None:
        brackets = {23, 24, 25}
        assert set(MetadataDelta(EMPTY_IMAGE)._handlers) == set(RECORD_TYPES) - brackets


def rich_cluster(version: MetadataVersion = MetadataVersion.V4_3_IV0) -> Cluster:
    """Something of every kind that the version knows."""
    cluster = Cluster(version, delegation_token_secret_key=b"s")
    cluster.start(1, 2, 3, rack="a")
    cluster.create("t", [1, 2, 3], [2, 3, 1], min_insync_replicas="2")
    cluster.create("a.b", [1])
    cluster.fence(1, 2)
    alter(cluster, entry([("user", None)], ("producer_byte_rate", 5.0)))
    cluster.ask(test_security.CreateAclsRequest(creations=[test_security.creation()]))
    if version.supports_scram:
        test_security.alter(cluster, test_security.upsertion())
    if version.supports_delegation_tokens:
        cluster.ask(test_security.CreateDelegationTokenRequest(max_lifetime_ms=-1), test_security.ALICE)
    broker = cluster.image.cluster.brokers[3]
    cluster.ask(AllocateProducerIdsRequest(broker_id=3, broker_epoch=broker.epoch))
    return cluster


class TestSnapshot:
    @pytest.mark.parametrize("version", [MetadataVersion(level) for level in (7, 8, 11, 14, 17, 22, 26, 30)])
    def test_gives_the_same_image_back_at_every_level(self, version: MetadataVersion) -> None:
        image = rich_cluster(version).image
        written = [encode_record(record, level) for record, level in snapshot_records(image)]
        assert load_snapshot([decode_record(value).record for value in written], image.provenance) == image

    def test_keeps_eligible_leaders_after_their_feature_was_switched_off(self) -> None:
        cluster = rich_cluster()
        assert cluster.partition("t").elr == (2,)
        off = FeatureUpdateKey(feature="eligible.leader.replicas.version", max_version_level=0, upgrade_type=2)
        assert cluster.ask(UpdateFeaturesRequest(feature_updates=[off])).error_code == 0
        image = cluster.loader.image
        assert not image.features.elr_enabled
        assert load_snapshot([record for record, _ in snapshot_records(image)], image.provenance) == image

    def test_begins_with_the_features_and_is_always_the_same(self) -> None:
        image = rich_cluster().image
        records = [record for record, _ in snapshot_records(image)]
        assert records[0] == FeatureLevelRecord(name="metadata.version", feature_level=30)
        assert records == [record for record, _ in snapshot_records(image)]
        kinds = list(dict.fromkeys(type(record).__name__ for record in records))
        assert kinds == [
            "FeatureLevelRecord",
            "RegisterBrokerRecord",
            "TopicRecord",
            "PartitionRecord",
            "ConfigRecord",
            "ClientQuotaRecord",
            "ProducerIdsRecord",
            "AccessControlEntryRecord",
            "UserScramCredentialRecord",
            "DelegationTokenRecord",
        ]

    def test_refuses_to_lose_what_an_older_level_has_no_place_for(self) -> None:
        image = rich_cluster().image
        with pytest.raises(UnwritableMetadataError):
            list(snapshot_records(image, MetadataVersion(7)))
        lost: list[str] = []
        records = list(snapshot_records(image, MetadataVersion(7), lost.append))
        assert "SCRAM credentials" in lost
        assert "the eligible leader replicas of one or more partitions" in lost
        for record, level in records:
            encode_record(record, level)
        assert load_snapshot([record for record, _ in records], NOTHING).topics.ids == image.topics.ids


class TestDifference:
    def test_is_always_in_the_same_order(self) -> None:
        """Were it that of a hash table, two runs of one simulation would differ."""
        cluster = Cluster()
        names = [f"user-{number}" for number in range(40)]
        for name in reversed(names):
            alter(cluster, entry([("user", name)], ("producer_byte_rate", 5.0)))
            cluster.write(ConfigRecord(resource_type=4, resource_name=name, name="x", value="1"))
        users = [(("user", name),) for name in sorted(names)]
        delta = difference(EMPTY_IMAGE, cluster.image)
        assert list(delta.client_quotas.changes) == users
        assert [resource.name for resource in delta.configs.changes] == ["", *sorted(names)]
        assert list(difference(cluster.image, EMPTY_IMAGE).client_quotas.changes) == users
