"""PushTelemetry (key 72): sends a client's metrics to the cluster (KIP-714).

Sent by clients to any broker, every push interval. `metrics` is OTLP MetricsData in protobuf, compressed by one of
the accepted codecs. UNKNOWN_SUBSCRIPTION_ID asks the client to get its subscriptions again. A client that stops sends
a last push with `terminating`, for which the interval doesn't count.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import boolean, bytestring, int8, int16, int32, uuid


class PushTelemetryRequest(Request, api=ApiKey.PUSH_TELEMETRY, versions="0", flexible="0+"):
    client_instance_id: Uuid = uuid("0+")
    subscription_id: int = int32("0+")
    terminating: bool = boolean("0+")
    compression_type: int = int8("0+")
    metrics: bytes = bytestring("0+")


class PushTelemetryResponse(Response, api=ApiKey.PUSH_TELEMETRY, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
