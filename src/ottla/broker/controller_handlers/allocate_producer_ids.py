"""AllocateProducerIds (key 67), version 0: a block of producer ids for a broker to hand out.

Deviations: none known. KIP-730.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest


def handle(parts: ControllerParts, context: RequestContext, request: AllocateProducerIdsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
