"""IncrementalAlterConfigs (key 44) at the controller, versions 0–1: sets, deletes, appends to and subtracts configs.

The levels of this controller's own loggers are changed here and stored nowhere, by those who have ClusterAction on the
cluster; everything else is the active controller's. Brokers keep the loggers to themselves, so these come only from
clients that talk to controllers.

Deviations: see `ottla.metadata.controller.resource.config_request`. KIP-339, KIP-412, KIP-919.
"""

from functools import partial

from ottla.broker.config.logger_config import alter_loggers, check_loggers
from ottla.broker.controller_handlers.submission import answer_with, submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.rights import may_cluster
from ottla.metadata.controller.controller_result import message_of
from ottla.metadata.image.config import ResourceType
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ApiError, ClusterAuthorizationFailedError, ErrorCode
from ottla.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


def handle(
    parts: ControllerParts, context: RequestContext, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse | None:
    """Changes loggers, and hands the rest to the controller."""
    loggers = [resource for resource in request.resources if resource.resource_type == ResourceType.BROKER_LOGGER]
    if not loggers:
        submit(parts, context, request)
        return None
    outcomes = [_altered(parts, context, resource, validate_only=request.validate_only) for resource in loggers]
    rest = [resource for resource in request.resources if resource.resource_type != ResourceType.BROKER_LOGGER]
    if not rest:
        return IncrementalAlterConfigsResponse(responses=outcomes)
    others = IncrementalAlterConfigsRequest(resources=rest, validate_only=request.validate_only)
    answer_with(partial(_completed, outcomes), parts, context, others)
    return None


def _altered(
    parts: ControllerParts, context: RequestContext, resource: AlterConfigsResource, *, validate_only: bool
) -> AlterConfigsResourceResponse:
    outcome = AlterConfigsResourceResponse(
        error_message=None, resource_type=resource.resource_type, resource_name=resource.resource_name
    )
    try:
        if not may_cluster(context.rights, AclOperation.CLUSTER_ACTION):
            raise ClusterAuthorizationFailedError
        check_loggers(parts.node_id, resource)
        if not validate_only:
            alter_loggers(resource)
    except ApiError as error:
        outcome.error_code = error.code
        # Of who may not, Kafka says what the code says.
        outcome.error_message = (
            error.message if error.code is ErrorCode.CLUSTER_AUTHORIZATION_FAILED else message_of(error)
        )
    return outcome


def _completed(
    outcomes: list[AlterConfigsResourceResponse], response: IncrementalAlterConfigsResponse
) -> IncrementalAlterConfigsResponse:
    response.responses = [*response.responses, *outcomes]
    return response
