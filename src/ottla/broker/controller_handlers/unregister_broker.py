"""UnregisterBroker (key 64) at the controller, version 0: forgets a broker.

Deviations: none known. KIP-631.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest


def handle(parts: ControllerParts, context: RequestContext, request: UnregisterBrokerRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
