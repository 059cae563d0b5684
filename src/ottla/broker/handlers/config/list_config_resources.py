"""ListConfigResources (key 74), versions 0-1: what there is to describe or alter configs of.

v0 lists client metrics subscriptions (it was ListClientMetricsResources); v1 the types that are named, or all five. A
type that does not exist is UNSUPPORTED_VERSION. Topics and brokers are listed whether they have configs of their own
or not, groups and subscriptions if they have. KIP-714, KIP-1142.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.metadata.image.config import ResourceType
from ottla.protocol.errors import UnsupportedVersionError
from ottla.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

_SUPPORTED: Final = {0: (ResourceType.CLIENT_METRICS,), 1: tuple(ResourceType)}


def handle(
    parts: "BrokerParts", context: "RequestContext", request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    """Answers from the image."""
    supported = _SUPPORTED[context.version]
    wanted = set(request.resource_types) or set(supported)
    if not wanted.issubset(supported):
        raise UnsupportedVersionError
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=type_)
            for type_ in supported
            if type_ in wanted
            for name in _names(parts.metadata, context.listener, type_)
        ]
    )


def _names(cache: MetadataCache, listener: str, type_: ResourceType) -> Iterable[str]:
    if type_ is ResourceType.TOPIC:
        return cache.topic_names()
    if type_ in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        return [str(broker.id) for broker, _ in cache.registered_brokers(listener)]
    return sorted(resource.name for resource in cache.image.configs if resource.type == type_)
