"""DescribeClientQuotas (key 48): lists client quotas that match a filter (KIP-546).

Sent by admin clients; brokers answer from their own metadata. Entity types are user, client-id and ip. `match_type`
is 0 for the name in `match`, 1 for the default entity, 2 for any name. `strict` leaves out entities with further
types; no components and not strict means all quotas. A null `entity_name` is the default entity; `entries` is null
with an error.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, float64, int8, int16, int32, string


class ComponentData(Struct):
    entity_type: str = string("0+")
    match_type: int = int8("0+")
    match: str | None = string("0+", nullable="0+")


class DescribeClientQuotasRequest(Request, api=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    components: list[ComponentData] = array(ComponentData, "0+")
    strict: bool = boolean("0+")


class EntityData(Struct):
    entity_type: str = string("0+")
    entity_name: str | None = string("0+", nullable="0+")


class ValueData(Struct):
    key: str = string("0+")
    value: float = float64("0+")


class EntryData(Struct):
    entity: list[EntityData] = array(EntityData, "0+")
    values: list[ValueData] = array(ValueData, "0+")


class DescribeClientQuotasResponse(Response, api=ApiKey.DESCRIBE_CLIENT_QUOTAS, versions="0-1", flexible="1+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    entries: list[EntryData] | None = array(EntryData, "0+", nullable="0+")
