"""DescribeCluster (key 60), versions 0-2: the cluster's id and its brokers, at their addresses for this listener.

v1 can ask for controllers, which a broker's listener refuses with MISMATCHED_ENDPOINT_TYPE; v2 can ask for fenced
brokers, too. The controller is a random live broker: all of them forward. KIP-700, KIP-919, KIP-1073.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.request.metadata.authorized_operation import NOT_ASKED, cluster_operations
from ottla.broker.request.metadata.metadata_cache import NO_BROKER
from ottla.protocol.errors import MismatchedEndpointTypeError, UnsupportedEndpointTypeError
from ottla.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Answers from the image."""
    _check_endpoint_type(request.endpoint_type)
    registered = parts.metadata.registered_brokers(context.listener, context.connection)
    brokers = [
        DescribeClusterBroker(
            broker_id=broker.id, host=broker.host, port=broker.port, rack=broker.rack, is_fenced=is_fenced
        )
        for broker, is_fenced in registered
        if request.include_fenced_brokers or not is_fenced
    ]
    controller_id = parts.metadata.controller_id
    return DescribeClusterResponse(
        cluster_id=parts.cluster_id,
        # One that this listener does not reach would only confuse.
        controller_id=controller_id if any(b.broker_id == controller_id for b in brokers) else NO_BROKER,
        brokers=brokers,
        cluster_authorized_operations=(
            cluster_operations(context.rights) if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


def _check_endpoint_type(wanted: int) -> None:
    if wanted == CONTROLLERS:
        raise MismatchedEndpointTypeError(
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        )
    if wanted != BROKERS:
        raise UnsupportedEndpointTypeError(f"Unsupported endpoint type {wanted}")
