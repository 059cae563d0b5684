"""ListConfigResources (key 74): lists the resources that have dynamic configs.

Sent by admin clients to any broker. v0 was ListClientMetricsResources: it lists client metrics subscriptions only
(KIP-1000). v1 takes types, those of DescribeConfigs, and returns them (KIP-1142); no types means all that can be
listed. An unknown type gets UNSUPPORTED_VERSION.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, string


class ListConfigResourcesRequest(Request, api=ApiKey.LIST_CONFIG_RESOURCES, versions="0-1", flexible="0+"):
    resource_types: list[int] = array(int8, "1+")


class ConfigResource(Struct):
    resource_name: str = string("0+")
    resource_type: int = int8("1+", default=16, ignorable=True)


class ListConfigResourcesResponse(Response, api=ApiKey.LIST_CONFIG_RESOURCES, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    config_resources: list[ConfigResource] = array(ConfigResource, "0+")
