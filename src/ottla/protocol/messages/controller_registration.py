"""ControllerRegistration (key 70): registers a controller's endpoints and features (KIP-919).

Sent by every controller, the active one included, to the active controller when it starts or changes, so that
DescribeCluster can list them and the active one knows what all of them support. `incarnation_id` is new for every
process. `zk_migration_ready` is a leftover.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, string, uint16, uuid


class Listener(Struct):
    name: str = string("0+")
    host: str = string("0+")
    port: int = uint16("0+")
    security_protocol: int = int16("0+")


class Feature(Struct):
    name: str = string("0+")
    min_supported_version: int = int16("0+")
    max_supported_version: int = int16("0+")


class ControllerRegistrationRequest(Request, api=ApiKey.CONTROLLER_REGISTRATION, versions="0", flexible="0+"):
    controller_id: int = int32("0+")
    incarnation_id: Uuid = uuid("0+")
    zk_migration_ready: bool = boolean("0+")
    listeners: list[Listener] = array(Listener, "0+")
    features: list[Feature] = array(Feature, "0+")


class ControllerRegistrationResponse(Response, api=ApiKey.CONTROLLER_REGISTRATION, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
