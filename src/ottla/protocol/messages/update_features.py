"""UpdateFeatures (key 57): sets the finalized levels of features (KIP-584).

Sent by admin clients to any broker, which forwards it to the controller. All changes are made or none. A
`max_version_level` below 1 removes the feature. v0 has `allow_downgrade`; v1 has `upgrade_type` instead, 1 upgrade, 2
safe downgrade, 3 downgrade that may lose metadata, and `validate_only` (KIP-778). v2 answers with a single result.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int8, int16, int32, string


class FeatureUpdateKey(Struct):
    feature: str = string("0+")
    max_version_level: int = int16("0+")
    allow_downgrade: bool = boolean("0")
    upgrade_type: int = int8("1+", default=1)


class UpdateFeaturesRequest(Request, api=ApiKey.UPDATE_FEATURES, versions="0-2", flexible="0+"):
    timeout_ms: int = int32("0+", default=60000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey, "0+")
    validate_only: bool = boolean("1+")


class UpdatableFeatureResult(Struct):
    feature: str = string("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")


class UpdateFeaturesResponse(Response, api=ApiKey.UPDATE_FEATURES, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    results: list[UpdatableFeatureResult] = array(UpdatableFeatureResult, "0-1", ignorable=True)
