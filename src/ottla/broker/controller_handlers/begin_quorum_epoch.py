"""BeginQuorumEpoch (key 53), versions 0–1: a new leader makes itself known.

Deviations: none. KIP-595, KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest


def handle(parts: ControllerParts, context: RequestContext, request: BeginQuorumEpochRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
