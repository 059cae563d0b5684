"""AlterClientQuotas (key 49): sets or removes client quotas (KIP-546).

Sent by admin clients to any broker, which forwards it to the controller. An entity is a user, a client-id, both
together, or an ip; a null `entity_name` is the default for its type. With `remove` the value doesn't matter. Values
are floats, whatever the quota counts. Each entry has its own result.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, float64, int16, int32, string


class EntityData(Struct):
    entity_type: str = string("0+")
    entity_name: str | None = string("0+", nullable="0+")


class OpData(Struct):
    key: str = string("0+")
    value: float = float64("0+")
    remove: bool = boolean("0+")


class RequestEntryData(Struct):
    entity: list[EntityData] = array(EntityData, "0+")
    ops: list[OpData] = array(OpData, "0+")


class AlterClientQuotasRequest(Request, api=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    entries: list[RequestEntryData] = array(RequestEntryData, "0+")
    validate_only: bool = boolean("0+")


class ResponseEntryData(Struct):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    entity: list[EntityData] = array(EntityData, "0+")


class AlterClientQuotasResponse(Response, api=ApiKey.ALTER_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    throttle_time_ms: int = int32("0+")
    entries: list[ResponseEntryData] = array(ResponseEntryData, "0+")
