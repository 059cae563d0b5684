"""GetTelemetrySubscriptions (key 71): asks which metrics the cluster wants from a client (KIP-714).

Sent by clients to any broker; advertised only where a receiver is configured. `client_instance_id` is zero the first
time and the answer assigns one. `requested_metrics` are name prefixes: an empty array wants none, one empty string
wants all. `subscription_id` changes with the subscriptions. With `delta_temporality` counters are sent as
differences.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import array, boolean, int8, int16, int32, string, uuid


class GetTelemetrySubscriptionsRequest(Request, api=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, versions="0", flexible="0+"):
    client_instance_id: Uuid = uuid("0+")


class GetTelemetrySubscriptionsResponse(Response, api=ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    client_instance_id: Uuid = uuid("0+")
    subscription_id: int = int32("0+")
    accepted_compression_types: list[int] = array(int8, "0+")
    push_interval_ms: int = int32("0+")
    telemetry_max_bytes: int = int32("0+")
    delta_temporality: bool = boolean("0+")
    requested_metrics: list[str] = array(string, "0+")
