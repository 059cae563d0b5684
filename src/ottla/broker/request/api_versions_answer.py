"""A node's answer to ApiVersions: its calls with their versions, and the cluster's features.

The answer is encoded once for each version and image, so that a thousand clients that reconnect at once cost little.
The epoch of the finalized features is the offset of the image, as in Apache Kafka, and so moves with every record.
"""

from typing import Final

from ottla.broker.request.api_table import ApiTable
from ottla.metadata.feature import KRAFT_VERSION, supported_features
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_ALL_FEATURES_SINCE: Final = 4
"""Older clients fail to read a feature whose lowest level is 0 (KAFKA-17492)."""


class ApiVersionsAnswer:
    """The answers of one kind of listener."""

    def __init__(self, table: ApiTable) -> None:
        self._keys = [
            ApiVersion(api_key=int(api), min_version=served.advertised.lowest, max_version=served.advertised.highest)
            for api, served in table.served.items()
            if served.advertised is not None
        ]
        self._image: MetadataImage | None = None
        self._kraft_version = 0
        self._encoded: dict[int, bytes] = {}

    def encoded(self, version: int, image: MetadataImage, kraft_version: int) -> bytes:
        """The body of the answer in a version; `kraft_version` is what the image does not know of the features."""
        if image is not self._image or kraft_version != self._kraft_version:
            self._image, self._kraft_version = image, kraft_version
            self._encoded.clear()
        encoded = self._encoded.get(version)
        if encoded is None:
            encoded = self._encoded[version] = self._response(version, image, kraft_version).encode(version)
        return encoded

    def _response(self, version: int, image: MetadataImage, kraft_version: int) -> ApiVersionsResponse:
        finalized = image.features.levels()
        if kraft_version:
            finalized[KRAFT_VERSION.name] = kraft_version
        return ApiVersionsResponse(
            api_keys=self._keys,
            supported_features=[
                SupportedFeatureKey(name=name, min_version=levels.lowest, max_version=levels.highest)
                for name, levels in supported_features().items()
                if version >= _ALL_FEATURES_SINCE or levels.lowest > 0
            ],
            finalized_features_epoch=image.provenance.offset,
            finalized_features=[
                FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                for name, level in finalized.items()
            ],
        )
