"""PushTelemetry (key 72), version 0: checks what a client pushes, and drops it, for there is no receiver plugin.

Answered as Kafka does without one: not advertised, but served. A reserved id is INVALID_REQUEST, a subscription other
than the client's UNKNOWN_SUBSCRIPTION_ID, a push before its time THROTTLING_QUOTA_EXCEEDED, anything after a push that
said it was the last INVALID_REQUEST; metrics that can't be decompressed, or to too much, are INVALID_RECORD. KIP-714.
"""

from typing import TYPE_CHECKING

from ottla.broker.request.telemetry.client_metrics import Push
from ottla.broker.request.telemetry.client_subscription import attributes_of
from ottla.protocol.messages.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(parts: "BrokerParts", context: "RequestContext", request: PushTelemetryRequest) -> PushTelemetryResponse:
    """Checks the push."""
    push = Push(request.subscription_id, request.terminating, request.compression_type, request.metrics)
    parts.client_metrics.push(request.client_instance_id, push, attributes_of(context), context.connection)
    return PushTelemetryResponse()
