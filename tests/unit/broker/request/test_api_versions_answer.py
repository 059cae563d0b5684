"""What a node says of itself."""

from ottla.broker.request.api_table import BROKER_SERVED, CONTROLLER_SERVED
from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage, Provenance
from ottla.protocol.api_key import ApiKey
from ottla.protocol.messages.api_versions import ApiVersionsResponse
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import NoOpRecord


def image() -> MetadataImage:
    records = [
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="group.version", feature_level=1),
    ]
    return apply_records(EMPTY_IMAGE, records, Provenance(41, 0, 0))[0]


def answer(version: int, kraft_version: int = 1) -> ApiVersionsResponse:
    encoded = ApiVersionsAnswer(BROKER_SERVED).encoded(version, image(), kraft_version)
    return ApiVersionsResponse.decode(encoded, version)


def test_every_version_lists_the_calls() -> None:
    for version in range(5):
        keys = {key.api_key: (key.min_version, key.max_version) for key in answer(version).api_keys}
        assert keys[ApiKey.PRODUCE] == (0, 13)
        assert keys[ApiKey.FETCH] == (4, 18)
        assert ApiKey.PUSH_TELEMETRY not in keys
        assert list(keys) == sorted(keys)


def test_features_come_with_version_3() -> None:
    assert answer(2).supported_features == []
    assert answer(2).finalized_features_epoch == -1


def test_old_clients_are_spared_features_that_may_be_off() -> None:
    assert [feature.name for feature in answer(3).supported_features] == ["metadata.version"]
    assert len(answer(4).supported_features) == 7


def test_finalized_features_have_the_offset_of_the_image_as_their_epoch() -> None:
    found = answer(4)
    levels = {feature.name: feature.max_version_level for feature in found.finalized_features}
    assert levels == {"metadata.version": 30, "group.version": 1, "kraft.version": 1}
    assert all(feature.min_version_level == feature.max_version_level for feature in found.finalized_features)
    assert found.finalized_features_epoch == 41
    assert not found.zk_migration_ready


def test_a_quorum_of_the_first_version_is_not_finalized() -> None:
    assert "kraft.version" not in {feature.name for feature in answer(4, kraft_version=0).finalized_features}


def test_the_answer_is_encoded_once_for_an_image() -> None:
    answers = ApiVersionsAnswer(CONTROLLER_SERVED)
    first = image()
    encoded = answers.encoded(4, first, 1)
    assert answers.encoded(4, first, 1) is encoded
    moved, _ = apply_records(first, [NoOpRecord()], Provenance(42, 0, 0))
    later = ApiVersionsResponse.decode(answers.encoded(4, moved, 1), 4)
    assert later.finalized_features_epoch == 42
    assert {key.api_key for key in later.api_keys} >= {ApiKey.VOTE, ApiKey.BROKER_REGISTRATION}
