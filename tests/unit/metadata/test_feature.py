"""Feature levels: what exists, what a new cluster gets, and how levels are raised and lowered."""

from typing import Any

import pytest

from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.controller.context import Caller
from ottla.metadata.errors import MetadataError
from ottla.metadata.feature import default_features
from ottla.metadata.image.config import CLUSTER_DEFAULT, ConfigResource, ResourceType
from ottla.metadata.metadata_version import MetadataVersion, metadata_changed_between
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.protocol.metadata_log.config import ConfigRecord
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from tests.unit.metadata.cluster import Cluster, registration

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


class TestMetadataVersion:
    def test_names(self) -> None:
        assert str(MetadataVersion(7)) == "3.3-IV3"
        assert MetadataVersion.parse("4.3-IV0") == 30
        assert MetadataVersion.parse("4.0") == 25
        with pytest.raises(ValueError, match=r"Unknown metadata\.version '2\.8'"):
            MetadataVersion.parse("2.8")

    @pytest.mark.parametrize(
        ("level", "register_broker", "partition"), [(7, 1, 0), (8, 2, 0), (17, 3, 1), (23, 3, 2), (30, 4, 2)]
    )
    def test_record_versions(self, level: int, register_broker: int, partition: int) -> None:
        version = MetadataVersion(level)
        assert version.register_broker_record_version == register_broker
        assert version.partition_record_version == partition

    def test_where_a_downgrade_would_lose_something(self) -> None:
        assert not metadata_changed_between(MetadataVersion(29), MetadataVersion(24))
        assert metadata_changed_between(MetadataVersion(29), MetadataVersion(30))


class TestDefaults:
    def test_of_a_new_cluster(self) -> None:
        """What `StorageTool format` of Kafka 4.3.1 prints."""
        assert default_features(MetadataVersion(30)) == {
            "metadata.version": 30,
            "eligible.leader.replicas.version": 1,
            "group.version": 1,
            "share.version": 1,
            "streams.version": 1,
            "transaction.version": 2,
        }

    def test_of_older_ones(self) -> None:
        assert default_features(MetadataVersion(21)) == {"metadata.version": 21}
        assert default_features(MetadataVersion(25)).keys() == {
            "metadata.version",
            "group.version",
            "transaction.version",
        }

    def test_bootstrap_records_need_a_metadata_version(self) -> None:
        with pytest.raises(MetadataError):
            bootstrap_records({"group.version": 1})


def update(cluster: Cluster, *updates: tuple[str, int, int], api_version: int = 2, **options: Any) -> Any:
    keys = [FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind) for name, level, kind in updates]
    return cluster.ask(UpdateFeaturesRequest(feature_updates=keys, **options), Caller(api_version=api_version))


