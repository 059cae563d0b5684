"""AlterConfigs (key 33): replaces all dynamic configs of a resource.

Sent by older clients to any broker, which forwards it to the controller. What the request doesn't name goes back to
its default: two clients easily undo each other, so IncrementalAlterConfigs replaced it (KIP-339) and Java's 4.x
clients no longer send it. Resource types are those of DescribeConfigs; `validate_only` changes nothing.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int8, int16, int32, string


class AlterableConfig(Struct):
    name: str = string("0+")
    value: str | None = string("0+", nullable="0+")


class AlterConfigsResource(Struct):
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    configs: list[AlterableConfig] = array(AlterableConfig, "0+")


class AlterConfigsRequest(Request, api=ApiKey.ALTER_CONFIGS, versions="0-2", flexible="2+"):
    resources: list[AlterConfigsResource] = array(AlterConfigsResource, "0+")
    validate_only: bool = boolean("0+")


class AlterConfigsResourceResponse(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    resource_type: int = int8("0+")
    resource_name: str = string("0+")


class AlterConfigsResponse(Response, api=ApiKey.ALTER_CONFIGS, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse, "0+")
