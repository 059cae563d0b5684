"""AddRaftVoter (key 80), versions 0–1: an observer that has caught up becomes a voter.

Deviations: none. KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.add_raft_voter import AddRaftVoterRequest


def handle(parts: ControllerParts, context: RequestContext, request: AddRaftVoterRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
