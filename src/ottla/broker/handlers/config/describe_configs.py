"""DescribeConfigs (key 32), versions 1-4: values, sources and synonyms of configs, with types and prose if asked for.

Of topics, this broker (by id), the cluster's defaults (a broker with an empty name), this broker's loggers, client
metrics subscriptions and groups. Null or no keys asks for all; keys that a resource does not have are left out. Each
resource has its own error; a type that does not exist is INVALID_REQUEST for all. On success the message is "" and not
null, as in Kafka.

Deviations: where a resource's type is unknown the message says which; an answer of half a million configs more than
all topics have closes the connection. KIP-133, KIP-226, KIP-412, KIP-569, KIP-1000.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.config.description import DescribeOptions, describe_configs
from ottla.metadata.acl.config_right import check_config_right
from ottla.metadata.image.config import ConfigResource, ResourceType
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, InvalidRequestError
from ottla.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext, WorkInTurns

_DESCRIBED_MAX: Final = 500_000
_DESCRIBED_PER_TOPIC_MAX: Final = 100
"""Configs in one answer, besides those that the cluster's topics have: more is one topic named again and again, to fill
our memory."""
_TYPES: Final = frozenset(ResourceType)


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeConfigsRequest) -> Response | None:
    """Describes each resource, or says what is wrong with it; in turns with others if there are many."""
    for resource in request.resources:
        if resource.resource_type not in _TYPES:
            raise InvalidRequestError
    return context.in_turns(_describe_all(parts, context, request))


def _describe_all(parts: "BrokerParts", context: "RequestContext", request: DescribeConfigsRequest) -> "WorkInTurns":
    response = DescribeConfigsResponse()
    described = 0
    described_max = _DESCRIBED_MAX + _DESCRIBED_PER_TOPIC_MAX * len(parts.metadata.image.topics.by_id)
    for resource in request.resources:
        result = _result(parts, context, request, resource)
        response.results.append(result)
        described += len(result.configs)
        if described > described_max:
            context.close(f"a DescribeConfigs request for more than {described_max} configs")
            return None
        yield
    return response


def _result(
    parts: "BrokerParts", context: "RequestContext", request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    described = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    options = DescribeOptions(
        names=resource.configuration_keys,
        include_synonyms=request.include_synonyms,
        include_documentation=request.include_documentation,
    )
    asked = ConfigResource(resource.resource_type, resource.resource_name)
    try:
        check_config_right(context.rights.may, AclOperation.DESCRIBE_CONFIGS, asked)
    except ApiError as error:
        described.error_code, described.error_message = error.code, error.message
        return described
    try:
        described.configs = describe_configs(parts.dynamic, parts.metadata.image, asked, options)
    except ApiError as error:
        described.error_code = error.code
        # What the code says already is not said again.
        described.error_message = "" if error.message == error.default_message else error.message
    return described
