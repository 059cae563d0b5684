"""The cluster: its nodes, its features, and what each node serves."""

from collections.abc import Mapping
from typing import Final

from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations, authorized_operations
from ottla.client.admin.value.cluster import (
    ApiVersionRange,
    ClusterDescription,
    FeatureMetadata,
    FeatureUpdate,
    Node,
    VersionLevels,
)
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse

BROKERS: Final = 1
CONTROLLERS: Final = 2


class ClusterOperations(AdminOperations):
    """Operations on the cluster as a whole."""

    _endpoint_type: int = BROKERS
    """Whom we speak to: brokers, or controllers by `bootstrap.controllers` (KIP-919)."""

    async def describe_cluster(
        self, *, include_fenced_brokers: bool = False, include_authorized_operations: bool = False
    ) -> ClusterDescription:
        """The cluster's id, its controller and its brokers, or its controllers if we speak to them."""
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=include_authorized_operations,
            endpoint_type=self._endpoint_type,
            include_fenced_brokers=include_fenced_brokers,
        )
        response = await self._channel.ask(ANY_NODE, request, DescribeClusterResponse)
        nodes = tuple(
            Node(found.broker_id, found.host, found.port, found.rack, found.is_fenced) for found in response.brokers
        )
        controller = next((node for node in nodes if node.id == response.controller_id), None)
        return ClusterDescription(
            response.cluster_id, controller, nodes, authorized_operations(response.cluster_authorized_operations)
        )

    async def describe_api_versions(self, node_id: int | None = None) -> list[ApiVersionRange]:
        """The APIs that a node serves, in the order of their keys."""
        response = await self._api_versions(node_id)
        found = [ApiVersionRange(api.api_key, api.min_version, api.max_version) for api in response.api_keys]
        return sorted(found)

    async def describe_features(self, node_id: int | None = None) -> FeatureMetadata:
        """The features in force, and those that a node supports."""
        response = await self._api_versions(node_id)
        epoch = response.finalized_features_epoch
        return FeatureMetadata(
            finalized={
                found.name: VersionLevels(found.min_version_level, found.max_version_level)
                for found in response.finalized_features
            },
            finalized_epoch=None if epoch < 0 else epoch,
            supported={
                found.name: VersionLevels(found.min_version, found.max_version) for found in response.supported_features
            },
        )

    async def _api_versions(self, node_id: int | None) -> ApiVersionsResponse:
        request = ApiVersionsRequest(client_software_name="ottla", client_software_version="0")
        return await self._channel.ask(ANY_NODE if node_id is None else node_id, request, ApiVersionsResponse)

    async def update_features(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool = False) -> None:
        """Changes the levels of features, all of them or none."""
        request = UpdateFeaturesRequest(
            timeout_ms=self._channel.request_timeout_ms,
            feature_updates=[
                FeatureUpdateKey(
                    feature=name,
                    max_version_level=update.level,
                    upgrade_type=update.upgrade_type,
                )
                for name, update in updates.items()
            ],
            validate_only=validate_only,
        )
        await self._channel.ask(CONTROLLER, request, UpdateFeaturesResponse)

    async def unregister_broker(self, broker_id: int) -> None:
        """Forgets a broker that won't come back."""
        await self._channel.ask(CONTROLLER, UnregisterBrokerRequest(broker_id=broker_id), UnregisterBrokerResponse)
