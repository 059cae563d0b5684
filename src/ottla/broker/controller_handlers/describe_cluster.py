"""DescribeCluster (key 60) on the controller listener, versions 0–2: the controllers, for clients that talk to them.

Needs Alter on the cluster, unlike the call at a broker. Lists every controller that registered an address for this
listener; `controller_id` is the active one, -1 while its address is not known. Who asks for brokers here gets
MISMATCHED_ENDPOINT_TYPE (INVALID_REQUEST in version 0, which cannot ask for anything else).

Deviations: before the metadata log has begun no controller is listed, where Kafka fails. KIP-919.
"""

from typing import Final

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.metadata.authorized_operation import cluster_operations
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import (
    ApiError,
    InvalidRequestError,
    MismatchedEndpointTypeError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_NAMES: Final = {1: "BROKER", 2: "CONTROLLER"}
_CONTROLLER: Final = 2
_NO_CONTROLLER: Final = -1


def handle(parts: ControllerParts, context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Answers from the newest image."""
    image = parts.metadata.image
    known = image.features.metadata_version
    if known is not None and not known.supports_controller_registration:
        message = "Direct-to-controller communication is not supported with the current MetadataVersion."
        raise UnsupportedVersionError(message)
    if request.endpoint_type != _CONTROLLER:
        raise _refusal(request.endpoint_type, context.version)
    nodes = [
        DescribeClusterBroker(broker_id=controller_id, host=endpoint.host, port=endpoint.port)
        for controller_id, controller in sorted(image.cluster.controllers.items())
        for endpoint in controller.listeners
        if endpoint.name == context.listener
    ]
    leader_id = parts.raft.core.leader.leader_id
    response = DescribeClusterResponse(
        endpoint_type=_CONTROLLER,
        cluster_id=parts.cluster_id,
        controller_id=_NO_CONTROLLER,
        brokers=nodes,
    )
    if leader_id is not None and any(node.broker_id == leader_id for node in nodes):
        response.controller_id = leader_id
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = cluster_operations(context.rights)
    return response


def _refusal(endpoint_type: int, version: int) -> ApiError:
    name = _NAMES.get(endpoint_type)
    error: type[ApiError] = MismatchedEndpointTypeError
    message = f"The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type {name}"
    if name is None:
        error, message = UnsupportedEndpointTypeError, f"Unsupported endpoint type {endpoint_type}"
    return InvalidRequestError(message) if version == 0 else error(message)
