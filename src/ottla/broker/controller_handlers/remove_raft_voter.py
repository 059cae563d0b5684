"""RemoveRaftVoter (key 81), version 0: a voter becomes an observer.

Deviations: none. KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest


def handle(parts: ControllerParts, context: RequestContext, request: RemoveRaftVoterRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
