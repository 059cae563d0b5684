"""ApiVersions (key 18): tells which versions of which APIs a node serves, and its features.

Sent first on a connection, even before authentication. The response always has header v0, also in flexible versions,
since the client can't know better yet. An unknown version is answered with a v0 body, UNSUPPORTED_VERSION and the
range of this API alone (KIP-511). v3 brings the client's name and version (KIP-511) and features (KIP-584); with
`finalized_features_epoch` -1 the finalized ones are unknown. Below v4 features with minimum level 0 are left out,
because old clients can't read them (KAFKA-17011).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, int64, string


class ApiVersionsRequest(Request, api=ApiKey.API_VERSIONS, versions="0-4", flexible="3+"):
    client_software_name: str = string("3+", ignorable=True)
    client_software_version: str = string("3+", ignorable=True)


class ApiVersion(Struct):
    api_key: int = int16("0+")
    min_version: int = int16("0+")
    max_version: int = int16("0+")


class SupportedFeatureKey(Struct):
    name: str = string("3+")
    min_version: int = int16("3+")
    max_version: int = int16("3+")


class FinalizedFeatureKey(Struct):
    name: str = string("3+")
    max_version_level: int = int16("3+")
    min_version_level: int = int16("3+")


class ApiVersionsResponse(Response, api=ApiKey.API_VERSIONS, versions="0-4", flexible="3+"):
    error_code: int = int16("0+")
    api_keys: list[ApiVersion] = array(ApiVersion, "0+")
    throttle_time_ms: int = int32("1+", ignorable=True)
    supported_features: list[SupportedFeatureKey] = array(SupportedFeatureKey, "3+", tag=0, ignorable=True)
    finalized_features_epoch: int = int64("3+", default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = array(FinalizedFeatureKey, "3+", tag=2, ignorable=True)
    zk_migration_ready: bool = boolean("3+", tag=3, ignorable=True)
