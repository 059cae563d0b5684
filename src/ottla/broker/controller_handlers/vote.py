"""Vote (key 52), versions 0–2: a candidate asks for this replica's vote, or what it would do (pre-vote).

Deviations: none. KIP-595, KIP-853, KIP-996.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.vote import VoteRequest


def handle(parts: ControllerParts, context: RequestContext, request: VoteRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
