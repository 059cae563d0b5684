"""GetTelemetrySubscriptions (key 71), version 0: which metrics a client is to push, how often, and how compressed.

Answered as Kafka does without a receiver plugin: not advertised, but served. A client without an id is given one. One
that asks again before its interval is over gets THROTTLING_QUOTA_EXCEEDED, unless its last push was refused in a way
that asking again mends. KIP-714.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.request.telemetry.client_subscription import attributes_of
from ottla.protocol.compression.compression_type import CompressionType
from ottla.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

ACCEPTED: Final = (CompressionType.ZSTD, CompressionType.LZ4, CompressionType.GZIP, CompressionType.SNAPPY)
"""In the order of preference."""


def handle(
    parts: "BrokerParts", context: "RequestContext", request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    """Answers from the subscriptions that match the client."""
    metrics = parts.client_metrics
    client = metrics.subscribed(request.client_instance_id, attributes_of(context), context.connection)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=client.id,
        subscription_id=client.subscription_id,
        accepted_compression_types=[int(kind) for kind in ACCEPTED],
        push_interval_ms=client.push_interval_ms,
        telemetry_max_bytes=metrics.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=list(client.metrics),
    )
