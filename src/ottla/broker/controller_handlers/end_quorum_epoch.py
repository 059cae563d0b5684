"""EndQuorumEpoch (key 54), versions 0–1: a leader resigns, and names who should stand first.

Deviations: none. KIP-595, KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest


def handle(parts: ControllerParts, context: RequestContext, request: EndQuorumEpochRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
