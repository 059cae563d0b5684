"""IncrementalAlterConfigs (key 44), versions 0-1: sets, deletes, appends to and subtracts from single configs.

Topics, client metrics and groups are the controller's; configs of this broker (by id) and of all brokers (an empty
name) are checked here before they are forwarded. Levels of this broker's loggers are set here and stored nowhere.
Deviation: a resource that is named twice is refused each time. KIP-339, KIP-412.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.config.keys.server import SERVER_KEYS
from ottla.broker.config.logger_config import alter_loggers, check_loggers
from ottla.broker.handlers.config.config_alteration import (
    Judgement,
    check_broker,
    check_forwarded,
    check_keys,
    check_this_broker,
    judge_all,
    key_of,
)
from ottla.broker.handlers.forwarding import CompletedContext, forward
from ottla.broker.security.rights import may_cluster
from ottla.metadata.image.config import ResourceType
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import ClusterAuthorizationFailedError, InvalidConfigError, InvalidRequestError
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

_SET, _DELETE, _APPEND, _SUBTRACT = range(4)
_LIST_WORDS: Final = {_APPEND: "append", _SUBTRACT: "subtract"}


def handle(
    parts: "BrokerParts", context: "RequestContext", request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse | None:
    """Refuses here what can be refused here, changes loggers, and forwards the rest."""
    judgement = judge_all(request.resources, lambda resource: _judge(parts, context, request, resource))
    if not judgement.forwarded:
        return _answer(judgement, IncrementalAlterConfigsResponse())
    rest = IncrementalAlterConfigsRequest(resources=judgement.forwarded, validate_only=request.validate_only)
    forward(parts, CompletedContext(context, lambda response: _answer(judgement, response)), rest)
    return None


def _judge(
    parts: "BrokerParts",
    context: "RequestContext",
    request: IncrementalAlterConfigsRequest,
    resource: AlterConfigsResource,
) -> bool:
    check_keys(resource, [config for config in resource.configs if config.config_operation != _DELETE])
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        if not may_cluster(context.rights, AclOperation.ALTER_CONFIGS):
            raise ClusterAuthorizationFailedError
        check_loggers(parts.node_id, resource)
        if not request.validate_only:
            alter_loggers(resource)
        return True
    if resource.resource_type == ResourceType.BROKER:
        check_this_broker(parts, resource)
        check_broker(parts, resource, _altered(parts, resource))
    else:
        check_forwarded(resource)
    return False


def _altered(parts: "BrokerParts", resource: AlterConfigsResource) -> dict[str, str]:
    """The configs that a broker, or all of them, would have."""
    for change in resource.configs:
        if not _SET <= change.config_operation <= _SUBTRACT:
            raise InvalidRequestError(f"Unknown operations type {change.config_operation}")
    configs = dict(parts.metadata.image.configs_of(key_of(resource)))
    for change in resource.configs:
        if change.config_operation == _SET:
            configs[change.name] = change.value or ""
        elif change.config_operation == _DELETE:
            configs.pop(change.name, None)
        else:
            configs[change.name] = _altered_list(parts, resource, change, configs.get(change.name))
    return configs


def _altered_list(
    parts: "BrokerParts", resource: AlterConfigsResource, change: AlterableConfig, current: str | None
) -> str:
    if change.name not in SERVER_KEYS:
        raise InvalidConfigError(f"Unknown config name: {change.name}")
    if not parts.schema.is_list(key_of(resource), change.name):
        word = _LIST_WORDS[change.config_operation]
        raise InvalidConfigError(f"Config value {word} is not allowed for config key: {change.name}")
    before = current if current is not None else parts.schema.default(key_of(resource), change.name) or ""
    present = [part for part in before.split(",") if part]
    given = (change.value or "").split(",")
    if change.config_operation == _APPEND:
        return ",".join([*present, *(part for part in dict.fromkeys(given) if part not in present)])
    return ",".join(part for part in present if part not in given)


def _answer(judgement: Judgement[AlterConfigsResource], response: Response) -> IncrementalAlterConfigsResponse:
    assert isinstance(response, IncrementalAlterConfigsResponse)
    return IncrementalAlterConfigsResponse(
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
