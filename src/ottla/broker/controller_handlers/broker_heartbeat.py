"""BrokerHeartbeat (key 63), versions 0–2: a broker lives, wants to serve, or wants to stop.

Deviations: none known; see `ottla.metadata.controller.broker.broker_heartbeat`. KIP-631, KIP-858.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest


def handle(parts: ControllerParts, context: RequestContext, request: BrokerHeartbeatRequest) -> None:
    """Hands it to the controller, which hears of the broker at once, whenever its answer is committed."""
    submit(parts, context, request)
