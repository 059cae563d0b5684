"""The controllers as a cluster: for clients that speak to them without any broker (KIP-919).

Controllers don't serve Metadata; DescribeCluster names them, and who of them leads.
"""

from typing import Final

from ottla.client.cluster.cluster_client import ANY_NODE, ClusterClient
from ottla.client.cluster.cluster_view import BrokerView, ClusterView
from ottla.client.config.settings import ClientSettings
from ottla.protocol.errors import error_for
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

CONTROLLERS: Final = 2


class ControllerCluster(ClusterClient):
    """A cluster client that starts from `bootstrap.controllers` and whose nodes are the controllers."""

    def __init__(self, settings: ClientSettings) -> None:
        super().__init__(settings.but(bootstrap_servers=settings.list("bootstrap.controllers")))

    async def _ask_metadata(self) -> ClusterView:
        response = await self.request(ANY_NODE, DescribeClusterRequest(endpoint_type=CONTROLLERS))
        assert isinstance(response, DescribeClusterResponse)
        if response.error_code:
            raise error_for(response.error_code, response.error_message)
        nodes = {found.broker_id: BrokerView(found.broker_id, found.host, found.port) for found in response.brokers}
        self._publish(ClusterView(response.cluster_id, response.controller_id, nodes))
        return self.view
