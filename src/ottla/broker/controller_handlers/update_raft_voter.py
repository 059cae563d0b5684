"""UpdateRaftVoter (key 82), version 0: a voter tells its new endpoints and versions.

Deviations: none. KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.update_raft_voter import UpdateRaftVoterRequest


def handle(parts: ControllerParts, context: RequestContext, request: UpdateRaftVoterRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
