"""AlterConfigs (key 33), versions 0-2: gives resources exactly the configs named; what is not named is removed.

Topics, client metrics and groups are the controller's; configs of this broker (by id) and of all brokers (an empty
name) are checked here before they are forwarded, so that a broker never gets what it cannot run with. Loggers are
IncrementalAlterConfigs' alone. Deviation: a resource that is named twice is refused, where Apache Kafka never answers.
KIP-133, KIP-226.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.config.config_alteration import (
    Judgement,
    check_broker,
    check_forwarded,
    check_keys,
    judge_all,
)
from ottla.broker.handlers.forwarding import CompletedContext, forward
from ottla.metadata.image.config import ResourceType
from ottla.protocol.definition import Response
from ottla.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: AlterConfigsRequest
) -> AlterConfigsResponse | None:
    """Refuses here what can be refused here, and forwards the rest."""
    judgement = judge_all(request.resources, lambda resource: _judge(parts, resource))
    if not judgement.forwarded:
        return _answer(judgement, AlterConfigsResponse())
    rest = AlterConfigsRequest(resources=judgement.forwarded, validate_only=request.validate_only)
    forward(parts, CompletedContext(context, lambda response: _answer(judgement, response)), rest)
    return None


def _judge(parts: "BrokerParts", resource: AlterConfigsResource) -> bool:
    check_keys(resource, resource.configs)
    if resource.resource_type == ResourceType.BROKER:
        check_broker(parts, resource, {config.name: config.value or "" for config in resource.configs})
    else:
        check_forwarded(resource)
    return False


def _answer(judgement: Judgement[AlterConfigsResource], response: Response) -> AlterConfigsResponse:
    assert isinstance(response, AlterConfigsResponse)
    return AlterConfigsResponse(
        throttle_time_ms=response.throttle_time_ms,
        responses=[
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=message,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource, (code, message) in judgement.outcomes(response.responses)
        ],
    )