class TestUpdateFeatures:
    def test_upgrade(self) -> None:
        cluster = Cluster(MetadataVersion(28))
        assert update(cluster, ("metadata.version", 30, UPGRADE)).error_code == 0
        assert cluster.image.features.version == 30

    def test_switching_elr_on_makes_the_minimum_the_clusters(self) -> None:
        cluster = Cluster(elr=False)
        cluster.start(1)
        start = cluster.quorum.end_offset()
        broker = ConfigResource(ResourceType.BROKER, "1")
        cluster.write(ConfigRecord(resource_type=4, resource_name="1", name="min.insync.replicas", value="2"))
        assert broker in cluster.image.configs
        assert update(cluster, ("eligible.leader.replicas.version", 1, UPGRADE)).error_code == 0
        assert cluster.quorum.records(start)[1:] == [
            ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="1"),
            ConfigRecord(resource_type=4, resource_name="1", name="min.insync.replicas", value=None),
            FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1),
        ]
        assert cluster.image.configs_of(CLUSTER_DEFAULT)["min.insync.replicas"] == "1"
        assert broker not in cluster.image.configs

    def test_switching_a_feature_off(self) -> None:
        cluster = Cluster()
        assert update(cluster, ("share.version", 0, SAFE_DOWNGRADE)).error_code == 0
        assert cluster.image.features.level("share.version") == 0

    def test_validate_only_writes_nothing(self) -> None:
        cluster = Cluster()
        assert update(cluster, ("share.version", 0, SAFE_DOWNGRADE), validate_only=True).error_code == 0
        assert cluster.image.features.level("share.version") == 1

    def test_results_of_each_feature_in_old_versions(self) -> None:
        response = update(Cluster(), ("share.version", 0, SAFE_DOWNGRADE), api_version=1)
        assert [(result.feature, result.error_message) for result in response.results] == [("share.version", "NONE")]

    def test_version_0_knows_a_flag_only(self) -> None:
        cluster = Cluster()
        key = FeatureUpdateKey(feature="share.version", max_version_level=0, allow_downgrade=True)
        response = cluster.ask(UpdateFeaturesRequest(feature_updates=[key]), Caller(api_version=0))
        assert response.error_code == 0
        assert cluster.image.features.level("share.version") == 0

    def test_kraft_version_is_the_quorums(self) -> None:
        cluster = Cluster()
        cluster.quorum.level = 0
        assert update(cluster, ("kraft.version", 1, UPGRADE)).error_code == 0
        assert cluster.quorum.level == 1
        assert update(cluster, ("kraft.version", 0, SAFE_DOWNGRADE)).error_code == ErrorCode.INVALID_UPDATE_VERSION

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                ("metadata.version", 29, SAFE_DOWNGRADE),
                "Unsupported metadata.version downgrade from 30 to 29. Refusing to perform the requested downgrade "
                "because it might delete metadata information.",
            ),
            (
                ("metadata.version", 29, UNSAFE_DOWNGRADE),
                "Unsupported metadata.version downgrade from 30 to 29. Unsafe metadata downgrade is not supported in "
                "this version.",
            ),
            (
                ("metadata.version", 29, UPGRADE),
                "Invalid update version 29 for feature metadata.version. Can't downgrade the version of this feature "
                "without setting the upgrade type to either safe or unsafe downgrade.",
            ),
            (
                ("metadata.version", 31, UPGRADE),
                "Invalid update version 31 for feature metadata.version. Local controller 3000 only supports versions "
                "7-30",
            ),
            (
                ("share.version", 1, 9),
                "Invalid update version 1 for feature share.version. The controller does not support the given upgrade "
                "type.",
            ),
            (
                ("share.version", -1, UPGRADE),
                "Invalid update version -1 for feature share.version. A feature version cannot be less than 0.",
            ),
            (
                ("nonsense", 1, UPGRADE),
                "Invalid update version 1 for feature nonsense. Local controller 3000 does not support this feature.",
            ),
            (
                ("nonsense", 0, UPGRADE),
                "Invalid update version 0 for feature nonsense. Feature nonsense not found.",
            ),
        ],
    )
    def test_refusals(self, change: tuple[str, int, int], message: str) -> None:
        response = update(Cluster(), change)
        assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
        assert response.error_message == (
            f"The update failed for all features since the following feature had an error: {message}"
        )

    def test_one_refusal_refuses_the_quorums_own_too(self) -> None:
        cluster = Cluster()
        cluster.quorum.level = 0
        changes = [("kraft.version", 1, UPGRADE), ("group.version", 9, UPGRADE)]
        assert update(cluster, *changes).error_code == ErrorCode.INVALID_UPDATE_VERSION
        assert cluster.quorum.level == 0
        assert update(cluster, changes[0], validate_only=True).error_code == 0
        assert cluster.quorum.level == 0
        assert update(cluster, changes[0]).error_code == 0
        assert cluster.quorum.level == 1

    def test_one_refusal_refuses_all(self) -> None:
        cluster = Cluster()
        assert update(cluster, ("share.version", 0, SAFE_DOWNGRADE), ("nonsense", 1, UPGRADE)).error_code != 0
        assert cluster.image.features.level("share.version") == 1

    def test_every_broker_must_support_the_level(self) -> None:
        cluster = Cluster(MetadataVersion(27))
        features = registration(1).features
        for feature in features:
            if feature.name == "metadata.version":
                feature.max_supported_version = 28
        cluster.start(1, features=features)
        response = update(cluster, ("metadata.version", 30, UPGRADE))
        assert "Broker 1 only supports versions 7-28" in response.error_message

    def test_a_level_needs_its_metadata_version(self) -> None:
        cluster = Cluster(MetadataVersion(22))
        response = update(cluster, ("eligible.leader.replicas.version", 1, UPGRADE))
        assert "because it depends on metadata.version level 23" in response.error_message

    def test_voters_that_have_not_registered_are_waited_for(self) -> None:
        cluster = Cluster()
        cluster.quorum.voters = [3000, 3001]
        response = update(cluster, ("share.version", 0, SAFE_DOWNGRADE))
        assert "controller 3001 has not registered, and may not support this feature" in response.error_message
